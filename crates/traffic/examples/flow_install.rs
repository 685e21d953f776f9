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

use flowgauge_channel::{Address, Channel, Config, Versions, version_name, wire};
use flowgauge_openflow::{Body, FlowMod};
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
    let version = match rest.first().map(String::as_str) {
        Some("1.0") => 1,
        None | Some("1.3") => 4,
        Some(other) => return Err(format!("version {other:?} is neither 1.0 nor 1.3").into()),
    };
    let versions = Versions::new(&[version]).ok_or("no such version")?;
    let config = Config { versions, netns: rest.get(1).map(Into::into), ..Config::controller() };
    let channel = Channel::open(address, config)?;
    let connection = channel.wait_connected(Duration::from_secs(5))?;
    connection.apply(vec![Body::FlowMod(FlowMod::delete_all())], PATIENCE)?;
    // The switch may still be freeing the entries that it had.
    std::thread::sleep(PAUSE);

    let encode = move |i, xid, out: &mut Vec<u8>| add(version, 0x0a00_0000 + i as u32, xid, out);
    let source = Encoded::new(u64::from(entries), Box::new(encode));
    let play = Play::start(&connection, Box::new(source), PlayOptions::default());
    let result = play.wait(Some(PATIENCE))?;
    let (Some(first), Some(barrier)) = (result.first_byte, result.barrier) else {
        return Err(format!("the channel ended: {:?}", result.closed).into());
    };
    let seconds = (barrier - first).as_secs_f64();
    let (refused, version) = (result.errors.len(), version_name(version));
    Ok(format!(
        "{{\"entries\": {entries}, \"seconds\": {seconds:.6}, \"refused\": {refused}, \"version\": \"{version}\"}}"
    ))
}

/// FLOW_MOD that sends packets to `ipv4_dst` out of port 1.
fn add(version: u8, ipv4_dst: u32, xid: u32, out: &mut Vec<u8>) {
    let dst = ipv4_dst.to_be_bytes();
    if version == 1 {
        let mut body = [0; 72];
        body[..4].copy_from_slice(&(0x003f_ffffu32 & !0x10 & !0x000f_c000).to_be_bytes()); // dl_type, nw_dst/32
        body[22..24].copy_from_slice(&[0x08, 0x00]);
        body[32..36].copy_from_slice(&dst);
        body[54..56].copy_from_slice(&0x8000u16.to_be_bytes()); // priority
        body[56..62].fill(0xff); // no buffer, any out_port
        body[64..72].copy_from_slice(&[0, 0, 0, 8, 0, 1, 0, 0]); // output:1
        out.extend(wire::message(version, wire::FLOW_MOD, xid, &body));
    } else {
        let mut body = [0; 88];
        body[22..24].copy_from_slice(&0x8000u16.to_be_bytes()); // priority
        body[24..36].fill(0xff); // no buffer, any out_port and out_group
        body[40..44].copy_from_slice(&[0, 1, 0, 18]);
        body[44..50].copy_from_slice(&[0x80, 0, 10, 2, 0x08, 0x00]); // eth_type=0x0800
        body[50..54].copy_from_slice(&[0x80, 0, 24, 4]); // ipv4_dst
        body[54..58].copy_from_slice(&dst);
        body[64..72].copy_from_slice(&[0, 4, 0, 24, 0, 0, 0, 0]); // apply actions
        body[72..80].copy_from_slice(&[0, 0, 0, 16, 0, 0, 0, 1]); // output:1
        out.extend(wire::message(version, wire::FLOW_MOD, xid, &body));
    }
}
