//! What the host did to the loop's thread while it ran.

use flowgauge_clock::Nanos;

/// Disturbances of a thread, from [`Disturbance::begin`] to [`Disturbance::end`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbance {
    /// How often the thread was taken off its core against its will.
    pub involuntary_switches: u64,
    /// Time that the hypervisor gave to others, over all cores.
    pub steal: Nanos,
}

impl Disturbance {
    /// What has happened so far to the calling thread.
    pub fn begin() -> Disturbance {
        Disturbance { involuntary_switches: involuntary_switches(), steal: steal() }
    }

    /// Two threads' disturbances over the same time together.
    pub fn and(self, other: Disturbance) -> Disturbance {
        Disturbance {
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            steal: self.steal.max(other.steal),
        }
    }

    /// What has happened since `self` was taken by this thread.
    pub fn end(self) -> Disturbance {
        let now = Disturbance::begin();
        Disturbance {
            involuntary_switches: now.involuntary_switches - self.involuntary_switches,
            steal: now.steal - self.steal,
        }
    }
}

fn involuntary_switches() -> u64 {
    // SAFETY: all zeros is a valid rusage, and the call fills a whole one.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage.ru_nivcsw as u64
    }
}

/// The eighth number of the first line of /proc/stat, in ticks; 0 where there is none.
fn steal() -> Nanos {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = stat.lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse::<u64>().ok());
    // SAFETY: no memory is involved.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    Nanos(ticks.unwrap_or(0) * (1_000_000_000 / per_second))
}

/// Binds the calling thread to a core. False when that core is not ours to use.
pub fn pin(core: usize) -> bool {
    if core >= libc::CPU_SETSIZE as usize {
        return false;
    }
    // SAFETY: all zeros is an empty set; `core` is within it; the set outlives the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_forward() {
        let begun = Disturbance::begin();
        let end = begun.end();
        assert!(end.involuntary_switches < 1000 && end.steal < Nanos::from_secs(60));
        assert!(!pin(usize::MAX));
    }
}
