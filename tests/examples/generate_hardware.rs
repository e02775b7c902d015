//! Generates a trace encoder in SystemVerilog, and the field table that its decoder uses.

use hartrace_encoder_hdl::{Config, sources};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let small = Config::named("small").ok_or("no such configuration")?;
    // One lane, and a return stack of 2^3 entries. What does not fit together is an error here.
    let mut config = Config { lanes: 1, itype_width_p: 4, ..small };
    config.etrace.return_stack_size_p = 3;
    let files = sources(&config)?;

    let folder = std::env::temp_dir().join(format!("hartrace-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    for (name, text) in &files {
        std::fs::write(folder.join(name), text)?;
    }
    println!("{} files in {}", files.len(), folder.display());
    assert!(folder.join("te_core.sv").is_file() && folder.join("te_return_stack.sv").is_file());
    std::fs::remove_dir_all(&folder)?;

    // Hardware and decoder have one field table: that of the parameters.
    let layout = config.etrace.layout(config.unit())?;
    println!("longest payload: {} bits", layout.max_bits());
    Ok(())
}
