//! Jobs inside the I/O loop, and the end of their connection.

mod common;

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use common::{SOON, raw_switch};
use flowgauge_channel::{ChannelError, Config, Connection, Job, JobIo, Next};
use flowgauge_clock::Nanos;

/// Waits for the connection's end, and tells what it then heard, and what the connection's holders see at that moment.
struct Witness {
    connection: Connection,
    heard: Sender<(ChannelError, Option<ChannelError>)>,
}

impl Job for Witness {
    fn turn(&mut self, _: &mut dyn JobIo) -> Next {
        Next::Received
    }

    fn received(&mut self, _: &[u8], _: Nanos) -> bool {
        false
    }

    fn ended(&mut self, why: &ChannelError, _: u64) {
        self.heard.send((why.clone(), self.connection.ended())).unwrap();
    }
}

#[test]
fn what_hears_of_the_end_from_a_job_finds_the_connection_ended() {
    let (_listening, connection, peer) = raw_switch(Config::controller());
    let (heard, hearing) = channel();
    connection.start_job(Box::new(Witness { connection: connection.clone(), heard }));
    assert!(hearing.recv_timeout(Duration::from_millis(20)).is_err());
    drop(peer);
    let (why, seen) = hearing.recv_timeout(SOON).unwrap();
    assert_eq!(seen, Some(why));
}

#[test]
fn jobs_that_are_started_while_the_connection_ends_hear_of_it() {
    for _ in 0..50 {
        let (_listening, connection, peer) = raw_switch(Config::controller());
        let (heard, hearing) = channel();
        let closing = std::thread::spawn(move || drop(peer));
        let mut started = 0;
        while connection.ended().is_none() && started < 10_000 {
            connection.start_job(Box::new(Witness { connection: connection.clone(), heard: heard.clone() }));
            started += 1;
        }
        closing.join().unwrap();
        for _ in 0..started {
            hearing.recv_timeout(SOON).unwrap();
        }
    }
}
