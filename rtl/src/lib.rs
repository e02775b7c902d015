//! A builder of register-transfer modules that emits SystemVerilog.
//!
//! Ordinary Rust functions build modules from run-time parameters; `let`, loops, closures and
//! functions are those of Rust. Every expression knows its width, and nothing is extended or
//! truncated silently: operands, assignments and ports whose widths differ panic at the line that
//! wrote them. The same applies to mistakes that tools would only warn about, or would not even
//! report: a signal with two drivers or none, a latch, a combinational loop, a value read before it
//! is assigned, bits that are never read.
//!
//! The emitted text is meant for people: it uses `always_comb` and `always_ff`, `_d` and `_q`,
//! comments, and loops that stay loops. It is restricted to a subset that Verilator, Icarus Verilog
//! and yosys all read; `docs/design/rtl.md` lists the rules.
//!
//! # Panics
//!
//! A mistake in code that builds hardware is a bug, like an index out of bounds, so it panics with
//! the caller's line. Check parameters that come from a user first.
//!
//! # Example
//!
//! The outcomes of up to `lanes` branches per cycle, collected in a map:
//!
//! ```
//! use hartrace_rtl::{Component, Module, lit, zero};
//!
//! fn branch_map(lanes: u32) -> Component {
//!     let m = Module::new("branch_map", "Collects the outcomes of branches, lane 0 oldest.").clocked();
//!     let valid = m.input("valid_i", lanes, "");
//!     let taken = m.input("taken_i", lanes, "");
//!     let flush = m.input("flush_i", 1, "the map is taken this cycle");
//!     let map_o = m.output("map_o", 31, "a set bit is a branch not taken");
//!     let full_o = m.output("full_o", 1, "");
//!     let drop_o = m.output("drop_o", 1, "sticky: a branch found no room");
//!
//!     let max = m.constant("MaxBranches", lit(5, 31));
//!     let map = m.reg("map", zero(31));
//!     let count = m.reg("count", zero(5));
//!     let drop = m.reg("drop", zero(1));
//!     m.comb(|b| {
//!         b.when(&flush, |b| {
//!             b.set(&map.d, zero(31));
//!             b.set(&count.d, zero(5));
//!         });
//!         b.each(0..lanes, |b, i| {
//!             b.when(valid.bit(i), |b| {
//!                 b.when(count.d.eq(&max), |b| b.set(&drop.d, true)).otherwise(|b| {
//!                     b.set(&map.d, &map.d | ((!taken.bit(i)).zext(31) << &count.d));
//!                     b.set(&count.d, &count.d + lit(5, 1));
//!                 });
//!             });
//!         });
//!     });
//!     m.assign(&map_o, &map.q);
//!     m.assign(&full_o, count.q.eq(&max));
//!     m.assign(&drop_o, &drop.q);
//!     m.assert_always("map_fits", map.q.shr(&count.q).is(0));
//!     m.finish()
//! }
//!
//! assert_eq!(
//!     branch_map(2).emit(),
//!     "\
//! // Collects the outcomes of branches, lane 0 oldest.
//! module branch_map (
//!     input  logic        clk_i,
//!     input  logic        rst_ni,
//!     input  logic [1:0]  valid_i,
//!     input  logic [1:0]  taken_i,
//!     input  logic        flush_i,  // the map is taken this cycle
//!     output logic [30:0] map_o,  // a set bit is a branch not taken
//!     output logic        full_o,
//!     output logic        drop_o  // sticky: a branch found no room
//! );
//!   localparam logic [4:0] MaxBranches = 5'd31;
//!   logic [30:0] map_d, map_q;
//!   logic [4:0] count_d, count_q;
//!   logic drop_d, drop_q;
//!
//!   always_comb begin
//!     map_d = map_q;
//!     count_d = count_q;
//!     drop_d = drop_q;
//!     if (flush_i) begin
//!       map_d = 31'd0;
//!       count_d = 5'd0;
//!     end
//!     for (int unsigned i = 0; i < 2; i++) begin
//!       if (valid_i[i]) begin
//!         if (count_d == MaxBranches) begin
//!           drop_d = 1'b1;
//!         end else begin
//!           map_d = map_d | ({30'd0, !taken_i[i]} << count_d);
//!           count_d = count_d + 5'd1;
//!         end
//!       end
//!     end
//!   end
//!
//!   assign map_o = map_q;
//!   assign full_o = count_q == MaxBranches;
//!   assign drop_o = drop_q;
//!
//!   always_ff @(posedge clk_i or negedge rst_ni) begin
//!     if (!rst_ni) begin
//!       map_q <= 31'd0;
//!       count_q <= 5'd0;
//!       drop_q <= 1'b0;
//!     end else begin
//!       map_q <= map_d;
//!       count_q <= count_d;
//!       drop_q <= drop_d;
//!     end
//!   end
//!
//! `ifndef SYNTHESIS
//!   always @(posedge clk_i) begin
//!     if (rst_ni) begin
//!       begin : map_fits
//!         assert ((map_q >> count_q) == 31'd0);
//!       end
//!     end
//!   end
//! `endif
//! endmodule
//! "
//! );
//! ```

mod bits;
mod bundle;
mod check;
mod component;
mod emit;
mod eval;
mod expr;
mod finish;
mod index;
mod instance;
mod interpreter;
mod leaf;
mod lists;
mod literal;
mod lower;
mod memory;
mod memory_ports;
mod module;
mod names;
mod node;
mod ops;
mod repeated;
mod signal;
mod stmt;
mod target;

pub use bits::Bits;
pub use bundle::Wire;
#[doc(hidden)]
pub use bundle::field_name;
pub use component::{Component, Direction, Port};
pub use expr::Expr;
pub use index::Index;
pub use instance::Outputs;
pub use interpreter::Interpreter;
pub use lists::lists;
pub use literal::{concat, index_width, lit, literal, ones, zero};
pub use memory::Memory;
pub use module::{Module, Reg};
pub use repeated::Repeated;
pub use stmt::{Block, Switch, When};
