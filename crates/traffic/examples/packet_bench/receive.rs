//! Receiving with full accounting: probes of any nonce count as ours, so that any sender of them will do.

use std::sync::atomic::{AtomicBool, Ordering};

use flowgauge_clock::{Clock, Nanos};
use flowgauge_measure::{Account, AccountOptions, Probe};
use flowgauge_ports::Burst;

use crate::arguments::{Arguments, Result};

static ENDED: AtomicBool = AtomicBool::new(false);

extern "C" fn ended(_: libc::c_int) {
    ENDED.store(true, Ordering::Relaxed);
}

/// Counts every frame that arrives, until the time is over or SIGTERM comes.
pub fn receive(arguments: &Arguments) -> Result<()> {
    let mut port = arguments.open(1, true)?;
    let length = arguments.seconds(2)?;
    // SAFETY: the handler only stores a flag.
    unsafe { libc::signal(libc::SIGTERM, ended as *const () as libc::sighandler_t) };
    let mut counter = Counter::new(arguments.cores.first().copied());
    let (mut burst, begun) = (Burst::new(), Clock.now());
    let before = port.stats();
    let end = begun + length;
    let mut turns = 0u32;
    loop {
        let n = port.rx(&mut burst, 64)?;
        let now = Clock.now();
        burst.iter().for_each(|slot| counter.frame(slot.bytes(), slot.stamp().unwrap_or(now)));
        port.free(&mut burst);
        turns = turns.wrapping_add(1);
        if n == 0 {
            // The ring lasts a thousand times longer; the sender needs the machine more.
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        if (n == 0 || turns % 64 == 0) && (Clock.now() >= end || ENDED.load(Ordering::Relaxed)) {
            break;
        }
    }
    let stats = port.stats().since(before);
    println!(
        "{{\"received\": {}, \"dropped\": {}, \"seconds\": {:.6}, {}}}",
        stats.rx_frames,
        stats.rx_dropped,
        (Clock.now() - begun).as_secs_f64(),
        counter.json()
    );
    Ok(())
}

/// Full accounting of whatever probes arrive.
struct Counter {
    account: Account,
    foreign: u64,
    first: Option<(Nanos, Nanos)>,
}

impl Counter {
    fn new(core: Option<usize>) -> Counter {
        if let Some(core) = core {
            // SAFETY: all zeros is an empty set, which outlives the call.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(core, &mut set);
                libc::sched_setaffinity(0, size_of_val(&set), &set);
            }
        }
        let options = AccountOptions { expected: 1 << 24, sent_here: false, ..Default::default() };
        Counter { account: Account::new(options), foreign: 0, first: None }
    }

    /// Delays are counted from the first frame's, as the sender's origin is not known here.
    #[inline]
    fn frame(&mut self, frame: &[u8], at: Nanos) {
        match frame.get(42..).map(Probe::read) {
            Some(Ok(probe)) => {
                let (left, arrived) = *self.first.get_or_insert((probe.time, at));
                let left = arrived + Nanos::from_millis(1) + (probe.time - left);
                self.account.arrived(probe.seq, left, at + Nanos::from_millis(1));
            }
            Some(Err(_)) | None => self.foreign += 1,
        }
    }

    fn json(&mut self) -> String {
        self.account.set_sent(0);
        let c = self.account.counters();
        format!(
            "\"probes\": {}, \"lost\": {}, \"duplicated\": {}, \"reordered\": {}, \"foreign\": {}",
            c.received, c.lost, c.duplicated, c.reordered, self.foreign
        )
    }
}
