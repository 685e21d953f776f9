//! Meters: `meter=1 pktps burst stats bands=type=drop rate=1000 burst_size=200`.

use std::fmt;

use super::print::Hex;
use super::scan::Span;
use super::{SyntaxError, action, value};
use crate::{
    Band, METER_ALL, METER_CONTROLLER, METER_SLOWPATH, MeterConfig, MeterFlags, MeterMod, MeterModCommand,
};

const FLAGS: [(&str, MeterFlags); 4] = [
    ("kbps", MeterFlags::KBPS),
    ("pktps", MeterFlags::PKTPS),
    ("burst", MeterFlags::BURST),
    ("stats", MeterFlags::STATS),
];

const COMMANDS: [(&str, MeterModCommand); 3] =
    [("add", MeterModCommand::Add), ("modify", MeterModCommand::Modify), ("delete", MeterModCommand::Delete)];

const RESERVED: [(&str, u32); 3] =
    [("slowpath", METER_SLOWPATH), ("controller", METER_CONTROLLER), ("all", METER_ALL)];

/// Parses a meter as `ovs-ofctl add-meter` takes it, into a METER_MOD that adds it. A word before it says what else to
/// do: `modify` or `delete` (or `add`). Without a word for the rates' unit they are in kb/s; a burst size sets the flag
/// that it needs.
///
/// # Errors
/// [`SyntaxError`] with the column of the first fault.
///
/// ```
/// let text = "meter=1 pktps burst stats bands=type=drop rate=1000 burst_size=200";
/// let meter = flowgauge_openflow::syntax::parse_meter(text).unwrap();
/// assert_eq!((meter.meter_id, meter.bands.len()), (1, 1));
/// assert_eq!(meter.to_string(), text);
/// ```
pub fn parse_meter(text: &str) -> Result<MeterMod, SyntaxError> {
    let mut whole = Span::all(text).trim();
    let end = whole.text.find([' ', ',', '\t']).unwrap_or(whole.text.len());
    let found = COMMANDS.iter().find(|(word, _)| *word == &whole.text[..end]);
    let command = found.map_or(MeterModCommand::Add, |(_, command)| *command);
    if let Some(rest) = found.and_then(|(word, _)| whole.strip_prefix(word)) {
        whole = rest.trim();
    }
    let (head, bands) = match ["bands=", "band="].into_iter().find_map(|word| whole.split_once(word)) {
        Some((head, bands)) => (head, Some(bands)),
        None => (whole, None),
    };
    let (mut meter_id, mut flags) = (None, MeterFlags::NONE);
    for item in head.items()? {
        match (FLAGS.iter().find(|(name, _)| *name == item.text), item.split_once("=")) {
            (Some((_, flag)), _) => flags |= *flag,
            (None, Some((name, text))) if name.text == "meter" => meter_id = Some(number(text)?),
            (None, _) => return Err(item.expected("meter=NUMBER, kbps, pktps, burst, stats or bands=")),
        }
    }
    let deletes = command == MeterModCommand::Delete;
    let meter_id = match meter_id {
        Some(id) => id,
        None if deletes => METER_ALL,
        None => return Err(head.expected("meter=NUMBER")),
    };
    let bands = match bands {
        Some(bands) => parse_bands(bands, &mut flags)?,
        None if deletes => Vec::new(),
        None => return Err(head.end().expected("bands=")),
    };
    if !deletes && !flags.contains(MeterFlags::KBPS) && !flags.contains(MeterFlags::PKTPS) {
        flags |= MeterFlags::KBPS;
    }
    Ok(MeterMod { command, flags, meter_id, bands })
}

fn number(text: Span<'_>) -> Result<u32, SyntaxError> {
    match RESERVED.iter().find(|(name, _)| *name == text.text) {
        Some((_, id)) => Ok(*id),
        None => value::number(text, u32::MAX.into()).map(|n| n as u32),
    }
}

