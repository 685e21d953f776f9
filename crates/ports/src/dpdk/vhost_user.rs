//! vhost-user servers: DPDK blocks in opening one until the other side connects, for as long as that takes.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The socket that a device listens on, if it is a vhost-user server.
pub(super) fn server_socket(device: &str) -> Option<PathBuf> {
    let mut arguments = device.split(',');
    let virtio_user = arguments.next()?.starts_with("net_virtio_user") || device.starts_with("virtio_user");
    let arguments: Vec<&str> = arguments.collect();
    let path = arguments.iter().find_map(|argument| argument.strip_prefix("path="))?;
    (virtio_user && arguments.contains(&"server=1")).then(|| path.into())
}

/// Removes a socket that a process left behind: nobody answers on it, and DPDK would not take its place.
pub(super) fn remove_stale(socket: &Path) {
    if UnixStream::connect(socket).is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused) {
        let _ = std::fs::remove_file(socket);
    }
}

/// Ends DPDK's wait when nobody connects in time: connects, and hangs up at once.
pub(super) struct Patience {
    opened: Sender<()>,
    thread: JoinHandle<bool>,
}

impl Patience {
    pub fn new(socket: PathBuf, patience: Duration) -> Patience {
        let (opened, waiting) = channel();
        let thread = std::thread::spawn(move || {
            let mut patience = patience;
            let mut ended = false;
            while waiting.recv_timeout(patience).is_err() {
                ended = true;
                patience = Duration::from_millis(50);
                drop(UnixStream::connect(&socket));
            }
            ended
        });
        Patience { opened, thread }
    }

    /// DPDK has come back; whether the wait was ended by us.
    pub fn ended(self) -> bool {
        let _ = self.opened.send(());
        self.thread.join().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_a_server_by_its_arguments() {
        let socket = |text| server_socket(text);
        assert_eq!(socket("net_virtio_user0,path=/tmp/s,server=1,queues=1"), Some("/tmp/s".into()));
        assert_eq!(socket("net_virtio_user0,path=/tmp/s"), None);
        assert_eq!(socket("net_null0,path=/tmp/s,server=1"), None);
    }
}
