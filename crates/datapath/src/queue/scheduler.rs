//! The scheduler of a port.

use super::QueueSetup;
use crate::stats::seconds;
use crate::token_bucket::TokenBucket;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{PortNo, QueueStats};
use std::collections::VecDeque;

/// The least burst, in bits: two full Ethernet frames.
const LEAST_BURST: u64 = 2 * 1518 * 8;

/// A rate that is kept. A frame larger than the burst leaves when the burst is there.
#[derive(Clone, Debug)]
struct Shaper {
    bucket: TokenBucket,
    rate: u64,
    burst: u64,
}

impl Shaper {
    /// `share` is the part of a second whose bits make the burst.
    fn new(rate: u64, share: u64, now: Nanos) -> Shaper {
        let burst = (rate / share).clamp(LEAST_BURST, TokenBucket::MOST);
        Shaper { bucket: TokenBucket::new(rate, burst, now), rate, burst }
    }

    fn of_queue(rate: u64, now: Nanos) -> Shaper {
        Shaper::new(rate, 100, now)
    }

    fn has(&mut self, bytes: usize, now: Nanos) -> bool {
        self.bucket.has(self.cost(bytes), now)
    }

    fn drain(&mut self, bytes: usize, now: Nanos) {
        self.bucket.drain(self.cost(bytes), now);
    }

    fn ready_at(&mut self, bytes: usize, now: Nanos) -> Nanos {
        let cost = self.cost(bytes);
        self.bucket.ready_at(cost, now).unwrap_or(Nanos(u64::MAX))
    }

    fn cost(&self, bytes: usize) -> u64 {
        (bytes as u64 * 8).min(self.burst)
    }
}

/// A queue's frames, rates and counters.
#[derive(Debug)]
struct Queue<F> {
    /// `None`: for frames without a queue.
    id: Option<u32>,
    priority: u32,
    min: Option<Shaper>,
    max: Option<Shaper>,
    /// Each with its length.
    frames: VecDeque<(usize, F)>,
    /// Bytes served for each unit of weight, in 2^-16 bytes, raised to what others had when it began to wait: who has
    /// least goes first.
    served: u64,
    weight: u64,
    tx_packets: u64,
    tx_bytes: u64,
    tx_errors: u64,
    created: Nanos,
}

impl<F> Queue<F> {
    fn new(setup: Option<QueueSetup>, now: Nanos) -> Queue<F> {
        let plain = QueueSetup::new(0);
        let rates = setup.unwrap_or(plain);
        Queue {
            id: setup.map(|s| s.id),
            priority: rates.priority,
            min: (rates.min_rate > 0).then(|| Shaper::of_queue(rates.min_rate, now)),
            max: rates.max_rate.map(|rate| Shaper::of_queue(rate, now)),
            frames: VecDeque::new(),
            served: 0,
            weight: u64::from(rates.weight.max(1)),
            tx_packets: 0,
            tx_bytes: 0,
            tx_errors: 0,
            created: now,
        }
    }

    /// Length of the frame that is next.
    fn head(&self) -> Option<usize> {
        self.frames.front().map(|(len, _)| *len)
    }
}

/// The frames that wait for a port, and the order in which they leave.
#[derive(Debug)]
pub struct Scheduler<F> {
    /// Highest priority first.
    queues: Vec<Queue<F>>,
    link: Option<Shaper>,
    /// Frames in a queue at most.
    capacity: usize,
    waiting: usize,
    /// Where the service of each priority stands: what `served` begins at. In the order of `queues`.
    floor: u64,
}

impl<F> Scheduler<F> {
    /// A scheduler with these queues, each for `capacity` frames at most. With a `link_rate`, in bits per second,
    /// no more than that leaves; without, the caller asks for frames when the port has room.
    pub fn new(link_rate: Option<u64>, setups: &[QueueSetup], capacity: usize, now: Nanos) -> Scheduler<F> {
        let link = link_rate.map(|rate| Shaper::new(rate, 1000, now));
        let mut scheduler = Scheduler { queues: Vec::new(), link, capacity, waiting: 0, floor: 0 };
        scheduler.set_queues(setups, now);
        scheduler
    }

    /// Changes the queues. One that stays keeps its frames and counters; frames of one that goes are without a
    /// queue from now on.
    pub fn set_queues(&mut self, setups: &[QueueSetup], now: Nanos) {
        let mut old = std::mem::take(&mut self.queues);
        let has_default = setups.iter().any(|setup| setup.id == 0);
        let plain = (!has_default).then_some(None);
        for setup in setups.iter().copied().map(Some).chain(plain) {
            let mut queue = Queue::new(setup, now);
            if let Some(at) = old.iter().position(|o| o.id == queue.id) {
                let was = old.swap_remove(at);
                (queue.frames, queue.created) = (was.frames, was.created);
                (queue.tx_packets, queue.tx_bytes, queue.tx_errors) =
                    (was.tx_packets, was.tx_bytes, was.tx_errors);
            }
            queue.served = self.floor;
            self.queues.push(queue);
        }
        // Those of equal priority stay in their order.
        self.queues.sort_by_key(|queue| std::cmp::Reverse(queue.priority));
        let place = self.place(None);
        let homeless = old.into_iter().flat_map(|queue| queue.frames);
        self.queues[place].frames.extend(homeless);
    }

