use hartrace_rust_hdl::leaves::*;
use hartrace_rust_hdl::verilog;
fn main() {
    let w = |n: &str, t: String| std::fs::write(format!("/tmp/rhx/{n}.v"), t).unwrap();
    w("b1", verilog(&mut BranchMap::<1>::default()).unwrap());
    w("b2", verilog(&mut BranchMap::<2>::default()).unwrap());
    w("c", verilog(&mut CallCounter::<3>::default()).unwrap());
    w("s", verilog(&mut Spill::<4>::default()).unwrap());
    w("f", verilog(&mut Fifo::<4,4,3>::default()).unwrap());
}
