//! Meters: what exceeds a rate is dropped or marked (OpenFlow 1.3.5, 5.7).

mod band;
#[cfg(test)]
mod tests;

use crate::id_map::IdMap;
use crate::stats::seconds;
use band::Band;
pub use band::remarked;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    self as of, BandCounter, ErrorCode, METER_ALL, METER_CONTROLLER, METER_SLOWPATH, MeterConfig,
    MeterFeatureFlags, MeterFeatures, MeterFlags, MeterMod, MeterModCommand, MeterStats,
};

/// The most meters.
pub const MAX_METERS: usize = 65_536;
/// The most bands of a meter.
pub const MAX_BANDS: usize = 16;
/// The highest number of an ordinary meter (OFPM_MAX).
const HIGHEST: u32 = 0xffff_0000;

/// What a meter decides about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on as it is.
    Pass,
    /// It is dropped.
    Drop,
    /// Its drop precedence is raised by so many levels, and it goes on.
    Remark(u8),
}

/// A meter.
#[derive(Clone, Debug)]
struct Meter {
    flags: MeterFlags,
    /// As the controller gave them.
    config: Vec<of::Band>,
    /// Highest rate first.
    bands: Box<[Band]>,
    created: Nanos,
    packets: u64,
    bytes: u64,
    /// Flow entries that use it.
    users: u32,
}

/// All meters.
#[derive(Clone, Debug, Default)]
pub struct Meters {
    by_id: IdMap<Meter>,
}

/// A meter's number that can have entries: neither reserved nor 0.
fn is_ordinary(id: u32) -> bool {
    (1..=HIGHEST).contains(&id)
}

impl Meters {
    /// Whether an entry may use meter `id`.
    ///
    /// # Errors
    /// A number that no meter can have; a meter that isn't there.
    pub fn check(&self, id: u32) -> Result<(), ErrorCode> {
        match self.by_id.contains_key(&id) {
            _ if !is_ordinary(id) => Err(ErrorCode::MeterInvalid),
            true => Ok(()),
            false => Err(ErrorCode::MeterUnknown),
        }
    }

    /// Whether there is such a meter.
    pub fn has(&self, id: u32) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Measures a frame of `bytes` bytes. A meter that isn't there lets all pass.
    pub fn measure(&mut self, id: u32, bytes: usize, now: Nanos) -> Verdict {
        let Some(meter) = self.by_id.get_mut(&id) else { return Verdict::Pass };
        meter.packets += 1;
        meter.bytes += bytes as u64;
        // From the highest rate down: the first that is exceeded applies. What a higher band takes out is not
        // counted against the lower ones.
        let exceeded = meter.bands.iter_mut().find_map(|band| band.measure(bytes, now));
        exceeded.unwrap_or(Verdict::Pass)
    }

    /// Adds or changes a meter. Deleting is for [`Meters::remove`].
    ///
    /// # Errors
    /// The code with which the METER_MOD is refused; nothing has changed then.
    pub fn set(&mut self, request: &MeterMod, now: Nanos) -> Result<(), ErrorCode> {
        let id = request.meter_id;
        if !(is_ordinary(id) || id == METER_CONTROLLER || id == METER_SLOWPATH) {
            return Err(ErrorCode::MeterInvalid);
        }
        let is_there = self.by_id.contains_key(&id);
        match request.command {
            MeterModCommand::Add if is_there => return Err(ErrorCode::MeterExists),
            MeterModCommand::Add if self.by_id.len() >= MAX_METERS => {
                return Err(ErrorCode::MeterOutOfMeters);
            }
            MeterModCommand::Modify if !is_there => return Err(ErrorCode::MeterUnknown),
            MeterModCommand::Add | MeterModCommand::Modify => {}
            MeterModCommand::Delete | MeterModCommand::Unknown(_) => return Err(ErrorCode::MeterBadCommand),
        }
        let flags = checked_flags(request.flags)?;
        if request.bands.len() > MAX_BANDS {
            return Err(ErrorCode::MeterOutOfBands);
        }
        let mut bands = Vec::with_capacity(request.bands.len());
        for (number, band) in request.bands.iter().enumerate() {
            bands.push(Band::new(band, number, flags, now)?);
        }
        bands.sort_by_key(|band| std::cmp::Reverse(band.rate()));
        let old = self.by_id.remove(&id);
        let (created, packets, bytes, users) =
            old.map_or((now, 0, 0, 0), |old| (old.created, old.packets, old.bytes, old.users));
        let config = request.bands.clone();
        let meter = Meter { flags, config, bands: bands.into(), created, packets, bytes, users };
        self.by_id.insert(id, meter);
        Ok(())
    }

