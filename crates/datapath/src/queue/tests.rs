//! The scheduler's promises: priority, minimum and maximum rates, no idle link, exact counters.

use super::*;
use flowgauge_clock::Nanos;
use flowgauge_openflow::PortNo;
use proptest::prelude::*;

const LINK: u64 = 20_000_000;
/// Longer than any burst matters.
const SPAN: Nanos = Nanos::from_secs(2);

/// Keeps these queues filled with frames of these lengths and serves the link for [`SPAN`]; gives each queue's
/// bits per second.
fn saturated(setups: &[QueueSetup], lens: &[usize]) -> Vec<u64> {
    let mut scheduler = Scheduler::new(Some(LINK), setups, 200, Nanos::ZERO);
    let mut now = Nanos::ZERO;
    while now < SPAN {
        for (setup, &len) in setups.iter().zip(lens) {
            while scheduler.enqueue(Some(setup.id), len, setup.id).is_ok() {}
        }
        while scheduler.dequeue(now).is_some() {}
        let next = scheduler.next_ready(now).expect("queues are filled");
        assert!(next > now, "it said that nothing may leave");
        now = next;
    }
    let stats = scheduler.stats(PortNo(1), SPAN);
    setups
        .iter()
        .map(|s| stats.iter().find(|q| q.queue_id == s.id).map_or(0, |q| q.tx_bytes * 8 / 2))
        .collect()
}

fn close(got: u64, wanted: u64) -> bool {
    got.abs_diff(wanted) <= LINK / 50
}

#[test]
fn higher_priority_goes_first_and_takes_all() {
    let low = QueueSetup { min_rate: LINK / 2, ..QueueSetup::new(1) };
    let high = QueueSetup { priority: 1, ..QueueSetup::new(2) };
    let rates = saturated(&[low, high], &[1500, 60]);
    assert_eq!(rates[0], 0);
    assert!(close(rates[1], LINK), "{rates:?}");
    let bounded = QueueSetup { max_rate: Some(LINK / 5), ..high };
    let rates = saturated(&[low, bounded], &[1500, 60]);
    assert!(close(rates[0], LINK / 5 * 4) && close(rates[1], LINK / 5), "{rates:?}");
}

#[test]
fn minimum_rates_are_kept_and_the_rest_is_shared() {
    let queue = |id, share: u64| QueueSetup { min_rate: LINK / 100 * share, ..QueueSetup::new(id) };
    let rates = saturated(&[queue(1, 60), queue(2, 10), queue(3, 0)], &[1500, 1500, 60]);
    for (rate, wanted) in rates.iter().zip([60, 20, 20]) {
        assert!(close(*rate, LINK / 100 * wanted), "{rates:?}");
    }
    let equal = saturated(&[queue(1, 0), queue(2, 0)], &[1500, 60]);
    assert!(close(equal[0], LINK / 2) && close(equal[1], LINK / 2), "{equal:?}");
}

#[test]
fn weights_share_what_is_not_promised() {
    let queue = |id, weight| QueueSetup { weight, ..QueueSetup::new(id) };
    let rates = saturated(&[queue(1, 1), queue(2, 3)], &[1500, 60]);
    assert!(close(rates[0], LINK / 4) && close(rates[1], LINK / 4 * 3), "{rates:?}");
}

#[test]
fn frames_without_a_queue_have_one() {
    let mut plain = Scheduler::new(None, &[QueueSetup::new(3)], 1, Nanos::ZERO);
    assert_eq!(plain.enqueue(None, 60, 'a'), Ok(()));
    assert_eq!(plain.enqueue(Some(9), 60, 'b'), Err('b'), "it is full, and counts for no queue");
    assert_eq!(plain.enqueue(Some(3), 60, 'c'), Ok(()));
    assert_eq!(plain.enqueue(Some(3), 60, 'd'), Err('d'));
    assert_eq!((plain.dequeue(Nanos::ZERO), plain.dequeue(Nanos::ZERO)), (Some('c'), Some('a')));
    let told = plain.stats(PortNo(4), Nanos::from_millis(1500));
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].tx_packets, told[0].tx_bytes, told[0].tx_errors), (1, 60, 1));
    assert_eq!((told[0].duration_sec, told[0].duration_nsec), (1, 500_000_000));

    let mut zero = Scheduler::new(None, &[QueueSetup::new(0)], 10, Nanos::ZERO);
    assert_eq!(zero.enqueue(None, 70, 'a'), Ok(()));
    assert_eq!(zero.dequeue(Nanos::ZERO), Some('a'));
    assert_eq!(zero.stats(PortNo(4), Nanos::ZERO)[0].tx_bytes, 70);
}

