//! Samples of departures: now and then one frame is stamped on its way out, by the kernel or the card, and its stamp comes back
//! through the socket's error queue. A stamp for every frame would cost a third of the rate.

use flowgauge_clock::{Clock, Nanos};

use crate::linux::{CardStamps, Socket, StampAbilities, stamps};
use crate::{PortError, StampSource, TxStamp};

/// After how many looks a sample is given up: its frame was dropped below us.
const PATIENCE: u32 = 10;

/// How much earlier than it was handed over a frame may seem to have left: the error of two clocks' offset.
const SLACK: Nanos = Nanos(1_000);

/// A control message that asks for a stamp, as `sendmmsg` takes it.
#[repr(C, align(8))]
struct Request {
    len: usize,
    level: i32,
    kind: i32,
    flags: u32,
    _pad: u32,
}

/// Where a port is with its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sample {
    /// The next burst's first frame is to be stamped.
    Wanted,
    /// A frame was handed over then; its stamp has been looked for so many times.
    UnderWay(Nanos, u32),
    /// Nobody asks.
    Off,
}

/// The samples of a socket.
pub(super) struct Departures {
    request: Box<Request>,
    sample: Sample,
    source: StampSource,
}

impl Departures {
    /// By the card where it is switched on and can, else by the kernel where the driver lets it.
    pub fn new(
        socket: &Socket,
        abilities: StampAbilities,
        card: Option<&CardStamps>,
    ) -> Result<Departures, PortError> {
        let hardware = abilities.tx_hardware && card.is_some();
        let (source, flags, report) = if hardware {
            (StampSource::Hardware, libc::SOF_TIMESTAMPING_TX_HARDWARE, libc::SOF_TIMESTAMPING_RAW_HARDWARE)
        } else if abilities.tx_software {
            (StampSource::KernelSoftware, libc::SOF_TIMESTAMPING_TX_SOFTWARE, libc::SOF_TIMESTAMPING_SOFTWARE)
        } else {
            (StampSource::User, 0, 0)
        };
        if source != StampSource::User {
            // The stamp alone, without a copy of the frame.
            let report = report | libc::SOF_TIMESTAMPING_OPT_TSONLY;
            socket.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, report)?;
        }
        // CMSG_LEN of a 32-bit number.
        let len = size_of::<libc::cmsghdr>() + size_of::<u32>();
        let (level, kind) = (libc::SOL_SOCKET, libc::SO_TIMESTAMPING);
        Ok(Departures {
            request: Box::new(Request { len, level, kind, flags, _pad: 0 }),
            sample: Sample::Off,
            source,
        })
    }

    /// Who stamps.
    pub fn source(&self) -> StampSource {
        self.source
    }

    /// Whether the next burst's first frame is to be stamped.
    #[inline]
    pub fn wanted(&self) -> bool {
        self.sample == Sample::Wanted
    }

    /// Asks for a stamp of the frame of `message`.
    pub fn ask(&mut self, message: &mut libc::msghdr) {
        message.msg_control = (&raw mut *self.request).cast();
        message.msg_controllen = size_of::<Request>() as _;
    }

    /// Takes the request back after the call; `handed`: when the frame was handed over, if it was taken.
    pub fn asked(&mut self, message: &mut libc::msghdr, handed: Option<Nanos>) {
        message.msg_control = std::ptr::null_mut();
        message.msg_controllen = 0;
        if let Some(handed) = handed {
            self.sample = Sample::UnderWay(handed, 0);
        }
    }

    /// The departure that was sampled since the last call, if it is known; asks for the next.
    pub fn collect(&mut self, socket: &Socket, card: Option<&CardStamps>) -> Option<TxStamp> {
        let Sample::UnderWay(handed, looks) = self.sample else {
            if self.source != StampSource::User {
                self.sample = Sample::Wanted;
            }
            return None;
        };
        while let Some(stamp) = self.read(socket, card) {
            // An earlier sample's that was given up comes too soon for this one.
            if stamp + SLACK >= handed {
                self.sample = Sample::Wanted;
                return Some(TxStamp { handed, left: stamp.max(handed) });
            }
        }
        self.sample = if looks < PATIENCE { Sample::UnderWay(handed, looks + 1) } else { Sample::Wanted };
        None
    }

    /// The next stamp in the error queue, on the tester's clock.
    fn read(&self, socket: &Socket, card: Option<&CardStamps>) -> Option<Nanos> {
        let control = socket.read_error_queue()?;
        let found = stamps(&control);
        match self.source {
            StampSource::Hardware => Some(card?.offset()?.to_tester(found.hardware?)),
            StampSource::KernelSoftware => Some(Clock.offset_from_wall().to_tester(found.software?)),
            StampSource::User | StampSource::Virtual => None,
        }
    }
}
