//! The queues of a port: frames wait in them until the scheduler lets them go.

use crate::core::Core;
use flowgauge_clock::Nanos;
use flowgauge_datapath::{QueueSetup, Scheduler};
use flowgauge_openflow::{ErrorCode, PortNo, QUEUE_ALL, Queue, QueueProperty, QueueStats, Version};

/// Frames that wait in a queue at most.
const LENGTH: usize = 1000;
/// Emptied buffers that are kept for the next frames.
const SPARE: usize = 256;
/// What rates are told in parts of where a link has no rate of its own, in bits per second.
const NOMINAL_RATE: u64 = 10_000_000_000;

/// The queues of a port.
pub struct Queues {
    setups: Vec<QueueSetup>,
    link_rate: Option<u64>,
    scheduler: Scheduler<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// Their counters, where somebody else moves the frames.
    pub counted: Option<Vec<QueueStats>>,
}

impl Queues {
    /// Queues in front of a link of that rate in bits per second; `None`: whatever the port takes.
    pub fn new(setups: Vec<QueueSetup>, link_rate: Option<u64>, now: Nanos) -> Queues {
        let scheduler = Scheduler::new(link_rate, &setups, LENGTH, now);
        Queues { setups, link_rate, scheduler, spare: Vec::new(), counted: None }
    }

    /// What they are.
    pub fn setups(&self) -> &[QueueSetup] {
        &self.setups
    }

    /// Whether also frames for no queue in particular must wait their turn: some wait, or the link's rate is kept here.
    #[inline]
    pub fn are_in_use(&self) -> bool {
        !self.scheduler.is_empty()
            || self.link_rate.is_some()
            || self.setups.iter().any(|setup| setup.id == 0)
    }

    /// Takes a copy of a frame. Whether there was room.
    pub fn put(&mut self, queue: Option<u32>, bytes: &[u8]) -> bool {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        let refused = self.scheduler.enqueue(queue, bytes.len(), copy).err();
        let has_room = refused.is_none();
        refused.into_iter().for_each(|copy| self.give_back(copy));
        has_room
    }

    /// The frame that leaves now, if one may.
    pub fn next(&mut self, now: Nanos) -> Option<Vec<u8>> {
        self.scheduler.dequeue(now)
    }

    /// Takes an emptied buffer back.
    pub fn give_back(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < SPARE {
            self.spare.push(buffer);
        }
    }

    /// Their counters.
    fn stats(&self, port: PortNo, now: Nanos) -> Vec<QueueStats> {
        self.counted.clone().unwrap_or_else(|| self.scheduler.stats(port, now))
    }

    /// The queues in the words of a version: 1.0 has none for highest rates.
    fn describe(&self, port: PortNo, wanted: u32, version: Version) -> Vec<Queue> {
        let link = self.link_rate.unwrap_or(NOMINAL_RATE).max(1);
        let tenths = |rate: u64| (rate.saturating_mul(1000) / link).min(1000) as u16;
        let queue = |setup: &QueueSetup| Queue {
            queue_id: setup.id,
            port,
            properties: [
                (setup.min_rate > 0).then(|| QueueProperty::MinRate(tenths(setup.min_rate))),
                setup
                    .max_rate
                    .filter(|_| version != Version::V1_0)
                    .map(|rate| QueueProperty::MaxRate(tenths(rate))),
            ]
            .into_iter()
            .flatten()
            .collect(),
        };
        let meant = |setup: &&QueueSetup| wanted == QUEUE_ALL || setup.id == wanted;
        self.setups.iter().filter(meant).map(queue).collect()
    }
}

impl Core {
    /// The ports meant: one, or all.
    fn meant_ports(&self, port: PortNo) -> Result<std::ops::Range<usize>, ErrorCode> {
        match port {
            PortNo::ANY | PortNo::ALL => Ok(0..self.outlet.ports.len()),
            PortNo(number) => {
                let index = self.outlet.index_of(number).ok_or(ErrorCode::QueueBadPort)?;
                Ok(index..index + 1)
            }
        }
    }

    /// Queues as they are set up; `queue_id` may be QUEUE_ALL.
    ///
    /// # Errors
    /// No such port, no such queue.
    pub fn describe_queues(
        &self,
        port: PortNo,
        queue_id: u32,
        version: Version,
    ) -> Result<Vec<Queue>, ErrorCode> {
        let ports = self.outlet.ports[self.meant_ports(port)?].iter();
        let queues = ports.flat_map(|p| {
            p.queues.as_ref().map_or(vec![], |queues| queues.describe(PortNo(p.number), queue_id, version))
        });
        found(queues.collect(), queue_id)
    }

    /// Queues' counters; `queue_id` may be QUEUE_ALL.
    ///
    /// # Errors
    /// No such port, no such queue.
    pub fn queue_stats(&self, port: PortNo, queue_id: u32, now: Nanos) -> Result<Vec<QueueStats>, ErrorCode> {
        let ports = self.outlet.ports[self.meant_ports(port)?].iter();
        let stats = ports
            .flat_map(|p| p.queues.as_ref().map_or(vec![], |queues| queues.stats(PortNo(p.number), now)));
        found(stats.filter(|s| queue_id == QUEUE_ALL || s.queue_id == queue_id).collect(), queue_id)
    }
}

/// What was found; one queue that was asked for must be there.
fn found<T>(list: Vec<T>, queue_id: u32) -> Result<Vec<T>, ErrorCode> {
    if list.is_empty() && queue_id != QUEUE_ALL { Err(ErrorCode::QueueBadQueue) } else { Ok(list) }
}
