//! Builds the design for the board with a program: `board PROGRAM.elf FOLDER` leaves `ulx3s.bit`, all sources, and
//! `params.toml` for the decoder in the folder.

use hartrace_encoder_hdl::top::params;
use hartrace_fpga::{Tools, board};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [program, folder] = &args[..] else {
        eprintln!("usage: board PROGRAM.elf FOLDER");
        return ExitCode::from(2);
    };
    match build(program, Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build(program: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let elf = fs::read(program).map_err(|error| format!("{program}: {error}"))?;
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let built = board::bitstream(&Tools::find()?, folder, &elf)?;
    fs::write(folder.join("params.toml"), params(&board::encoder()?)?)?;
    println!("{}: {built}", folder.join("ulx3s.bit").display());
    Ok(())
}
