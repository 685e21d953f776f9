//! Installs N flow entries on exact IPv4 destinations in a `ptcp:` switch as quickly as possible, and prints how long it
//! took from the first FLOW_MOD byte to the barrier reply.
//!
//! ```text
//! flow_install tcp:127.0.0.1:6653 20000 [1.0|1.3] [NETNS]
//! {"entries": 20000, "seconds": 0.123456, "refused": 0, "version": "1.3"}
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use flowgauge_channel::{Address, Channel, Config, Versions};
use flowgauge_openflow::{Action, Body, FlowEncoder, FlowMod, Match, PortNo, Version};
use flowgauge_packet::{Field, FlowSet, Pattern};
use flowgauge_traffic::play::{Encoded, Play, PlayOptions};

const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("flow_install: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<String>) -> Result<String, Box<dyn Error>> {
    let [address, entries, rest @ ..] = arguments.as_slice() else {
        return Err("usage: flow_install tcp:HOST:PORT ENTRIES [1.0|1.3] [NETNS]".into());
    };
    let address: Address = address.parse()?;
    let entries: u32 = entries.parse()?;
    let version: Version = rest.first().map_or("1.3", String::as_str).parse()?;
    let versions = Versions::new(&[version.wire()]).ok_or("no such version")?;
    let config = Config { versions, netns: rest.get(1).map(Into::into), ..Config::controller() };
    let channel = Channel::open(address, config)?;
    let connection = channel.wait_connected(Duration::from_secs(5))?;
    connection.apply(vec![Body::FlowMod(FlowMod::delete_all())], PATIENCE)?;
    // The switch may still be freeing the entries that it had.
    std::thread::sleep(PAUSE);

    let source = Encoded::flow_mods(vec![adds(entries, version)?]);
    let play = Play::start(&connection, Box::new(source), PlayOptions::default());
    let result = play.wait(Some(PATIENCE))?;
    let (Some(first), Some(barrier)) = (result.first_byte, result.barrier) else {
        return Err(format!("the channel ended: {:?}", result.closed).into());
    };
    let seconds = (barrier - first).as_secs_f64();
    let refused = result.errors.len();
    Ok(format!(
        "{{\"entries\": {entries}, \"seconds\": {seconds:.6}, \"refused\": {refused}, \"version\": \"{version}\"}}"
    ))
}

/// The entries: `ip,nw_dst=10.x.y.z,actions=output:1`.
fn adds(entries: u32, version: Version) -> Result<FlowEncoder, Box<dyn Error>> {
    let dst = Pattern::Increment { start: 0x0a00_0000, step: 1, mask: 0x00ff_ffff };
    let fields = vec![(Field::EthType, Pattern::Fixed(0x0800)), (Field::Ipv4Dst, dst)];
    let flows = FlowSet::new(entries, fields)?;
    let output = Action::Output { port: PortNo(1), max_len: 0 };
    let entry = FlowMod::add(32768, Match::any(), vec![output]);
    Ok(FlowEncoder::new(entry, flows, &[Field::EthType, Field::Ipv4Dst], version)?)
}
