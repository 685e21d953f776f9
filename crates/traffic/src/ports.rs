//! The ports of a transmission: one handle for each of their queues, dealt out to workers.

use flowgauge_ports::Port;

use crate::stream::Stream;

/// Ports, each with a handle for each of its queues. A list of handles is as many ports of one queue.
pub struct Ports {
    handles: Vec<Box<dyn Port>>,
    /// To which port each handle belongs, ascending from 0.
    owners: Vec<usize>,
}

/// One queue of a port.
pub(crate) struct Queue {
    /// Position of its port among all.
    pub port: usize,
    /// Position of its handle among all, as they were given.
    pub number: usize,
    /// Its handle.
    pub handle: Box<dyn Port>,
}

impl From<Vec<Box<dyn Port>>> for Ports {
    fn from(handles: Vec<Box<dyn Port>>) -> Ports {
        Ports { owners: (0..handles.len()).collect(), handles }
    }
}

impl Ports {
    /// Ports of which the first has the first handles, as many as `queues` says, and so on. Panics when that is not all of
    /// them, or a port has none.
    pub fn with_queues(handles: Vec<Box<dyn Port>>, queues: &[usize]) -> Ports {
        assert!(queues.iter().all(|&n| n > 0), "each port has a queue");
        let owners: Vec<_> =
            queues.iter().enumerate().flat_map(|(port, &n)| std::iter::repeat_n(port, n)).collect();
        assert_eq!(owners.len(), handles.len(), "each handle belongs to a port");
        Ports { handles, owners }
    }

    /// How many ports there are.
    pub fn count(&self) -> usize {
        self.owners.last().map_or(0, |last| last + 1)
    }

    /// The handles of all, port by port.
    pub fn into_handles(self) -> Vec<Box<dyn Port>> {
        self.handles
    }

    /// How many queues each port has.
    pub fn queues(&self) -> Vec<usize> {
        self.owners.chunk_by(|a, b| a == b).map(<[usize]>::len).collect()
    }

    /// The port that each handle belongs to.
    pub(crate) fn owners(&self) -> &[usize] {
        &self.owners
    }

    /// How many handles there are.
    pub(crate) fn handles(&self) -> usize {
        self.handles.len()
    }

    /// A handle of a port.
    pub(crate) fn first(&self, port: usize) -> Option<&dyn Port> {
        let number = self.owners.iter().position(|&owner| owner == port)?;
        Some(&*self.handles[number])
    }

    /// The first handle of a port that is there.
    pub(crate) fn first_mut(&mut self, port: usize) -> &mut dyn Port {
        let number = self.owners.partition_point(|&owner| owner < port);
        &mut *self.handles[number]
    }

    /// Each handle, and the port that it belongs to.
    pub(crate) fn each_queue(&mut self) -> impl Iterator<Item = (usize, &mut Box<dyn Port>)> {
        self.owners.iter().copied().zip(&mut self.handles)
    }

    /// The handle that sends each stream: all its frames leave by one queue, so that they stay in order; the streams of a
    /// port take its queues in turn.
    pub(crate) fn senders(&self, streams: &[Stream]) -> Vec<Option<usize>> {
        let mut given = vec![0; self.count()];
        let mut sender = |stream: &Stream| {
            let port = stream.tx_port?;
            let first = self.owners.iter().position(|&owner| owner == port)?;
            let queues = self.owners.iter().filter(|&&owner| owner == port).count();
            given[port] += 1;
            Some(first + (given[port] - 1) % queues)
        };
        streams.iter().map(&mut sender).collect()
    }

    /// The queues in equal shares for so many workers: the first queue of each port, then the second of each that has one,
    /// and so on, so that a worker that has several both sends and receives.
    pub(crate) fn dealt(self, workers: usize) -> Vec<Vec<Queue>> {
        let mut before = vec![0; self.count()];
        let mut queues: Vec<_> = (self.handles.into_iter().zip(self.owners).enumerate())
            .map(|(number, (handle, port))| {
                before[port] += 1;
                (before[port], Queue { port, number, handle })
            })
            .collect();
        queues.sort_by_key(|&(place, _)| place);
        let all = queues.len();
        let mut queues = queues.into_iter().map(|(_, queue)| queue);
        let share = |worker: usize| all * (worker + 1) / workers - all * worker / workers;
        (0..workers).map(|worker| queues.by_ref().take(share(worker)).collect()).collect()
    }
}

/// Which set of accounts each queue's arrivals go to: the first queue of each port to set 0, the second to set 1, and so on.
pub(crate) fn sets(queues: &[Queue]) -> Vec<usize> {
    let earlier = |i: usize| queues[..i].iter().filter(|other| other.port == queues[i].port).count();
    (0..queues.len()).map(earlier).collect()
}

#[cfg(test)]
mod tests {
    use flowgauge_measure::Schedule;
    use flowgauge_packet::{FlowSet, FrameTemplate, Payload};
    use flowgauge_ports::ring;

    use super::*;
    use crate::Stop;

    fn ports(queues: &[usize]) -> Ports {
        let handles = (0..queues.iter().sum()).map(|_| Box::new(ring::pair(2).0) as Box<dyn Port>);
        Ports::with_queues(handles.collect(), queues)
    }

    fn dealt(queues: &[usize], workers: usize) -> Vec<Vec<(usize, usize)>> {
        let place = |queue: &Queue| (queue.port, queue.number);
        ports(queues).dealt(workers).iter().map(|share| share.iter().map(place).collect()).collect()
    }

    #[test]
    fn each_worker_has_a_queue_of_each_port() {
        assert_eq!(dealt(&[2, 2], 2), [[(0, 0), (1, 2)], [(0, 1), (1, 3)]]);
        assert_eq!(dealt(&[2, 2], 4), [[(0, 0)], [(1, 2)], [(0, 1)], [(1, 3)]]);
        assert_eq!(dealt(&[3, 1], 2), [[(0, 0), (1, 3)], [(0, 1), (0, 2)]]);
    }

    #[test]
    fn ports_of_one_queue_stay_in_their_order() {
        assert_eq!(dealt(&[1, 1, 1], 2), [vec![(0, 0)], vec![(1, 1), (2, 2)]]);
        assert_eq!(dealt(&[], 1), [[]]);
    }

    #[test]
    fn streams_take_the_queues_of_their_port_in_turn() {
        let template = FrameTemplate::new(&FlowSet::new(1, vec![]).unwrap(), 64, Payload::Zero).unwrap();
        let template = std::sync::Arc::new(template);
        let from =
            |port| Stream::new(0, port, std::sync::Arc::clone(&template), Schedule::Max, Stop::Count(1));
        let streams = [Some(1), Some(0), Some(1), None, Some(1), Some(0)].map(from);
        let expected = [Some(1), Some(0), Some(2), None, Some(1), Some(0)];
        assert_eq!(ports(&[1, 2]).senders(&streams), expected);
    }
}
