//! Generated decoders against software.
//!
//! [`Etmv4Bench`] simulates the RTL of a [`Config`](hartrace_decoder_hdl::etmv4::Config). It receives any bytes,
//! with or without holes between them, and its records are compared with those of [`Records`], which reads packets
//! with the parser of `hartrace-etmv4`: every field of every record, and the byte that it ends with. [`EtraceBench`] and
//! [`EtraceRecords`] do the same for E-Trace, [`frame`] for the stage that splits frames, and
//! [`analysis`] for what is behind a walker, and [`TopBench`] for all of it in one module.

pub mod analysis;
mod captures;
mod compare;
mod etmv4;
pub mod etrace;
mod executed;
mod follower;
pub mod frame;
mod memory;
pub mod random;
mod records;
mod table;
mod top;

pub use captures::{Source, SourcesError, captured, sources};
pub use compare::{CompareError, compare, random_packets};
pub use etmv4::{Comparison, Etmv4Bench, Etmv4BenchError, Lanes};
pub use etrace::{
    EtraceBench, EtraceBenchError, EtraceEnded, EtraceRecord, EtraceRecords, EtraceReport,
};
pub use executed::{WalkFigures, Walks};
pub use follower::{FollowerBench, FollowerError, RunningFollower, Said, Walked};
pub use records::{Ended, Record, Records};
pub use table::Table;
pub use top::{TopBench, TopSettings};
