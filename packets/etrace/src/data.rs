//! Data-trace payloads: parameters, field layouts, parse and emit.
//!
//! [`DataParams`] holds the parameters under the specification's names. [`DataKinds`] lists the
//! kinds of access that the encoder traces, and how. [`DataLayout`] is the field table that follows
//! from the two. [`Doptions`] are the run-time modes; they select among the tables and are not in
//! the payload. The encapsulation distinguishes data payloads from instruction payloads.
//!
//! # Values
//!
//! Addresses and data are fields as transmitted: a full value, a difference or an XOR, depending on
//! the diff code. Data and operands of an access of `2^size` bytes are numbers below
//! `2^(8 * 2^size)`. Top bytes that only repeat the sign of the byte below are not sent, and the
//! reader restores them, so `data_len` and `op_len` are not part of the value. `emit` always drops
//! as many bytes as possible; `parse` accepts any length.
//!
//! Where the specification leaves something open, `docs/deviations.md` describes the choice made
//! (T1 to T8).
//!
//! # Guarantees
//!
//! The same as those of the crate: `parse` never panics and does not move the reader on error.
//! `emit` fails only if a value does not fit or the layout and modes have no such payload. An
//! emitted payload parses back to the same value.
//!
//! ```
//! use hartrace_bits::{BitReader, BitWriter, Tail};
//! use hartrace_etrace::data::{
//!     Access, AccessReport, DataKinds, DataParams, DataPayload, Diff, Doptions,
//! };
//!
//! let layout = DataParams::default().layout(DataKinds::default())?;
//! let payload = DataPayload::Access(Access {
//!     store: true,
//!     aligned: true,
//!     size: 2,
//!     report: AccessReport::Both { diff: Diff::Sync, data: 0xffff_fffe, address: 0x100 },
//! });
//! let mut bytes = [0; 31];
//! let mut out = BitWriter::new(&mut bytes);
//! payload.emit(&layout, Doptions::default(), &mut out)?;
//! let len = out.finish_compressed();
//! assert_eq!(&bytes[..len], [0x0a, 0xfe, 0x00, 0x01]); // -2 took one byte
//!
//! let mut bits = BitReader::new(&bytes[..len], Tail::Sign);
//! assert_eq!(DataPayload::parse(&layout, Doptions::default(), &mut bits)?, payload);
//! assert_eq!(payload.to_string(), "2   store   size=2 diff=sync data=0xfffffffe address=0x100");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod codec;
mod display;
mod layout;
mod params;
mod payload;

pub use codec::{DataEmitError, DataParseError};
pub use display::DataShown;
pub use layout::{DataField, DataFieldName, DataFormat, DataLayout, DataPresence, DataWidth};
pub use params::{Compression, CsrWidth, DataKinds, DataParams, DataParamsError, Doptions};
pub use payload::{
    Access, AccessReport, AddressDiff, Atomic, AtomicOp, AtomicReport, AtomicRequest,
    AtomicResponse, Csr, CsrOp, CsrReport, DataDiff, DataPayload, Diff, LoadRequest, LoadResponse,
    Response,
};
