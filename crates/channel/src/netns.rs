//! Sockets that live in another network namespace.
//!
//! A socket belongs for ever to the namespace in which it was made. A short-lived helper thread enters the
//! namespace, makes the socket and ends, so that no other thread ever leaves its own namespace.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The file of a namespace: a path as it is, or a bare name as `ip netns` knows it.
pub fn path_of(name: &Path) -> PathBuf {
    if name.components().count() == 1 { Path::new("/run/netns").join(name) } else { name.to_owned() }
}

/// Runs `make` inside `namespace` (`None`: here).
///
/// # Errors
/// What opening or entering the namespace says, or what `make` returns.
pub fn within<T: Send>(
    namespace: Option<&Path>,
    make: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let Some(name) = namespace else { return make() };
    let path = path_of(name);
    let file = File::open(&path)
        .map_err(|e| io::Error::new(e.kind(), format!("network namespace {}: {e}", path.display())))?;
    let inside = move || {
        // SAFETY: the descriptor is open; setns changes this helper thread alone.
        if unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
            let error = io::Error::last_os_error();
            let text = format!("entering network namespace {}: {error}", path.display());
            return Err(io::Error::new(error.kind(), text));
        }
        make()
    };
    std::thread::scope(|scope| match scope.spawn(inside).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_namespace_is_named() {
        let error = within(Some(Path::new("fg-does-not-exist")), || Ok(())).unwrap_err();
        assert!(error.to_string().contains("/run/netns/fg-does-not-exist"), "{error}");
    }
}