    /// Removes a meter, or all; gives the numbers of those that entries use.
    pub fn remove(&mut self, id: u32) -> Vec<u32> {
        let meant = |other: u32| id == METER_ALL || id == other;
        let used = self.by_id.iter().filter(|(other, meter)| meant(**other) && meter.users > 0);
        let mut used: Vec<u32> = used.map(|(&other, _)| other).collect();
        used.sort_unstable();
        self.by_id.retain(|&other, _| !meant(other));
        used
    }

    /// Counts an entry that uses the meter.
    pub fn add_user(&mut self, id: u32) {
        if let Some(meter) = self.by_id.get_mut(&id) {
            meter.users += 1;
        }
    }

    /// Uncounts an entry that used the meter.
    pub fn drop_user(&mut self, id: u32) {
        if let Some(meter) = self.by_id.get_mut(&id) {
            meter.users = meter.users.saturating_sub(1);
        }
    }

    /// The numbers of the meters meant by `id`, in order.
    fn meant(&self, id: u32) -> Result<Vec<u32>, ErrorCode> {
        if id != METER_ALL && !self.by_id.contains_key(&id) {
            return Err(ErrorCode::MeterUnknown);
        }
        let mut ids: Vec<u32> = self.by_id.keys().copied().filter(|&i| id == METER_ALL || id == i).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The counters of a meter, or of all ([`METER_ALL`]), by rising number.
    ///
    /// # Errors
    /// No such meter.
    pub fn stats(&self, id: u32, now: Nanos) -> Result<Vec<MeterStats>, ErrorCode> {
        let stats = |id| {
            let meter = &self.by_id[&id];
            let (duration_sec, duration_nsec) = seconds(now - meter.created);
            let mut bands = vec![BandCounter::default(); meter.bands.len()];
            for band in &meter.bands {
                bands[band.number()] = band.counter();
            }
            MeterStats {
                meter_id: id,
                flow_count: meter.users,
                packet_in_count: meter.packets,
                byte_in_count: meter.bytes,
                duration_sec,
                duration_nsec,
                bands,
            }
        };
        Ok(self.meant(id)?.into_iter().map(stats).collect())
    }

    /// How a meter, or all ([`METER_ALL`]), were set up, by rising number.
    ///
    /// # Errors
    /// No such meter.
    pub fn config(&self, id: u32) -> Result<Vec<MeterConfig>, ErrorCode> {
        let config = |id| {
            let meter = &self.by_id[&id];
            MeterConfig { flags: meter.flags, meter_id: id, bands: meter.config.clone() }
        };
        Ok(self.meant(id)?.into_iter().map(config).collect())
    }

    /// What meters can do.
    pub fn features() -> MeterFeatures {
        MeterFeatures {
            max_meters: MAX_METERS as u32,
            band_types: 1 << 1 | 1 << 2,
            capabilities: MeterFlags::KBPS | MeterFlags::PKTPS | MeterFlags::BURST | MeterFlags::STATS,
            max_bands: MAX_BANDS as u8,
            max_color: 0,
            features: MeterFeatureFlags::ACTION_SET
                | MeterFeatureFlags::ANY_POSITION
                | MeterFeatureFlags::MULTI_LIST,
        }
    }
}

/// Rates are in kb/s unless the flags say packets; not in both.
fn checked_flags(flags: MeterFlags) -> Result<MeterFlags, ErrorCode> {
    let units = MeterFlags::KBPS | MeterFlags::PKTPS;
    let known = units | MeterFlags::BURST | MeterFlags::STATS;
    if flags.0 & !known.0 != 0 || flags.contains(units) {
        return Err(ErrorCode::MeterBadFlags);
    }
    let has_unit = flags.0 & units.0 != 0;
    Ok(if has_unit { flags } else { flags | MeterFlags::KBPS })
}
