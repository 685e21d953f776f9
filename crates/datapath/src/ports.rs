//! The ports as the pipeline sees them: where frames may come from and go to.

use crate::id_map::IdMap;
use crate::queue::QueueSetup;

/// A port as the pipeline sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRule {
    /// Its OpenFlow number.
    pub number: u32,
    /// Whether FLOOD, and NORMAL's flooding, include it.
    pub flood: bool,
    /// Whether fast failover and select groups may use it.
    pub live: bool,
    /// Whether frames that arrive on it are dropped.
    pub no_recv: bool,
    /// Whether frames that are sent to it are dropped.
    pub no_fwd: bool,
    /// Whether its frames that match nothing are kept from the controller.
    pub no_packet_in: bool,
}

impl PortRule {
    /// A port that is up and does everything.
    pub const fn new(number: u32) -> PortRule {
        PortRule { number, flood: true, live: true, no_recv: false, no_fwd: false, no_packet_in: false }
    }

    fn is_restricted(&self) -> bool {
        self.no_recv || self.no_fwd || self.no_packet_in
    }
}

/// All ports and the queues that they have.
#[derive(Debug, Default)]
pub struct Ports {
    rules: Vec<PortRule>,
    /// Index in `rules`.
    by_number: IdMap<usize>,
    queues: IdMap<Vec<QueueSetup>>,
    /// Whether any port drops anything: most switches never ask.
    is_restricted: bool,
}

impl Ports {
    /// These ports, without queues.
    pub fn new(rules: Vec<PortRule>) -> Ports {
        let mut ports = Ports::default();
        rules.into_iter().for_each(|rule| ports.set(rule));
        ports
    }

    /// All ports.
    pub fn rules(&self) -> &[PortRule] {
        &self.rules
    }

    /// The port of that number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&PortRule> {
        self.rules.get(*self.by_number.get(&number)?)
    }

    /// Adds a port, or changes what is known of it.
    pub fn set(&mut self, rule: PortRule) {
        match self.by_number.get(&rule.number) {
            Some(&at) => self.rules[at] = rule,
            None => {
                self.by_number.insert(rule.number, self.rules.len());
                self.rules.push(rule);
            }
        }
        self.is_restricted = self.rules.iter().any(PortRule::is_restricted);
    }

    /// Forgets a port and its queues.
    pub fn remove(&mut self, number: u32) {
        self.rules.retain(|rule| rule.number != number);
        self.by_number = self.rules.iter().enumerate().map(|(at, rule)| (rule.number, at)).collect();
        self.queues.remove(&number);
        self.is_restricted = self.rules.iter().any(PortRule::is_restricted);
    }

    /// Whether a port is there and live.
    pub fn is_live(&self, number: u32) -> bool {
        self.get(number).is_some_and(|rule| rule.live)
    }

    /// Whether a port has that restriction.
    #[inline]
    pub fn any(&self, number: u32, restriction: impl Fn(&PortRule) -> bool) -> bool {
        self.is_restricted && self.get(number).is_some_and(restriction)
    }

    /// Says which queues a port has.
    pub fn set_queues(&mut self, port: u32, queues: Vec<QueueSetup>) {
        self.queues.insert(port, queues);
    }

    /// The queues of a port.
    pub fn queues(&self, port: u32) -> &[QueueSetup] {
        self.queues.get(&port).map_or(&[], Vec::as_slice)
    }

    /// Whether a port has that queue; with no port named, whether any has.
    pub fn has_queue(&self, port: Option<u32>, queue: u32) -> bool {
        let in_port = |number: u32| self.queues(number).iter().any(|q| q.id == queue);
        port.map_or_else(|| self.queues.keys().any(|&number| in_port(number)), in_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_change_and_go() {
        let mut ports = Ports::new(vec![PortRule::new(1), PortRule::new(2)]);
        assert!(ports.is_live(1) && !ports.is_live(3));
        ports.set(PortRule { live: false, no_fwd: true, ..PortRule::new(1) });
        assert!(!ports.is_live(1) && ports.any(1, |p| p.no_fwd) && !ports.any(2, |p| p.no_fwd));
        ports.set_queues(2, vec![QueueSetup::new(7)]);
        assert!(ports.has_queue(None, 7) && ports.has_queue(Some(2), 7) && !ports.has_queue(Some(1), 7));
        ports.remove(1);
        assert_eq!(ports.get(2).map(|p| p.number), Some(2));
        assert!(ports.get(1).is_none());
    }
}
