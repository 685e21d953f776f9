//! The way of a message, to the picosecond.

use super::*;
use crate::model::Distribution;

const fn ns(n: u64) -> Picos {
    Picos::from_nanos(n)
}

fn path(model: PathModel) -> Path<u32> {
    Path::new(&model, 1, "test")
}

/// When what is in it comes out, in order.
fn out(path: &mut Path<u32>) -> Vec<Picos> {
    let mut times = Vec::new();
    for n in 0.. {
        let at = path.next();
        if at == Picos::MAX {
            break;
        }
        assert_eq!((path.pop(Picos(at.0 - 1)), path.pop(at)), (None, Some(n)));
        times.push(at);
    }
    times
}

#[test]
fn service_and_latency_have_a_part_for_each_byte_and_messages_stay_in_order() {
    let mut path = path(PathModel {
        service: Distribution::constant(10.0),
        per_byte_ns: 0.5,
        latency: Distribution::constant(3.0),
        latency_per_byte_ns: 0.25,
        ..PathModel::default()
    });
    for (n, bytes) in (0..).zip([100, 7, 101]) {
        assert!(path.has_room(Picos::ZERO));
        path.push(Picos::ZERO, bytes, n, None);
    }
    // Served until 60, 73.5 and 134 ns; 28, 4.75 and 28.25 ns behind that. The second waits for the first.
    assert_eq!(out(&mut path), [Picos(88_000), Picos(88_000), Picos(162_250)]);
}

#[test]
fn latency_may_overlap_the_service() {
    for (overlap, expected) in [(false, [130, 230, 1130]), (true, [30, 130, 1030])] {
        let (service, latency) = (Distribution::constant(100.0), Distribution::constant(30.0));
        let mut path = path(PathModel { service, latency, overlap, ..PathModel::default() });
        for (n, at) in [(0, 0), (1, 0), (2, 1000)] {
            path.push(ns(at), 60, n, None);
        }
        assert_eq!(out(&mut path), expected.map(ns), "overlap {overlap}");
    }
}

#[test]
fn places_are_of_those_that_wait() {
    let service = Distribution::constant(100.0);
    let mut path = path(PathModel { service, messages: Some(1), ..PathModel::default() });
    path.push(Picos::ZERO, 60, 0, None);
    assert!(path.has_room(Picos::ZERO));
    path.push(Picos::ZERO, 60, 1, None);
    assert!(!path.has_room(Picos(99_999)));
    assert_eq!(path.room_at(), ns(100));
    assert!(path.has_room(ns(100)));
}

#[test]
fn room_in_bytes_counts_those_that_wait_with_their_overhead() {
    let service = Distribution::constant(1000.0);
    let mut path = path(PathModel { service, bytes: Some(100), bytes_overhead: 40, ..PathModel::default() });
    // The first is served at once; 99 bytes wait, then 199: the last that fits may exceed the room.
    for (n, bytes) in [(0, 60), (1, 59), (2, 60)] {
        assert!(path.has_room(Picos::ZERO), "{n}");
        path.push(Picos::ZERO, bytes, n, None);
    }
    assert!(!path.has_room(Picos(999_999)));
    assert_eq!(path.room_at(), ns(1000));
    // 100 bytes wait: still none.
    assert!(!path.has_room(ns(1000)));
    assert_eq!(path.room_at(), ns(2000));
    assert!(path.has_room(ns(2000)));
}

#[test]
fn buffers_are_held_for_their_time() {
    let mut path = path(PathModel { buffers: Some(2), buffer_hold_ns: 500.5, ..PathModel::default() });
    path.push(ns(0), 60, 0, None);
    path.push(ns(100), 60, 1, None);
    assert!(!path.has_room(Picos(500_499)));
    assert_eq!(path.room_at(), Picos(500_500));
    assert!(path.has_room(Picos(500_500)));
    path.push(Picos(500_500), 60, 2, None);
    assert!(!path.has_room(Picos(600_499)));
    assert!(path.has_room(Picos(600_500)));
    path.clear();
    path.push(ns(601), 60, 3, None);
    assert!(path.has_room(ns(601)));
}

#[test]
fn room_comes_about_when_everything_that_lacks_is_there() {
    let service = Distribution::constant(100.0);
    let model = PathModel {
        service,
        messages: Some(0),
        buffers: Some(1),
        buffer_hold_ns: 300.0,
        ..PathModel::default()
    };
    let mut path = path(model);
    path.push(ns(0), 60, 0, None);
    assert!(!path.has_room(ns(0)));
    assert_eq!(path.room_at(), ns(300));
    assert!(!path.has_room(Picos(299_999)));
    assert!(path.has_room(ns(300)));
}

#[test]
fn a_share_of_a_processor_occupies_for_longer_and_is_told_of() {
    let (service, latency) = (Distribution::constant(100.0), Distribution::constant(7.0));
    let mut path = path(PathModel { service, latency, ..PathModel::default() });
    path.push(ns(50), 60, 0, Some(0.3));
    path.push(ns(50), 60, 1, Some(0.3));
    path.push(ns(50), 60, 2, None);
    let second = Picos(50_000 + 333_333);
    assert_eq!((path.begun(Picos(49_999)), path.begun(ns(50))), (None, Some(ns(100))));
    assert_eq!((path.begins(), path.begun(Picos(second.0 - 1))), (second, None));
    assert_eq!((path.begun(second), path.begins()), (Some(ns(100)), Picos::MAX));
    let third = second + Picos(333_333);
    assert_eq!(out(&mut path), [ns(157), second + ns(107), third + ns(107)]);
}
