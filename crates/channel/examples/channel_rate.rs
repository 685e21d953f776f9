//! How fast the channel alone is, both ends in this process: messages per second each way, and round trips of echoes.
//!
//! ```text
//! channel_rate [PRIVATE_KEY CERTIFICATE CA]
//! {"to_switch_per_s": 7654321, "to_controller_per_s": 6543210, "echo_median_us": 12.3, "echo_p99_us": 20.1}
//! ```
//!
//! With three files (one pair serves both ends, if the CA has signed it): the same over TLS.

use std::error::Error;
use std::time::{Duration, Instant};

use flowgauge_channel::{Address, Channel, Config, Connection, Log, Tls, TlsFiles, wire};

const MESSAGES: u64 = 2_000_000;
const ECHOES: usize = 20_000;
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let tls = match files.as_slice() {
        [key, certificate, ca] => Some(Tls::load(&TlsFiles {
            private_key: key.into(),
            certificate: certificate.into(),
            ca: ca.into(),
        })?),
        _ => None,
    };
    let address = Address::Listen("127.0.0.1:0".parse()?).secured(tls.is_some());
    let listening = Channel::open(address, Config { tls: tls.clone(), ..Config::controller() })?;
    let address = Address::Connect(listening.local_addr()).secured(tls.is_some());
    let connecting = Channel::open(address, Config { tls, log_cap: 64 << 20, ..Config::switch() })?;
    let switch = connecting.wait_connected(PATIENCE)?;
    switch.wait_log(PATIENCE);
    let request = switch.take_log();
    let xid = request.iter().next().and_then(|r| wire::Header::parse(r.frame)).map_or(0, |h| h.xid);
    switch.send_raw(&wire::message(4, wire::FEATURES_REPLY, xid, &[0; 24]))?;
    let controller = listening.wait_connected(PATIENCE)?;
    let there = rate(&controller, &switch, wire::FLOW_MOD, 80)?;
    let back = rate(&switch, &controller, wire::PACKET_IN, 112)?;
    let (median, p99) = echoes(&controller)?;
    println!(
        "{{\"to_switch_per_s\": {there:.0}, \"to_controller_per_s\": {back:.0}, \
         \"echo_median_us\": {median:.1}, \"echo_p99_us\": {p99:.1}}}"
    );
    Ok(())
}

/// Messages of `length` bytes per second from one end to the log of the other.
fn rate(from: &Connection, to: &Connection, kind: u8, length: usize) -> Result<f64, Box<dyn Error>> {
    let batch = wire::message(4, kind, 1, &vec![0; length - wire::HEADER_LEN]).repeat(800);
    let start = Instant::now();
    let (before, mut log) = (to.received(kind), Log::new());
    for _ in 0..MESSAGES / 800 {
        from.send_raw(&batch)?;
        to.poll_log(&mut log);
    }
    while to.received(kind) - before < MESSAGES {
        to.poll_log(&mut log);
        std::thread::sleep(Duration::from_micros(50));
    }
    Ok(MESSAGES as f64 / start.elapsed().as_secs_f64())
}

/// Median and 99th percentile of echo round trips, in microseconds.
fn echoes(connection: &Connection) -> Result<(f64, f64), Box<dyn Error>> {
    let mut times = Vec::with_capacity(ECHOES);
    for _ in 0..ECHOES {
        let request = wire::message(4, wire::ECHO_REQUEST, connection.reserve_xids(1), &[7; 8]);
        let start = Instant::now();
        connection.transact_raw(&request, PATIENCE)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[ECHOES / 2], times[ECHOES * 99 / 100]))
}
