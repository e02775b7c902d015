//! Snapshots in the format of OpenCSD and DS-5: a folder with the devices of a system, their registers
//! and memory, and the captured trace buffers.
//!
//! [`Snapshot::open`] reads all `.ini` files. [`Snapshot::sources`] returns the trace sources in a buffer
//! and their configurations, [`Snapshot::segments`] the memory that a core sees.
//!
//! [`Package`] is another format for captured trace: a folder or an archive with `contents.ini`, metadata
//! of the sources, memory, and a log of the changes to it.
//!
//! Nothing is assumed silently: if a required register is missing, an [`Error`] names it. If something
//! optional is missing, such as the file of a device, [`Snapshot::warnings`] has an entry. Only files
//! within the folder of the snapshot are read.

mod bytes;
mod contents;
mod cores;
mod device;
mod error;
mod files;
pub mod image;
pub mod ini;
mod package;
mod sources;

pub use bytes::BufferBytes;
pub use contents::{Buffer, Format, Segment, Snapshot};
pub use cores::{Core, core};
pub use device::{Class, Device, Dump};
pub use error::Error;
pub use files::{Archive, Files, file, open_files, text};
pub use package::{Package, Trace};
pub use sources::{Protocol, Source};
