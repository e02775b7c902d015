//! OpenCSD's C interface, as far as the benchmark `decode_vs_opencsd` needs it.
//!
//! Only with the feature `opencsd`. The library is loaded at run time, so that nothing has to be
//! installed to build this.
#[cfg(feature = "opencsd")]
mod library;

#[cfg(feature = "opencsd")]
pub use library::{Counts, Error, Job, Library, Unit, cpu_time};
