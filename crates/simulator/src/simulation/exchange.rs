//! Single frames in and out, as bytes.

use flowgauge_traffic::{Arrival, TrafficError, Until};

use super::{Simulation, SimulationError};
use crate::frame::{Frame, Kind, NO_QUEUE};
use crate::picos::Picos;

impl Simulation {
    /// Single frames in and out, as bytes; see [`flowgauge_traffic::exchange`]. Lets time pass until it is over.
    ///
    /// # Errors
    /// There is no such port; a transmission is on its way.
    pub fn exchange(
        &mut self,
        frames: &[(usize, Vec<u8>)],
        until: Until,
        keep: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<Arrival>, SimulationError> {
        self.check_idle()?;
        let ports = self.ports();
        if let Some(&(port, _)) = frames.iter().find(|(port, _)| *port >= ports) {
            return Err(TrafficError::NoSuchPort { stream: 0, port, ports }.into());
        }
        self.world.collected = Some(std::mem::take(&mut self.world.unfetched));
        let mut next_free = vec![self.now(); ports];
        for (port, bytes) in frames {
            self.run_until(next_free[*port]);
            next_free[*port] = self.now() + self.inject(*port, bytes);
        }
        let (sent, mut came, mut last) = (self.now(), 0, self.now());
        let limit = sent + until.limit.into();
        loop {
            let kept = self.world.collected.iter().flatten().filter(|a| keep(&a.frame)).count();
            if kept > came {
                (came, last) = (kept, self.now());
            }
            let quiet = last + until.quiet.into();
            let until = if came >= until.enough { quiet.min(limit) } else { limit };
            match self.next_event().filter(|&at| at <= until) {
                Some(at) => self.run_until(at),
                None => {
                    self.run_until(until);
                    break;
                }
            }
        }
        let mut arrivals = self.world.collected.take().unwrap_or_default();
        arrivals.retain(|arrival| keep(&arrival.frame));
        Ok(arrivals)
    }

    /// A frame with bytes of its own leaves a tester port; returns how long it occupies the cable.
    fn inject(&mut self, port: usize, bytes: &[u8]) -> Picos {
        let world = &mut self.world;
        let frame = Frame {
            kind: Kind::Raw(world.store.keep(bytes)),
            len: bytes.len() as u32,
            seq: 0,
            left: world.now,
            in_port: port as u16 + 1,
            is_probed: false,
            queue: NO_QUEUE,
        };
        world.put_on_cable(port, frame);
        world.occupied(bytes.len() as u32)
    }
}
