//! Random RISC-V programs and random walks through them.
//!
//! Stimulus for trace encoders and decoders: [`generate`] assembles a program of real instructions
//! and walks through it, choosing branch outcomes and jump targets at random. The result is what a
//! hart would report ([`Walk::rows`]) together with the code a decoder needs ([`Walk::program`]).
//! A [`Shape`] says what the walk contains; [`Shape::random`] varies everything.
//!
//! No registers are simulated: any outcome and any indirect target is possible, as far as the
//! instruction allows it. [`Walk`] lists what is guaranteed nevertheless. The itype of a row comes
//! from the intention of the generator, not from decoding.
//!
//! ```
//! use hartrace_golden::walk::{Shape, generate};
//!
//! let shape = Shape { steps: 200, well_behaved: true, ..Shape::default() };
//! let walk = generate(7, &shape);
//! assert_eq!(walk.rows.len(), 200);
//! for row in walk.rows.iter().filter(|row| row.iretire > 0) {
//!     let word = walk.program.fetch(row.iaddr).expect("every retired address has code");
//!     assert_eq!(row.iretire * 2, u32::from(word.bytes));
//! }
//! ```

mod asm;
mod body;
mod emit;
mod generate;
mod layout;
mod pairs;
mod plain;
mod plan;
mod program;
mod regroup;
mod shape;
mod side;
mod trap;
mod walker;

pub use generate::{Walk, generate};
pub use hartrace_etrace::ingress::Xlen;
pub use program::{Program, Word};
pub use shape::Shape;
