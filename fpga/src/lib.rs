//! Area and timing of generated hardware, measured with open tools.
//!
//! [`Report::of`] measures the cost of a [`Component`](hartrace_rtl::Component):
//!
//! - its area after yosys has mapped it to AMD UltraScale+, as a whole and module by module, and
//! - its clock rate after nextpnr has placed and routed it on a Lattice ECP5, with the path that
//!   limits it.
//!
//! `docs/design/fpga.md` discusses the significance of the figures: areas can be compared with
//! areas from the same version of yosys, and clock rates with clock rates on the same device; the
//! clock rate on UltraScale+ cannot be known without the tools of its vendor (`fpga/vivado`).
//!
//! [`board`] is a design that is complete: a small core with its trace, for an ECP5 board, as a bitstream.
//!
//! The tools come from PyPI in pinned versions; [`Tools::find`] describes where it looks for them
//! and how to install them. They are not needed to build this crate.
//!
//! ```no_run
//! use hartrace_fpga::{Options, Report, compare};
//!
//! # fn show(component: &hartrace_rtl::Component) -> Result<(), Box<dyn std::error::Error>> {
//! let report = Report::of(component, &Options::default())?;
//! println!("{report}");
//! let tracked = Report::from_json(&std::fs::read_to_string("reports/small.json")?)?;
//! println!("{}", compare(&tracked, &report));
//! # Ok(())
//! # }
//! ```

mod area;
pub mod board;
mod cells;
mod compare;
mod decoders;
mod design;
mod error;
mod generated;
mod harness;
mod levels;
mod netlist;
mod path;
mod report;
mod source;
mod summary;
mod table;
mod timing;
mod tools;

pub use area::{Area, ModuleArea};
pub use cells::Cells;
pub use compare::{Change, Comparison, compare, compare_all};
pub use decoders::Unrolled;
pub use design::{Design, Measured};
pub use error::FpgaError;
pub use generated::DesignError;
pub use path::{Path, Step};
pub use report::{Options, Part, Report, ToolVersions};
pub use source::Source;
pub use summary::summary;
pub use timing::{Placement, Timing};
pub use tools::Tools;
