//! Temporary.
use hartrace_registers::*;
fn main() {
    let out = std::env::args().nth(1).unwrap();
    let mut p = EncoderParams::everything();
    let n: u32 = std::env::args().nth(2).map_or(8, |s| s.parse().unwrap());
    p.comparators = n;
    let min = EncoderParams::minimal();
    let w = |n: &str, c: hartrace_rtl::Component| {
        std::fs::write(format!("{out}/{n}.sv"), c.emit()).unwrap()
    };
    w("te_registers", encoder_registers(&p).unwrap());
    w("te_min", encoder_registers(&min).unwrap());
    w(
        "ram",
        ram_sink_registers(&RamSinkParams { address_width: 64, word_bytes: 8, burst_words: 8 })
            .unwrap(),
    );
    w(
        "ram32",
        ram_sink_registers(&RamSinkParams { address_width: 32, word_bytes: 4, burst_words: 1 })
            .unwrap(),
    );
    w("atb", atb_bridge_registers());
    w("split", apb_split(3));
}
