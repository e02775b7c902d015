//! Prints the encoder.
use hartrace_encoder_hdl::{Config, encoder};
use hartrace_etrace::Params;
fn main() {
    let full = std::env::args().nth(1).as_deref() == Some("full");
    let lanes: u8 = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(2);
    let mut config = Config { lanes, ingress_depth: 4, ..Config::default() };
    if full {
        config.implicit_exception = true;
        config.triggers = true;
        config.etrace = Params {
            f0s_width_p: 1,
            bpred_size_p: 7,
            cache_size_p: 7,
            return_stack_size_p: 4,
            sijump_p: true,
            ..config.etrace
        };
    }
    for (name, text) in encoder(&config).unwrap().files() {
        let _ = name;
        println!("{text}");
    }
}
