//! The account against a naive oracle, under random losses, copies, delays and orders.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::FlowOrder;

#[derive(Clone, Debug)]
enum Event {
    Send,
    /// The n-th frame sent so far, modulo that number, arrives after a delay.
    Arrive(u64, u64),
    /// A sequence number that was not sent yet arrives.
    Bogus(u64),
    Damaged,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        5 => Just(Event::Send),
        6 => (any::<u64>(), 0..1_000_000u64).prop_map(|(n, delay)| Event::Arrive(n, delay)),
        1 => (0..5u64).prop_map(Event::Bogus),
        1 => Just(Event::Damaged),
    ];
    prop::collection::vec(event, 0..400)
}

/// Keeps everything that happened and computes from that.
#[derive(Default)]
struct Oracle {
    sent: Vec<u64>,
    firsts: Vec<(u64, u64)>,
    copies: u64,
    damaged: u64,
}

impl Oracle {
    fn counters(&self, stop: u64) -> Counters {
        let mut reordered = 0;
        for (i, (seq, _)) in self.firsts.iter().enumerate() {
            reordered += self.firsts[..i].iter().any(|(earlier, _)| earlier > seq) as u64;
        }
        let received = self.firsts.iter().map(|f| f.0).collect::<HashSet<_>>().len() as u64;
        Counters {
            sent: self.sent.len() as u64,
            received,
            lost: self.sent.len() as u64 - received,
            duplicated: self.copies,
            reordered,
            late: self.firsts.iter().filter(|f| f.1 > stop).count() as u64,
            corrupt: self.damaged,
        }
    }
}

proptest! {
    #[test]
    fn agrees_with_the_oracle(events in events(), flows in 1u32..6, stop in 0..500_000u64) {
        let order = FlowOrder::Sequential;
        let options = AccountOptions { expected: 500, flows, order, record: 20, ..Default::default() };
        let mut account = Account::new(options);
        let mut oracle = Oracle::default();
        account.set_stop(Nanos(stop));
        let mut now = 0;
        for event in &events {
            now += 1_000;
            match *event {
                Event::Send => {
                    account.sent(Nanos(now));
                    oracle.sent.push(now);
                }
                Event::Arrive(_, _) if oracle.sent.is_empty() => {}
                Event::Arrive(n, delay) => {
                    let seq = n % oracle.sent.len() as u64;
                    let left = oracle.sent[seq as usize];
                    let first = !oracle.firsts.iter().any(|f| f.0 == seq);
                    let found = account.arrived(seq, Nanos(left), Nanos(left + delay));
                    prop_assert_eq!(found, if first { Arrival::First } else { Arrival::Duplicate });
                    if first { oracle.firsts.push((seq, left + delay)) } else { oracle.copies += 1 }
                }
                Event::Bogus(ahead) => {
                    let seq = oracle.sent.len() as u64 + ahead;
                    prop_assert_eq!(account.arrived(seq, Nanos(0), Nanos(now)), Arrival::NeverSent);
                    oracle.damaged += 1;
                }
                Event::Damaged => {
                    account.corrupt();
                    oracle.damaged += 1;
                }
            }
        }
        let counters = account.counters();
        prop_assert_eq!(counters, oracle.counters(stop));
        prop_assert_eq!(counters.sent, counters.received + counters.lost);
        check_records(&account, &oracle, flows)?;
    }
}

fn check_records(account: &Account, oracle: &Oracle, flows: u32) -> Result<(), TestCaseError> {
    prop_assert_eq!(account.departures(), &oracle.sent[..oracle.sent.len().min(20)]);
    let kept: Vec<_> =
        oracle.firsts.iter().take(20).map(|&(s, at)| [s, oracle.sent[s as usize], at]).collect();
    prop_assert_eq!(account.arrivals(), &kept[..]);
    prop_assert_eq!(account.latency().count(), oracle.firsts.len() as u64);
    prop_assert_eq!(
        account.windows().slices().iter().map(|w| w.count).sum::<u64>(),
        oracle.firsts.len() as u64
    );
    // Once all flows were seen nothing is compared any more, so with arrivals out of order the first seen counts.
    let mut firsts: HashMap<u64, u64> = HashMap::new();
    for &(seq, at) in &oracle.firsts {
        let flow = seq % flows as u64;
        if firsts.len() < flows as usize {
            firsts.entry(flow).and_modify(|f| *f = at.min(*f)).or_insert(at);
        }
    }
    for (flow, first) in account.first_arrivals().enumerate() {
        prop_assert_eq!(first, firsts.get(&(flow as u64)).map(|&at| Nanos(at)));
    }
    Ok(())
}

proptest! {
    #[test]
    fn accounts_of_several_queues_make_the_account_of_one(
        sent in 1..300u64,
        arrivals in prop::collection::vec((any::<u64>(), 0..4usize), 0..600),
    ) {
        let new = |sent_here| {
            Account::new(AccountOptions { expected: sent, sent_here, flows: 7, record: 1000, ..Default::default() })
        };
        let (mut one, mut queues) = (new(true), [true, false, false, false].map(new));
        one.sent_n(Nanos(1), sent);
        queues[0].sent_n(Nanos(1), sent);
        for (&(seq, queue), at) in arrivals.iter().zip(10..) {
            one.arrived(seq % sent, Nanos(1), Nanos(at));
            queues[queue].arrived(seq % sent, Nanos(1), Nanos(at));
        }
        queues[1..].iter_mut().for_each(|account| account.set_sent(sent));
        let reordered = queues.iter().map(|account| account.counters().reordered).sum();
        let [mut merged, others @ ..] = queues;
        others.iter().for_each(|account| merged.merge(account));
        prop_assert_eq!(merged.counters(), Counters { reordered, ..one.counters() });
        prop_assert!(merged.first_arrivals().eq(one.first_arrivals()));
    }
}

#[test]
fn a_stream_that_somebody_else_sends_grows_and_is_told_the_count() {
    let mut account = Account::new(AccountOptions { sent_here: false, ..Default::default() });
    assert_eq!(account.arrived(70_000, Nanos(5), Nanos(9)), Arrival::First);
    assert_eq!(account.arrived(70_000, Nanos(5), Nanos(9)), Arrival::Duplicate);
    assert_eq!(account.arrived(1 << 40, Nanos(5), Nanos(9)), Arrival::NeverSent);
    account.set_sent(80_000);
    assert_eq!((account.counters().lost, account.counters().corrupt), (79_999, 1));
    account.set_sent(3);
    assert_eq!(account.counters().sent, 70_001, "what arrived was sent");
}

#[test]
fn the_first_copy_gives_the_delay() {
    let mut account = Account::new(AccountOptions { expected: 1, ..Default::default() });
    account.sent(Nanos(100));
    account.arrived(0, Nanos(100), Nanos(150));
    account.arrived(0, Nanos(100), Nanos(900));
    assert_eq!((account.latency().count(), account.latency().max_ns()), (1, Some(50)));
}
