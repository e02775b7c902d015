//! Code that changes while a program is traced: the code at an address depends on the running process
//! and on time.
//!
//! [`Log`] is the system event log: processes, libraries, threads, address space identifiers and patched
//! code, each with the time (or the position in the trace) at which it starts or ends. [`Timeline`]
//! combines the events and answers two questions of a decoder: which [`Space`] belongs to a context now,
//! and which code is at an address of that space.
//!
//! A log may also report that a trace source changes its number on the trace bus, or its configuration:
//! [`Log::bound`].
//!
//! Logs are incomplete, since buffers wrap. If an item ends without a start event, it existed before. If
//! an item is current without a start event, it also existed before, unless it ended in between. Every
//! event is complete and does not depend on other events.
//!
//! ```
//! use hartrace_spaces::{Holds, Log, Timeline};
//!
//! let log = Log::parse("events", "\
//!     100 declare_process state=START pid=7 base_address=0x8000 image_file=a.bin\n\
//!     200 patch_code pid=7 start_address=0x8004 length=4 code=ffffffff\n")?;
//! let timeline = Timeline::new(&log, Holds::Tid, |_| Some(vec![(0, vec![0; 16])]));
//! let early = timeline.space(150, Some(7));
//! let late = timeline.space(200, Some(7));
//! assert_eq!(timeline.code(early, 0x8004).bytes, Some(&[0; 12][..]));
//! assert_eq!(timeline.code(late, 0x8004).bytes, Some(&[0xff; 4][..]));
//! assert_eq!(timeline.code(timeline.space(50, Some(7)), 0x8004).bytes, None);
//! # Ok::<(), hartrace_spaces::Error>(())
//! ```

mod build;
mod log;
mod process;
mod span;
#[cfg(test)]
mod tests;
mod timeline;
mod traces;

pub use log::{Clock, Error, Event, Image, Log, State, Written};
pub use process::Segment;
pub use timeline::{Code, Holds, Loaded, Space, Timeline};
pub use traces::{Bound, ChangedRegisters, Defined};
