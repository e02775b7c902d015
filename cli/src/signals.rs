//! Signals: temporary files vanish before one ends the process.

use crate::failure::Failure;
use hartrace_capture::output::remove_temporaries;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

/// Whether the command ends by itself if it is asked to.
static ENDS_ITSELF: AtomicBool = AtomicBool::new(false);

/// What adds signals to those that are watched.
static WATCHED: OnceLock<Handle> = OnceLock::new();

/// Set by the first signal to such a command.
static STOP: AtomicBool = AtomicBool::new(false);

/// That signal; 0 if there was none.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

/// Removes temporary files when the process is ended.
pub(crate) fn watch() -> Result<(), Failure> {
    // What is ignored stays so, as after `nohup`, and in the background of a script. A write beyond the limit on
    // the size of files is an error like any other.
    let ignored = ignored();
    let all = [SIGINT, SIGTERM, SIGHUP, SIGXFSZ].into_iter();
    let watched = all.filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(watched).map_err(Failure::input)?;
    WATCHED.get_or_init(|| signals.handle());
    thread::spawn(move || {
        for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
            let _ = CAUGHT.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
            let again = STOP.swap(true, Ordering::Relaxed);
            if again || !ENDS_ITSELF.load(Ordering::Relaxed) {
                remove_temporaries();
                process::exit(128 + signal);
            }
        }
    });
    Ok(())
}

/// Lets the command end by itself at the first signal, which sets the flag: Ctrl-C too, even in the background of a script.
pub(crate) fn stop() -> Result<&'static AtomicBool, Failure> {
    ENDS_ITSELF.store(true, Ordering::Relaxed);
    let added = WATCHED.get().map_or(Ok(()), |watched| watched.add_signal(SIGINT));
    added.map(|()| &STOP).map_err(Failure::input)
}

/// Lets the command end by itself at the first signal, which [`caught`] returns from then on. What is ignored stays so.
pub(crate) fn end_by_itself() {
    ENDS_ITSELF.store(true, Ordering::Relaxed);
}

/// The first signal that asked the command to end.
pub(crate) fn caught() -> Option<i32> {
    Some(CAUGHT.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// The signals that are ignored, the first in bit 0, where the system tells.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
