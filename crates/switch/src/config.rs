//! What a switch is to be.

use flowgauge_channel::{Address, Tls, Versions};
use flowgauge_datapath::{Limits, QueueSetup};
use flowgauge_ports::Port;
use std::path::PathBuf;
use std::time::Duration;

/// A port of the switch.
pub struct PortConfig {
    /// Its OpenFlow number, 1 to 65279 (what 1.0 can say).
    pub number: u32,
    /// Its name; the first 15 bytes are told to controllers.
    pub name: String,
    /// What moves its frames.
    pub port: Box<dyn Port>,
    /// Its queues; without any, frames leave as they come.
    pub queues: Vec<QueueSetup>,
}

impl PortConfig {
    /// A port by that number and name, without queues.
    pub fn new(number: u32, name: impl Into<String>, port: Box<dyn Port>) -> PortConfig {
        PortConfig { number, name: name.into(), port, queues: Vec::new() }
    }
}

/// How the datapath thread waits when there is nothing to do. On a machine with few cores it must let others
/// run; the sooner it does, the later it notices the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// How long it polls without a break.
    pub spin: Duration,
    /// How long it polls after that, yielding its core after each round.
    pub yield_for: Duration,
    /// How long it sleeps between polls after that. A controller's message wakes it.
    pub nap: Duration,
}

impl Default for Idle {
    fn default() -> Self {
        Idle {
            spin: Duration::from_micros(50),
            yield_for: Duration::from_millis(20),
            nap: Duration::from_micros(50),
        }
    }
}

impl Idle {
    /// For a switch that shares its machine with others, and whose frames may wait a moment.
    pub const fn patient() -> Idle {
        Idle {
            spin: Duration::from_micros(20),
            yield_for: Duration::from_micros(500),
            nap: Duration::from_micros(200),
        }
    }
}

/// What a switch does while no controller is connected (1.3.5, 6.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailMode {
    /// Frames go on as the entries say; what would go to a controller is dropped.
    #[default]
    Secure,
    /// Frames go by learned addresses, as in a switch without OpenFlow. The entries stay.
    Standalone,
}

/// What a switch is to be.
pub struct SwitchConfig {
    /// Its datapath id.
    pub datapath_id: u64,
    /// Its ports, each with a number of its own.
    pub ports: Vec<PortConfig>,
    /// Where its controllers are, and where it waits for controllers.
    pub controls: Vec<Address>,
    /// The network namespace of the control connections.
    pub control_netns: Option<PathBuf>,
    /// Its key and certificates, for addresses with TLS.
    pub tls: Option<Tls>,
    /// The OpenFlow versions that it offers.
    pub versions: Versions,
    /// Its tables.
    pub limits: Limits,
    /// How many packets it keeps for its controllers to decide on, at most 65 536.
    pub buffers: u32,
    /// What it does without a controller.
    pub fail_mode: FailMode,
    /// A controller that is silent for this long is asked for an echo; the third without an answer is the end.
    pub inactivity_probe: Option<Duration>,
    /// What it says of itself for people.
    pub description: String,
    /// How it waits.
    pub idle: Idle,
}

impl SwitchConfig {
    /// A switch that offers OpenFlow 1.0 and 1.3, with 255 tables and 256 buffers.
    pub fn new(datapath_id: u64, ports: Vec<PortConfig>, control: Address) -> SwitchConfig {
        SwitchConfig {
            datapath_id,
            ports,
            controls: vec![control],
            control_netns: None,
            tls: None,
            versions: Versions::new(&[1, 4]).expect("known versions"),
            limits: Limits::default(),
            buffers: 256,
            fail_mode: FailMode::default(),
            inactivity_probe: Some(Duration::from_secs(5)),
            description: "embedded device under test".to_owned(),
            idle: Idle::default(),
        }
    }
}

/// The highest port number that 1.0 can say.
pub const MAX_PORT: u32 = 0xfeff;

/// Why a switch can't be started.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// A port number is out of range or taken twice.
    #[error("port {name:?} can't have number {number}: numbers are 1 to {MAX_PORT}, each used once")]
    PortNumber {
        /// The port's name.
        name: String,
        /// Its number.
        number: u32,
    },
    /// A control connection can't be opened.
    #[error(transparent)]
    Control(#[from] flowgauge_channel::ChannelError),
    /// The datapath thread can't be started.
    #[error("can't start the switch's thread: {0}")]
    Thread(#[from] std::io::Error),
}
