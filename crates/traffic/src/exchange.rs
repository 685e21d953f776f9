//! Single frames in and out, as bytes: for tests of what a switch does, where no rate and no delay counts.
//!
//! It runs in the caller's thread, receives while it sends, and keeps everything that comes.

use flowgauge_clock::{Clock, Nanos};
use flowgauge_ports::{Burst, Port, PortError};

use crate::{Ports, TrafficError};

/// How long a loop without anything to do rests.
const REST: std::time::Duration = std::time::Duration::from_micros(50);

/// How long frames may wait for a port to take them.
const PATIENCE: Nanos = Nanos::from_secs(1);

/// When an exchange is over: `enough` frames came and nothing more for `quiet`, or `limit` is over since the last was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// So many frames are waited for; `usize::MAX` waits until the limit.
    pub enough: usize,
    /// How long silence must last once enough came, so that surplus frames are seen.
    pub quiet: Nanos,
    /// The longest that it may take once everything was sent.
    pub limit: Nanos,
}

/// A frame that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Position of the port.
    pub port: usize,
    /// When: the backend's stamp, or when it was read.
    pub at: Nanos,
    /// Its bytes, without FCS.
    pub frame: Vec<u8>,
}

/// Sends `frames` (position of the port, bytes without FCS) in their order, and gives what `keep` keeps of that which comes
/// until it is over; also of what waits in the ports already.
///
/// # Errors
/// [`TrafficError`]: there is no such port, a frame is longer than its port takes, a port broke or takes nothing.
pub fn exchange(
    ports: &mut Ports,
    frames: &[(usize, Vec<u8>)],
    until: Until,
    keep: impl Fn(&[u8]) -> bool,
) -> Result<Vec<Arrival>, TrafficError> {
    check(ports, frames)?;
    let mut arrivals = Vec::new();
    for (port, frame) in frames {
        send(ports, *port, frame, &mut arrivals, &keep)?;
        receive(ports, &mut arrivals, &keep)?;
    }
    let sent = Clock.now();
    let mut last = sent;
    loop {
        let came = receive(ports, &mut arrivals, &keep)?;
        let now = Clock.now();
        if came > 0 {
            last = now;
        }
        let satisfied = arrivals.len() >= until.enough && now - last >= until.quiet;
        if satisfied || now - sent >= until.limit {
            return Ok(arrivals);
        }
        if came == 0 {
            std::thread::sleep(REST);
        }
    }
}

fn check(ports: &Ports, frames: &[(usize, Vec<u8>)]) -> Result<(), TrafficError> {
    for (at, frame) in frames {
        let Some(port) = ports.first(*at) else {
            return Err(TrafficError::NoSuchPort { stream: 0, port: *at, ports: ports.count() });
        };
        let longest = port.capabilities().longest_frame;
        if frame.len() > longest {
            let (port, found) = (port.describe().to_owned(), frame.len());
            return Err(TrafficError::FrameTooLong { stream: 0, port, found, longest });
        }
    }
    Ok(())
}

/// One frame; what comes while the port is full is received.
fn send(
    ports: &mut Ports,
    at: usize,
    frame: &[u8],
    arrivals: &mut Vec<Arrival>,
    keep: &impl Fn(&[u8]) -> bool,
) -> Result<(), TrafficError> {
    let begun = Clock.now();
    let mut burst = Burst::new();
    while ports.first_mut(at).alloc(&mut burst, 1) == 0 {
        wait(ports, at, begun, arrivals, keep)?;
    }
    if let Some(slot) = burst.first_mut() {
        slot.set_len(frame.len());
        slot.bytes_mut().copy_from_slice(frame);
    }
    while ports.first_mut(at).tx(&mut burst)? == 0 {
        if let Err(error) = wait(ports, at, begun, arrivals, keep) {
            ports.first_mut(at).free(&mut burst);
            return Err(error);
        }
    }
    Ok(ports.first_mut(at).flush()?)
}

