//! The output side of a switch port: queues, and the transmitter that empties them.

use std::collections::VecDeque;

use flowgauge_datapath::{QueueSetup, Scheduler};
use flowgauge_openflow::{PortNo, QueueStats};

use crate::frame::Frame;
use crate::model::{QueueModel, QueuesModel};
use crate::picos::Picos;

/// The output side of a port.
#[derive(Debug)]
pub struct Output {
    queues: Queues,
    /// When the transmitter is free.
    free_at: Picos,
}

/// What waits for a port.
#[derive(Debug)]
enum Queues {
    /// One queue, in order.
    Plain { frames: VecDeque<Frame>, capacity: usize },
    /// Queues with numbers.
    Several(Scheduler<Frame>),
}

impl Output {
    /// Of that model.
    pub fn new(model: &QueuesModel) -> Output {
        let capacity = model.output_frames.map_or(usize::MAX, |frames| frames as usize);
        let queues = if model.output.is_empty() {
            Queues::Plain { frames: VecDeque::new(), capacity }
        } else {
            Queues::Several(Scheduler::new(None, &setups(model), capacity, Picos::ZERO.nanos()))
        };
        Output { queues, free_at: Picos::ZERO }
    }

    /// A frame comes. `Ok(Some)`: it leaves at once; `Err`: there is no waiting place for it.
    #[inline]
    pub fn admit(&mut self, frame: Frame, queue: Option<u32>, now: Picos) -> Result<Option<Frame>, Frame> {
        let is_free = now >= self.free_at;
        match &mut self.queues {
            Queues::Plain { frames, .. } if is_free && frames.is_empty() => Ok(Some(frame)),
            Queues::Plain { frames, capacity } if frames.len() < *capacity => {
                frames.push_back(frame);
                Ok(None)
            }
            Queues::Plain { .. } => Err(frame),
            Queues::Several(scheduler) => admit_to(scheduler, frame, queue, now, is_free),
        }
    }

    /// The transmitter is occupied by a frame until then.
    #[inline]
    pub fn occupy(&mut self, until: Picos) {
        self.free_at = until;
    }

    /// When it is worth asking for a frame; [`Picos::MAX`]: none waits.
    #[inline]
    pub fn next_ready(&mut self, now: Picos) -> Picos {
        match &mut self.queues {
            Queues::Plain { frames, .. } if frames.is_empty() => Picos::MAX,
            Queues::Plain { .. } => self.free_at,
            Queues::Several(scheduler) => {
                let ready = scheduler.next_ready(now.nanos()).map_or(Picos::MAX, Picos::from);
                ready.max(self.free_at).max(now)
            }
        }
    }

    /// The frame that leaves now, if one may.
    #[inline]
    pub fn next(&mut self, now: Picos) -> Option<Frame> {
        if now < self.free_at {
            return None;
        }
        match &mut self.queues {
            Queues::Plain { frames, .. } => frames.pop_front(),
            Queues::Several(scheduler) => scheduler.dequeue(now.nanos()),
        }
    }

    /// Frames that wait.
    pub fn len(&self) -> usize {
        match &self.queues {
            Queues::Plain { frames, .. } => frames.len(),
            Queues::Several(scheduler) => scheduler.len(),
        }
    }

    /// Counters of the queues that have numbers.
    pub fn queue_stats(&self, port: u32, now: Picos) -> Vec<QueueStats> {
        match &self.queues {
            Queues::Plain { .. } => Vec::new(),
            Queues::Several(scheduler) => scheduler.stats(PortNo(port), now.nanos()),
        }
    }
}

fn admit_to(
    scheduler: &mut Scheduler<Frame>,
    frame: Frame,
    queue: Option<u32>,
    now: Picos,
    is_free: bool,
) -> Result<Option<Frame>, Frame> {
    if is_free && scheduler.is_empty() {
        // A queue without waiting places still lets a frame pass, unless it has had its maximum rate.
        scheduler.pass(queue, frame.len as usize, frame)?;
        return Ok(scheduler.dequeue(now.nanos()));
    }
    scheduler.enqueue(queue, frame.len as usize, frame)?;
    Ok(None)
}

/// The queues that every port has, as the pipeline wants to know them.
pub fn setups(model: &QueuesModel) -> Vec<QueueSetup> {
    let rate = |mbps: f64| (mbps * 1e6).round() as u64;
    let setup = |queue: &QueueModel| QueueSetup {
        id: queue.id,
        min_rate: rate(queue.min_mbps),
        max_rate: (queue.max_mbps > 0.0).then(|| rate(queue.max_mbps)),
        priority: queue.priority,
        weight: queue.weight,
    };
    model.output.iter().map(setup).collect()
}
