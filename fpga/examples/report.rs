//! Reports on any SystemVerilog file that yosys reads, with a clock called `clk_i`:
//!
//! ```text
//! cargo run -p hartrace-fpga --example report -- FILE.sv TOP [--json] [--seeds N] [--only area|timing]
//! ```

use hartrace_fpga::{Options, Report, Source, Tools};
use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

const USAGE: &str = "usage: report FILE.sv TOP [--json] [--seeds N] [--only area|timing]";

fn main() -> ExitCode {
    match run() {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, Box<dyn Error>> {
    let mut options = Options::default();
    let mut json = false;
    let mut names = Vec::new();
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => json = true,
            "--seeds" => options.seeds = Some(args.next().ok_or(USAGE)?.parse()?),
            "--only" => match args.next().as_deref() {
                Some("area") => options.seeds = None,
                Some("timing") => options.area = false,
                _ => return Err(USAGE.into()),
            },
            _ => names.push(arg),
        }
    }
    let [file, top] = names.as_slice() else { return Err(USAGE.into()) };
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let report = Report::of_source(&Source::new(top, &text)?, &options, &Tools::find()?)?;
    Ok(if json { report.to_json() } else { report.to_string() })
}