fn wait(
    ports: &mut Ports,
    at: usize,
    begun: Nanos,
    arrivals: &mut Vec<Arrival>,
    keep: &impl Fn(&[u8]) -> bool,
) -> Result<(), TrafficError> {
    receive(ports, arrivals, keep)?;
    if Clock.now() - begun > PATIENCE {
        let port = ports.first_mut(at).describe().to_owned();
        let reason = "it takes no frame".to_owned();
        return Err(PortError::LinkDown { port, reason }.into());
    }
    std::thread::sleep(REST);
    Ok(())
}

/// Takes what all ports have; how many frames were kept.
fn receive(
    ports: &mut Ports,
    arrivals: &mut Vec<Arrival>,
    keep: &impl Fn(&[u8]) -> bool,
) -> Result<usize, TrafficError> {
    let before = arrivals.len();
    let mut burst = Burst::new();
    for (at, port) in ports.each_queue() {
        while port.rx(&mut burst, flowgauge_ports::BURST)? > 0 {
            for slot in burst.iter().filter(|slot| keep(slot.bytes())) {
                let stamp = slot.stamp().unwrap_or_else(|| Clock.now());
                arrivals.push(Arrival { port: at, at: stamp, frame: slot.bytes().to_vec() });
            }
            port.free(&mut burst);
        }
    }
    Ok(arrivals.len() - before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowgauge_ports::ring;

    fn until(enough: usize) -> Until {
        Until { enough, quiet: Nanos::from_millis(5), limit: Nanos::from_millis(200) }
    }

    fn joined() -> Ports {
        let (a, b) = ring::pair(64);
        Ports::from(vec![Box::new(a) as Box<dyn Port>, Box::new(b)])
    }

    #[test]
    fn what_goes_in_comes_out_at_the_other_end_in_order() {
        let mut ports = joined();
        let frames: Vec<_> = (0..200u8).map(|i| (usize::from(i % 2), vec![i; 60])).collect();
        let found = exchange(&mut ports, &frames, until(200), |_| true).unwrap();
        assert_eq!(found.len(), 200);
        for side in 0..2 {
            let came: Vec<_> = found.iter().filter(|a| a.port == side).map(|a| a.frame[0]).collect();
            assert!(
                came.iter().eq((0..200u8).filter(|i| usize::from(i % 2) != side).collect::<Vec<_>>().iter())
            );
        }
    }

    #[test]
    fn strangers_are_left_out_and_what_waits_is_not() {
        let (a, b) = ring::pair(64);
        let mut first = Ports::from(vec![Box::new(a) as Box<dyn Port>]);
        let frames = [(0, vec![2; 60]), (0, vec![3; 60])];
        exchange(&mut first, &frames, Until { limit: Nanos::ZERO, ..until(0) }, |_| true).unwrap();
        let mut ports = first.into_handles();
        ports.push(Box::new(b));
        let found =
            exchange(&mut ports.into(), &[(0, vec![3; 60])], until(2), |frame| frame[0] == 3).unwrap();
        assert_eq!(found.iter().map(|a| (a.port, a.frame[0])).collect::<Vec<_>>(), [(1, 3), (1, 3)]);
    }

    #[test]
    fn silence_ends_at_the_limit_and_surplus_is_seen() {
        let mut ports = joined();
        assert_eq!(exchange(&mut ports, &[], until(1), |_| true).unwrap(), []);
        let frames = [(0, vec![1; 60]), (0, vec![2; 60])];
        assert_eq!(exchange(&mut ports, &frames, until(1), |_| true).unwrap().len(), 2);
    }

    #[test]
    fn impossible_frames_are_refused() {
        let mut ports = joined();
        let found = exchange(&mut ports, &[(7, vec![1; 60])], until(0), |_| true);
        assert!(matches!(found, Err(TrafficError::NoSuchPort { port: 7, .. })));
        let found = exchange(&mut ports, &[(0, vec![1; 4000])], until(0), |_| true);
        assert!(matches!(found, Err(TrafficError::FrameTooLong { found: 4000, .. })));
    }
}