    /// Changes the link's rate, in bits per second.
    pub fn set_link_rate(&mut self, link_rate: Option<u64>, now: Nanos) {
        if self.link.as_ref().map(|link| link.rate) != link_rate {
            self.link = link_rate.map(|rate| Shaper::new(rate, 1000, now));
        }
    }

    /// The queue of a frame: a number that the port hasn't is as good as none.
    fn place(&self, id: Option<u32>) -> usize {
        let find = |id: Option<u32>| self.queues.iter().position(|queue| queue.id == id);
        id.and_then(|id| find(Some(id))).or_else(|| find(None)).or_else(|| find(Some(0))).unwrap_or(0)
    }

    /// Takes a frame of `len` bytes for a queue.
    ///
    /// # Errors
    /// The frame, when the queue is full: it is counted as an error of the queue.
    pub fn enqueue(&mut self, id: Option<u32>, len: usize, frame: F) -> Result<(), F> {
        self.enqueue_within(self.capacity, id, len, frame)
    }

    /// Takes a frame that needs no waiting place, as the link is free and no frame waits for it: [`Scheduler::dequeue`] gives
    /// it back at once, unless its queue has had its maximum rate.
    ///
    /// # Errors
    /// As [`Scheduler::enqueue`], when others of its queue wait.
    pub fn pass(&mut self, id: Option<u32>, len: usize, frame: F) -> Result<(), F> {
        self.enqueue_within(self.capacity.max(1), id, len, frame)
    }

    fn enqueue_within(&mut self, capacity: usize, id: Option<u32>, len: usize, frame: F) -> Result<(), F> {
        let (place, floor) = (self.place(id), self.floor);
        let queue = &mut self.queues[place];
        if queue.frames.len() >= capacity {
            queue.tx_errors += 1;
            return Err(frame);
        }
        if queue.frames.is_empty() {
            queue.served = queue.served.max(floor);
        }
        queue.frames.push_back((len, frame));
        self.waiting += 1;
        Ok(())
    }

    /// The frame that leaves now, if one may.
    pub fn dequeue(&mut self, now: Nanos) -> Option<F> {
        let place = self.choose(now)?;
        let queue = &mut self.queues[place];
        let head = queue.head()?;
        if let Some(link) = &mut self.link {
            if !link.has(head, now) {
                return None;
            }
            link.drain(head, now);
        }
        for shaper in [&mut queue.min, &mut queue.max].into_iter().flatten() {
            shaper.drain(head, now);
        }
        self.floor = self.floor.max(queue.served);
        queue.served += ((head as u64) << 16) / queue.weight;
        queue.tx_packets += 1;
        queue.tx_bytes += head as u64;
        self.waiting -= 1;
        queue.frames.pop_front().map(|(_, frame)| frame)
    }

    /// The queue to serve, by priority, minimum rate and what each was served.
    fn choose(&mut self, now: Nanos) -> Option<usize> {
        let mut best: Option<(bool, u64, usize)> = None;
        let mut priority = None;
        for (place, queue) in self.queues.iter_mut().enumerate() {
            if best.is_some() && priority != Some(queue.priority) {
                break;
            }
            let Some(head) = queue.head() else { continue };
            if queue.max.as_mut().is_some_and(|max| !max.has(head, now)) {
                continue;
            }
            let is_sated = !queue.min.as_mut().is_some_and(|min| min.has(head, now));
            let rank = (is_sated, queue.served, place);
            if best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
            priority = Some(queue.priority);
        }
        best.map(|(_, _, place)| place)
    }

    /// When it is worth asking for a frame again, if none is added: now, later, or never because none waits.
    pub fn next_ready(&mut self, now: Nanos) -> Option<Nanos> {
        if let Some(head) = self.choose(now).and_then(|place| self.queues[place].head()) {
            return Some(self.link.as_mut().map_or(now, |link| link.ready_at(head, now)));
        }
        // All that wait have had their maximum.
        let ready = self.queues.iter_mut().filter_map(|queue| {
            let head = queue.head()?;
            Some(queue.max.as_mut().map_or(now, |max| max.ready_at(head, now)))
        });
        ready.min()
    }

    /// Number of frames that wait.
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Whether no frame waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The queues' counters, by rising number.
    pub fn stats(&self, port_no: PortNo, now: Nanos) -> Vec<QueueStats> {
        let stats = self.queues.iter().filter_map(|queue| {
            let (duration_sec, duration_nsec) = seconds(now - queue.created);
            Some(QueueStats {
                port_no,
                queue_id: queue.id?,
                tx_bytes: queue.tx_bytes,
                tx_packets: queue.tx_packets,
                tx_errors: queue.tx_errors,
                duration_sec,
                duration_nsec,
                ..QueueStats::default()
            })
        });
        let mut stats: Vec<_> = stats.collect();
        stats.sort_by_key(|s| s.queue_id);
        stats
    }

    /// Whether any queue was set up: without, frames leave as they came and need no scheduler.
    pub fn has_queues(&self) -> bool {
        self.queues.iter().any(|queue| queue.id.is_some())
    }
}