#[test]
fn queues_change_and_lose_no_frame() {
    let mut scheduler = Scheduler::new(None, &[QueueSetup::new(1), QueueSetup::new(2)], 10, Nanos::ZERO);
    for (queue, frame) in [(1, 'a'), (2, 'b'), (2, 'c')] {
        scheduler.enqueue(Some(queue), 60, frame).unwrap();
    }
    scheduler.set_queues(&[QueueSetup { priority: 1, ..QueueSetup::new(2) }], Nanos::from_secs(1));
    let left: Vec<char> = std::iter::from_fn(|| scheduler.dequeue(Nanos::from_secs(1))).collect();
    assert_eq!(left, ['b', 'c', 'a']);
    assert_eq!(scheduler.stats(PortNo(1), Nanos::from_secs(1))[0].duration_sec, 1, "it stayed");
    assert!(scheduler.is_empty() && scheduler.next_ready(Nanos::ZERO).is_none());
}

fn setups() -> impl Strategy<Value = Vec<QueueSetup>> {
    let queue = (0u64..4, prop::option::of(1u64..50), 0u32..3).prop_map(|(min, max, priority)| {
        // Minimum rates that fit the link and the maximum.
        let min_rate = min.min(max.unwrap_or(4)) * LINK / 20;
        QueueSetup { id: 0, min_rate, max_rate: max.map(|m| m * LINK / 20), priority, weight: 1 }
    });
    prop::collection::vec(queue, 1..5).prop_map(|mut queues| {
        queues.iter_mut().zip(0..).for_each(|(queue, id)| queue.id = id);
        queues
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With all queues full: the link is filled as far as maximum rates let it; no maximum is exceeded; minima
    /// are kept unless a higher priority takes the link; a lower priority gets only what the higher leaves.
    #[test]
    fn promises_are_kept_when_all_queues_are_full(
        setups in setups(),
        lens in prop::collection::vec(prop_oneof![Just(60usize), 60usize..1514], 5),
    ) {
        let rates = saturated(&setups, &lens);
        let most = |s: &QueueSetup| s.max_rate.unwrap_or(LINK).min(LINK);
        let total: u64 = rates.iter().sum();
        let wanted = setups.iter().map(most).sum::<u64>().min(LINK);
        prop_assert!(close(total, wanted), "{total} of {wanted}: {rates:?}");
        let mut priorities: Vec<u32> = setups.iter().map(|s| s.priority).collect();
        priorities.sort_unstable_by(|a, b| b.cmp(a));
        priorities.dedup();
        let mut left = LINK;
        for priority in priorities {
            let level: Vec<usize> = (0..setups.len()).filter(|&i| setups[i].priority == priority).collect();
            let sum = |f: &dyn Fn(usize) -> u64| level.iter().map(|&i| f(i)).sum::<u64>();
            let got = sum(&|i| rates[i]);
            prop_assert!(close(got, sum(&|i| most(&setups[i])).min(left)), "priority {priority}: {rates:?}");
            let minima = sum(&|i| setups[i].min_rate);
            for &i in &level {
                prop_assert!(rates[i] <= most(&setups[i]) + LINK / 50);
                if minima <= left {
                    prop_assert!(rates[i] + LINK / 50 >= setups[i].min_rate, "{rates:?}");
                }
            }
            left = left.saturating_sub(got);
        }
    }

    /// Any arrivals: frames of a queue leave in their order, nothing is lost but what was refused, and a frame
    /// never leaves while one of higher priority waits that has no maximum rate.
    #[test]
    fn order_is_kept_and_counters_are_exact(
        steps in prop::collection::vec((prop::option::of(0u32..4), 60usize..1500, any::<bool>()), 1..200),
    ) {
        let setups: Vec<_> = (1..4).map(|id| QueueSetup { priority: id, ..QueueSetup::new(id) }).collect();
        let mut scheduler = Scheduler::new(None, &setups, 5, Nanos::ZERO);
        let mut waiting: Vec<Vec<(usize, usize)>> = vec![vec![]; 4];
        let (mut sent, mut refused) = (vec![(0u64, 0u64); 4], vec![0u64; 4]);
        for (number, (queue, len, leave)) in steps.into_iter().enumerate() {
            let place = queue.unwrap_or(0) as usize;
            match scheduler.enqueue(queue, len, (place, number)) {
                Ok(()) => waiting[place].push((number, len)),
                Err(_) => refused[place] += 1,
            }
            prop_assert!(waiting[place].len() <= 5);
            if leave {
                let wanted = (0..4).rev().find(|&p| !waiting[p].is_empty());
                let got = scheduler.dequeue(Nanos::ZERO);
                prop_assert_eq!(got.map(|(place, _)| place), wanted);
                if let Some((place, number)) = got {
                    let (first, len) = waiting[place].remove(0);
                    prop_assert_eq!(first, number);
                    sent[place] = (sent[place].0 + 1, sent[place].1 + len as u64);
                }
            }
            prop_assert_eq!(scheduler.len(), waiting.iter().map(Vec::len).sum::<usize>());
        }
        for told in scheduler.stats(PortNo(1), Nanos::ZERO) {
            let place = told.queue_id as usize;
            prop_assert_eq!((told.tx_packets, told.tx_bytes), sent[place]);
            prop_assert_eq!(told.tx_errors, refused[place]);
        }
    }
}
