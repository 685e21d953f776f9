//! How many frames per second the switch forwards between two ring ports of this process, and how long one
//! frame alone takes: run in release.
//!
//! `ring_forward [entries] [flows] [seconds]`: so many entries (exact UDP matches), frames of so many flows.

use flowgauge_channel::{Channel, Config};
use flowgauge_openflow::{Action, Body, FlowMod, Match, Message, PortNo, Version, encode};
use flowgauge_packet::Field;
use flowgauge_ports::ring::{self, RingPort, WhenFull};
use flowgauge_ports::{BURST, Burst, Port};
use flowgauge_switch::{PortConfig, Switch, SwitchConfig};
use std::error::Error;
use std::time::{Duration, Instant};

/// Frames that a ring holds: many, so that it works while threads take turns on a core.
const SLOTS: usize = 1 << 14;
const PATIENCE: Duration = Duration::from_secs(30);

/// A 64-byte frame (with FCS) of Ethernet, IPv4 and UDP to host `host`.
fn frame(host: u32) -> [u8; 60] {
    let mut bytes = [0u8; 60];
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    bytes[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    bytes[26..30].copy_from_slice(&[10, 0, 0, 1]);
    bytes[30..34].copy_from_slice(&(0x0a00_0000 + host).to_be_bytes());
    bytes[34..40].copy_from_slice(&[0x10, 0, 0x20, 0, 0, 26]);
    bytes
}

/// An entry for the frames to `host`: out of port 2.
fn entry(host: u32) -> FlowMod {
    let wanted = Match::any()
        .with(Field::EthType, 0x800)
        .with(Field::IpProto, 17)
        .with(Field::Ipv4Dst, u128::from(0x0a00_0000 + host))
        .with(Field::UdpDst, 0x2000);
    FlowMod::add(100, wanted, vec![Action::output(PortNo(2))])
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |n: usize, default| std::env::args().nth(n).map_or(Ok(default), |a| a.parse::<u32>());
    let (entries, flows, seconds) = (argument(1, 1000)?, argument(2, 1000)?, argument(3, 3)?);

    let (mut into, first) = ring::pair_with(SLOTS, WhenFull::Wait);
    let (mut out, second) = ring::pair_with(SLOTS, WhenFull::Wait);
    let ports = vec![PortConfig::new(1, "in", Box::new(first)), PortConfig::new(2, "out", Box::new(second))];
    let controller = Channel::listen("127.0.0.1:0".parse()?, Config::controller())?;
    let control = format!("tcp:{}", controller.local_addr()).parse()?;
    let _switch = Switch::start(SwitchConfig::new(1, ports, control))?;
    let connection = controller.wait_connected(PATIENCE)?;

    let mut stream = Vec::new();
    for host in 0..entries {
        encode(&Message::new(host, Body::FlowMod(entry(host))), Version::V1_3, &mut stream)?;
    }
    let start = Instant::now();
    connection.send_chunk(stream)?;
    connection.barrier(PATIENCE)?;
    println!("{entries} entries in {:?}", start.elapsed());

    let frames: Vec<_> = (0..flows).map(frame).collect();
    let mut source = frames.iter().cycle();
    let (mut tx, mut rx) = (Burst::new(), Burst::new());
    let (mut received, start) = (0u64, Instant::now());
    while start.elapsed() < Duration::from_secs(seconds.into()) {
        for _ in 0..16 {
            let ready = tx.len();
            into.alloc(&mut tx, BURST - ready);
            for (slot, bytes) in tx[ready..].iter_mut().zip(&mut source) {
                slot.set_len(bytes.len());
                slot.bytes_mut().copy_from_slice(bytes);
            }
            into.tx(&mut tx)?;
            received += out.rx(&mut rx, BURST)? as u64;
            out.free(&mut rx);
        }
    }
    let rate = received as f64 / start.elapsed().as_secs_f64();
    println!("{:.2} Mpps of 64-byte frames, {flows} flows", rate / 1e6);
    into.free(&mut tx);

    while out.rx(&mut rx, BURST)? > 0 || start.elapsed() < Duration::from_secs(u64::from(seconds) + 1) {
        out.free(&mut rx);
    }
    let mut delays = (0..2000).map(|_| lone_frame(&mut into, &mut out)).collect::<Result<Vec<_>, _>>()?;
    delays.sort();
    println!("one frame alone: median {:?}, p99 {:?}", delays[1000], delays[1980]);
    Ok(())
}

/// How long a frame takes through the switch when there has been none for 0.3 ms.
fn lone_frame(into: &mut RingPort, out: &mut RingPort) -> Result<Duration, Box<dyn Error>> {
    std::thread::sleep(Duration::from_micros(300));
    let mut burst = Burst::new();
    into.alloc(&mut burst, 1);
    burst[0].set_len(60);
    burst[0].bytes_mut().copy_from_slice(&frame(0));
    let start = Instant::now();
    into.tx(&mut burst)?;
    while out.rx(&mut burst, 1)? == 0 {
        if start.elapsed() > PATIENCE {
            return Err("a frame was lost".into());
        }
        std::hint::spin_loop();
    }
    let delay = start.elapsed();
    out.free(&mut burst);
    Ok(delay)
}
