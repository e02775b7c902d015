//! Generated hardware in systems that are described in rust-hdl.
//!
//! - [`black_box!`] declares a rust-hdl block whose contents are a generated [`Component`];
//!   [`declaration`] writes the declaration for any of them. Ports are checked against the
//!   component when the block is created.
//! - [`leaves`] are blocks described a second time, in rust-hdl, by their purpose and not by our
//!   RTL; the tests prove them equal to the generated ones.
//! - [`verilog`] emits a system, and returns an error instead of panicking.
//!
//! rust-hdl does not emit the encoder itself, because some of its Verilog differs in meaning from
//! its source: `docs/design/rust-hdl.md` lists the differences, and the rules that the descriptions
//! here follow.
//!
//! ```
//! use hartrace_rtl::Module;
//! use hartrace_rust_hdl::{black_box, verilog};
//! use rust_hdl_core::prelude::*;
//!
//! black_box! {
//!     /// Half of a word.
//!     pub struct Half {
//!         /// The word.
//!         in word_i: Bits<8>,
//!         /// Its upper half.
//!         out upper_o: Bits<4>,
//!     }
//! }
//!
//! let m = Module::new("half", "Half of a word.");
//! let (word, upper) = (m.input("word_i", 8, ""), m.output("upper_o", 4, ""));
//! m.assign(&upper, word.slice(4, 4));
//! m.unused(&word.slice(0, 4));
//! let mut half = Half::new(&m.finish())?;
//! assert!(verilog(&mut half)?.contains("module half"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boxed;
pub mod boxes;
mod declare;
mod emit;
pub mod leaves;
mod register;

pub use boxed::{PortError, check_ports, contents};
pub use declare::declaration;
pub use emit::{EmitError, verilog};
pub use hartrace_rtl::Component;
pub use register::Register;