/// The bands; each begins with `type=`.
fn parse_bands(text: Span<'_>, flags: &mut MeterFlags) -> Result<Vec<Band>, SyntaxError> {
    let mut bands: Vec<Band> = Vec::new();
    for item in text.items()? {
        if let Some(argument) = item.strip_prefix("band(").and_then(|rest| rest.strip_suffix(")")) {
            let (number, data) = action::raw(argument)?;
            let band_type = u16::try_from(number).map_err(|_| argument.expected("a type of 16 bits"))?;
            bands.push(Band::Unknown { band_type, data });
            continue;
        }
        let (name, text) =
            item.split_once("=").ok_or_else(|| item.expected("type=, rate= or burst_size="))?;
        if name.text == "type" {
            bands.push(match text.text {
                "drop" => Band::Drop { rate: 0, burst_size: 0 },
                "dscp_remark" => Band::DscpRemark { rate: 0, burst_size: 0, prec_level: 0 },
                _ => return Err(text.expected("drop or dscp_remark")),
            });
            continue;
        }
        let band = bands.last_mut().ok_or_else(|| item.expected("type=drop or type=dscp_remark first"))?;
        let number = |most: u32| value::number(text, most.into()).map(|n| n as u32);
        match (name.text, band) {
            ("rate", Band::Drop { rate, .. } | Band::DscpRemark { rate, .. }) => *rate = number(u32::MAX)?,
            ("burst_size", Band::Drop { burst_size, .. } | Band::DscpRemark { burst_size, .. }) => {
                *burst_size = number(u32::MAX)?;
                *flags |= MeterFlags::BURST;
            }
            ("prec_level", Band::DscpRemark { prec_level, .. }) => *prec_level = number(0xff)? as u8,
            _ => return Err(name.expected("type, rate, burst_size or, of dscp_remark, prec_level")),
        }
    }
    Ok(bands)
}

impl fmt::Display for MeterMod {
    /// As `ovs-ofctl add-meter` takes it, in one line; commands but `add` stand before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deletes = self.command == MeterModCommand::Delete;
        if self.command != MeterModCommand::Add {
            let found = COMMANDS.iter().find(|(_, command)| *command == self.command);
            write!(f, "{} ", found.map_or("unknown_command", |(word, _)| word))?;
        }
        write!(f, "meter={}", MeterId(self.meter_id))?;
        if deletes && self.bands.is_empty() && self.flags == MeterFlags::NONE {
            return Ok(());
        }
        body(self.flags, &self.bands, f)
    }
}

impl fmt::Display for MeterConfig {
    /// As `ovs-ofctl dump-meters` prints it, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "meter={}", MeterId(self.meter_id))?;
        body(self.flags, &self.bands, f)
    }
}

/// A meter's number, or the name of one that the protocol reserves.
pub(super) struct MeterId(pub u32);

impl fmt::Display for MeterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match RESERVED.iter().find(|(_, id)| *id == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

fn body(flags: MeterFlags, bands: &[Band], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (name, _) in FLAGS.iter().filter(|(_, flag)| flags.contains(*flag)) {
        write!(f, " {name}")?;
    }
    f.write_str(" bands=")?;
    for (at, band) in bands.iter().enumerate() {
        let space = if at == 0 { "" } else { " " };
        write!(f, "{space}{}", Printed { band, has_burst: flags.contains(MeterFlags::BURST) })?;
    }
    Ok(())
}

/// A band of a meter that counts bursts, or doesn't.
struct Printed<'a> {
    band: &'a Band,
    has_burst: bool,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, burst_size) = match self.band {
            Band::Drop { rate, burst_size } => {
                write!(f, "type=drop")?;
                (rate, burst_size)
            }
            Band::DscpRemark { rate, burst_size, .. } => {
                write!(f, "type=dscp_remark")?;
                (rate, burst_size)
            }
            Band::Experimenter { rate, burst_size, experimenter, data } => {
                return write!(f, "experimenter_band({experimenter:#x},{rate},{burst_size},{})", Hex(data));
            }
            Band::Unknown { band_type, data } => return write!(f, "band({band_type},{})", Hex(data)),
        };
        write!(f, " rate={rate}")?;
        if self.has_burst || *burst_size != 0 {
            write!(f, " burst_size={burst_size}")?;
        }
        match self.band {
            Band::DscpRemark { prec_level, .. } => write!(f, " prec_level={prec_level}"),
            Band::Drop { .. } | Band::Experimenter { .. } | Band::Unknown { .. } => Ok(()),
        }
    }
}
