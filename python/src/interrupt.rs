//! Work that Ctrl-C ends.

use crate::refused;
use hartrace::Capture;
use hartrace_capture::output::Output;
use pyo3::prelude::*;
use std::io::{self, ErrorKind, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a signal may have to wait.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// Decodes on a thread of its own. After a signal whose handler raises an exception, as that of Ctrl-C does, this is the
/// result at once, and the thread ends when it has decoded the parts that it is at.
pub(crate) fn decode<T: Send + 'static>(
    py: Python<'_>,
    capture: &Capture,
    decode: impl FnOnce(Capture) -> Result<T, hartrace::Error> + Send + 'static,
) -> PyResult<T> {
    let cancel = Arc::new(AtomicBool::new(false));
    let capture = capture.cancelled_by(Arc::clone(&cancel));
    let outcome = aside(py, move || decode(capture));
    outcome.inspect_err(|_| cancel.store(true, Ordering::Relaxed))?.map_err(refused)
}

/// Works on a thread of its own. After a signal whose handler raises an exception, this is the result at once, and the
/// thread goes on alone.
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let worker = thread::spawn(move || drop(sender.send(work())));
    loop {
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(PATIENCE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                resume_unwind(worker.join().expect_err("it has panicked, as it sent nothing"))
            }
        }
    }
}

/// The state of an iterator; a thread that panicked left nothing half done.
pub(crate) fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `ready` with the state of an iterator until it says that the next item is there, and `next` with it. The first
/// is told how long it may wait.
pub(crate) fn next<S: Send, T>(
    py: Python<'_>,
    state: &Mutex<S>,
    ready: fn(&mut S, Duration) -> bool,
    next: impl FnOnce(&mut S) -> T,
) -> PyResult<T> {
    loop {
        let mut present = lock(state);
        if ready(&mut present, Duration::ZERO) {
            return Ok(next(&mut present));
        }
        drop(present);
        if !py.detach(|| ready(&mut lock(state), PATIENCE)) {
            py.check_signals()?;
        }
    }
}

/// A file that one thread writes, and that another one puts in its place or drops.
#[derive(Clone)]
pub(crate) struct SharedOutput(Arc<Mutex<Option<Output>>>);

impl SharedOutput {
    pub(crate) fn create(path: &Path) -> PyResult<Self> {
        let output = Output::create(path).map_err(refused)?;
        Ok(Self(Arc::new(Mutex::new(Some(output)))))
    }

    /// The file; whoever writes it from now on fails.
    pub(crate) fn take(&self) -> Option<Output> {
        lock(&self.0).take()
    }
}

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).as_mut().ok_or(ErrorKind::BrokenPipe)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        lock(&self.0).as_mut().ok_or(ErrorKind::BrokenPipe)?.flush()
    }
}
