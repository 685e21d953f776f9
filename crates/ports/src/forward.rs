//! Ports around other ports.

/// In an implementation of [`Port`](crate::Port): methods that are those of an inner port, by their names.
///
/// ```
/// use flowgauge_ports::{Burst, Capabilities, Port, PortError, PortStats, forward, ring};
///
/// /// Counts the bursts that are transmitted.
/// struct Counted<P> {
///     inner: P,
///     bursts: u64,
/// }
///
/// impl<P: Port> Port for Counted<P> {
///     forward!(self, self.inner; describe capabilities alloc rx free stats flush check);
///
///     fn tx(&mut self, burst: &mut Burst) -> Result<usize, PortError> {
///         self.bursts += 1;
///         self.inner.tx(burst)
///     }
/// }
///
/// let mut port = Counted { inner: ring::pair(64).0, bursts: 0 };
/// port.tx(&mut Burst::new()).unwrap();
/// assert_eq!((port.describe(), port.bursts), ("ring", 1));
/// ```
#[macro_export]
macro_rules! forward {
    ($self:ident, $inner:expr; $($method:ident)+) => {
        $($crate::forward!(@$method $self, $inner);)+
    };
    (@describe $self:ident, $inner:expr) => {
        fn describe(&$self) -> &str {
            $inner.describe()
        }
    };
    (@capabilities $self:ident, $inner:expr) => {
        fn capabilities(&$self) -> $crate::Capabilities {
            $inner.capabilities()
        }
    };
    (@alloc $self:ident, $inner:expr) => {
        fn alloc(&mut $self, burst: &mut $crate::Burst, n: usize) -> usize {
            $inner.alloc(burst, n)
        }
    };
    (@tx $self:ident, $inner:expr) => {
        fn tx(&mut $self, burst: &mut $crate::Burst) -> Result<usize, $crate::PortError> {
            $inner.tx(burst)
        }
    };
    (@rx $self:ident, $inner:expr) => {
        fn rx(&mut $self, burst: &mut $crate::Burst, max: usize) -> Result<usize, $crate::PortError> {
            $inner.rx(burst, max)
        }
    };
    (@free $self:ident, $inner:expr) => {
        fn free(&mut $self, burst: &mut $crate::Burst) {
            $inner.free(burst)
        }
    };
    (@stats $self:ident, $inner:expr) => {
        fn stats(&mut $self) -> $crate::PortStats {
            $inner.stats()
        }
    };
    (@details $self:ident, $inner:expr) => {
        fn details(&mut $self) -> Vec<(&'static str, u64)> {
            $inner.details()
        }
    };
    (@flush $self:ident, $inner:expr) => {
        fn flush(&mut $self) -> Result<(), $crate::PortError> {
            $inner.flush()
        }
    };
    (@check $self:ident, $inner:expr) => {
        fn check(&mut $self) -> Result<(), $crate::PortError> {
            $inner.check()
        }
    };
    (@tx_stamps $self:ident, $inner:expr) => {
        fn tx_stamps(&mut $self, stamps: &mut Vec<$crate::TxStamp>) {
            $inner.tx_stamps(stamps)
        }
    };
    (@next_event $self:ident, $inner:expr) => {
        fn next_event(&$self) -> Option<flowgauge_clock::Nanos> {
            $inner.next_event()
        }
    };
}
