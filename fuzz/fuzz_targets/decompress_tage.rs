//! Any program and any bits for TAGE.
#![no_main]

use hartrace_fuzz::compressors::decompress;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| decompress(
    "tage",
    &[
        "TAGE[base=1,tables=8,entries=1,tag=2,history=128,targets=4,ras=1,records=2]",
        "TAGE[coder=range,base=1,tables=2,entries=2,tag=2,history=2,targets=4,ras=0]",
    ],
    input
));
