//! Experimenters' messages: what Nicira lets 1.0 choose of asynchronous messages, and the bundles
//! that the ONF defined for 1.3 before 1.4 had them (EXT-230).

use crate::core::{Core, DONE, Outcome};
use flowgauge_openflow::{
    AsyncConfig, AsyncMasks, Body, BundleAdd, BundleControl, BundleControlType, BundleFlags, ErrorCode,
    ErrorMessage, Experimenter, FlowFormat, NICIRA, NiciraMessage, PacketInFormat, Version, decode,
};

/// The Open Networking Foundation.
const ONF: u32 = 0x4f4e_4600;

/// Nicira's SET_ASYNC_CONFIG.
const ASYNC_CONFIG: u32 = 19;

/// The ONF's messages.
const BUNDLE_CONTROL: u32 = 2300;
const BUNDLE_ADD: u32 = 2301;
/// Where the message begins in the ONF's BUNDLE_ADD_MESSAGE: header, experimenter and type, number and flags.
const INNER: usize = 8 + 8 + 8;
/// The error type of bundles since 1.4, and the first of the ONF's codes for them.
const BUNDLE_FAILED: u16 = 17;
const ONF_BUNDLE_FAILED: u16 = 2300;

impl Core {
    /// An experimenter's request.
    ///
    /// # Errors
    /// It is none that we know.
    pub fn experimenter(&mut self, who: usize, xid: u32, request: &Experimenter, frame: &[u8]) -> Outcome {
        let (subtype, data) = match request.experimenter_type {
            Some(subtype) => (subtype, request.data.as_slice()),
            None => (word(&request.data, 0).unwrap_or(u32::MAX), request.data.get(4..).unwrap_or(&[])),
        };
        match request.experimenter {
            NICIRA if subtype == ASYNC_CONFIG => self.nicira_async(who, data),
            NICIRA => Err(ErrorCode::BadExperimenterType),
            ONF if self.controller(who).version == Version::V1_3 => {
                self.permit_change(who)?;
                self.onf(who, xid, subtype, data, frame)
            }
            _ => Err(ErrorCode::BadExperimenter),
        }
    }

    /// Nicira's requests that the model knows: the formats that the standard has, and no other.
    ///
    /// # Errors
    /// Another format.
    pub fn nicira(&mut self, request: &NiciraMessage) -> Outcome {
        match request {
            NiciraMessage::SetFlowFormat(FlowFormat::OpenFlow10)
            | NiciraMessage::SetPacketInFormat(PacketInFormat::Standard)
            | NiciraMessage::FlowModTableId(false)
            | NiciraMessage::FlowAge
            | NiciraMessage::SetControllerId(_) => DONE,
            NiciraMessage::SetFlowFormat(FlowFormat::Nxm | FlowFormat::Unknown(_))
            | NiciraMessage::SetPacketInFormat(
                PacketInFormat::Nxt | PacketInFormat::Nxt2 | PacketInFormat::Unknown(_),
            )
            | NiciraMessage::FlowModTableId(true)
            | NiciraMessage::FlowMod(_)
            | NiciraMessage::FlowRemoved(_)
            | NiciraMessage::PacketIn(_)
            | NiciraMessage::PacketIn2(_) => Err(ErrorCode::BadExperimenterType),
        }
    }

    /// Nicira's SET_ASYNC_CONFIG: three masks, each for primary and secondary controllers.
    fn nicira_async(&mut self, who: usize, data: &[u8]) -> Outcome {
        let masks = |offset: usize| {
            let number = |at: usize| word(data, at + offset).ok_or(ErrorCode::BadLength);
            Ok::<_, ErrorCode>(AsyncMasks {
                packet_in: Some(number(0)?),
                port_status: Some(number(8)?),
                flow_removed: Some(number(16)?),
                ..AsyncMasks::default()
            })
        };
        let (primary, secondary) = (masks(0)?, masks(4)?);
        self.set_async(who, AsyncConfig { primary, secondary, properties: vec![] })
    }

    fn onf(&mut self, who: usize, xid: u32, subtype: u32, data: &[u8], frame: &[u8]) -> Outcome {
        let halves = |n: u32| ((n >> 16) as u16, n as u16);
        let number = |at: usize| word(data, at).ok_or(ErrorCode::BadLength);
        let (bundle_id, (upper, flags)) = (number(0)?, halves(number(4)?));
        let flags = BundleFlags(flags.into());
        let outcome = match subtype {
            BUNDLE_CONTROL => {
                let control_type = BundleControlType::from_code(upper);
                self.bundle_control(who, &BundleControl::new(bundle_id, control_type, flags)).map(Some)
            }
            BUNDLE_ADD => {
                let inner = frame.get(INNER..).unwrap_or(&[]);
                let (_, message) = decode(inner).map_err(|e| e.error_code())?;
                let request = BundleAdd::new(bundle_id, flags, message);
                self.controller(who).bundles.add(xid, request, inner).map(|()| None)
            }
            _ => return Err(ErrorCode::BadExperimenterType),
        };
        match outcome {
            Ok(Some(done)) => {
                let numbers = [bundle_id, u32::from(done.control_type.code()) << 16 | flags.0];
                let data = numbers.map(u32::to_be_bytes).concat();
                let reply = Experimenter { experimenter: ONF, experimenter_type: Some(subtype), data };
                self.reply(who, xid, Body::Experimenter(reply))
            }
            Ok(None) => DONE,
            Err(code) => self.refuse_bundle(who, xid, code, frame),
        }
    }

    /// The ONF gave 1.3 its errors of bundles under its own number.
    fn refuse_bundle(&mut self, who: usize, xid: u32, code: ErrorCode, frame: &[u8]) -> Outcome {
        let Some((BUNDLE_FAILED, number)) = code.wire(Version::V1_4) else { return Err(code) };
        let own =
            ErrorCode::Unknown { error_type: ErrorMessage::EXPERIMENTER, code: ONF_BUNDLE_FAILED + number };
        let data = frame[..frame.len().min(64)].to_vec();
        self.reply(who, xid, Body::Error(ErrorMessage { code: own, experimenter: Some(ONF), data }))
    }
}

/// The 32-bit number at a place.
fn word(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}
