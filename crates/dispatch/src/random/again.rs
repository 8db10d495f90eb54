//! How a failure is repeated.

/// Prints how what it stands for is repeated, if that fails.
pub(super) struct Again(pub(super) String);

impl Drop for Again {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("again: {}", self.0);
        }
    }
}
