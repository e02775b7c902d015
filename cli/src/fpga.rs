//! `hartrace fpga`: area and clock rate of the encoder on FPGAs.

use crate::args::{DecoderArg, FpgaCompareArgs, ReportArgs};
use crate::failure::{Failure, Status};
use crate::{files, hdl, progress};
use hartrace_capture::limits::TEXT_BYTES;
use hartrace_fpga::{Design, DesignError, Measured, Options, Report, Tools};
use std::cell::Cell;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

/// Runs `fpga report`.
pub(crate) fn report(args: &ReportArgs) -> Result<Status, Failure> {
    let options = Options::of(args.only, args.seeds).ok_or_else(|| {
        Failure::usage("--seeds is for timing, which --only area leaves out")
            .hint("one without the other")
    })?;
    // Mistakes in any of them are reported before minutes have passed.
    let designs = match args.decoder {
        Some(protocol) => decoders(args, protocol)?,
        None => designs(args)?,
    };
    let tools = Tools::find().map_err(Failure::input)?;
    let mut out = files::create(args.output.as_deref().unwrap_or(Path::new("-")))?;
    let steps = designs.iter().map(|design| design.steps(&options)).sum();
    let bar = progress::bar(Some(steps), "{spinner} {msg} [{bar:30}] {pos}/{len} {elapsed}");
    if !bar.is_hidden() {
        // Steps take minutes: the running time shows that work continues.
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    let begun = Cell::new(0);
    let mut all = Vec::new();
    for design in &designs {
        let watch = |step: &str| {
            bar.set_message(format!("{}: {step}", design.name));
            // A step that has begun does not count as done.
            bar.set_position(begun.replace(begun.get() + 1));
        };
        let measured = design.measure(&options, &tools, &watch).map_err(Failure::input)?;
        // Written at once, since the next may take minutes; without the bar, which shares the screen.
        let report = measured.report();
        let text = if args.json { measured.to_json() } else { format!("{report}\n") };
        bar.suspend(|| out.write_all(text.as_bytes()).and_then(|()| out.flush()))?;
        all.push(measured);
    }
    bar.finish_and_clear();
    if !args.json {
        let table = Measured::table(&all, args.decoder == Some(DecoderArg::Etmv4));
        out.write_all(table.as_bytes())?;
    }
    out.finish()?;
    Ok(Status::Clean)
}

/// Decoders with each number of bytes per cycle.
fn decoders(args: &ReportArgs, protocol: DecoderArg) -> Result<Vec<Design>, Failure> {
    let config = match args.config.as_slice() {
        [] => None,
        [one] => Some(one.as_str()),
        _ => return Err(Failure::usage("decoders of several configurations").hint("one --config")),
    };
    let decoder = hdl::decoder(protocol, config, false)?;
    let design = |unroll: &u32| Ok(Design::of_decoder(&decoder.with_unroll(*unroll))?);
    args.unroll.0.iter().map(design).collect()
}

/// The encoders and compressors to measure, by name.
fn designs(args: &ReportArgs) -> Result<Vec<Design>, Failure> {
    let names = if args.config.is_empty() { Design::names() } else { args.config.clone() };
    let design = |name: &String| match Design::of_compressor(name) {
        Some(design) => Ok(design),
        None => encoder(name, &args.top),
    };
    names.iter().map(design).collect()
}

fn encoder(name: &str, top: &str) -> Result<Design, Failure> {
    let config = hdl::named(name, None)?;
    Design::of_encoder(name, &config, top).map_err(|error| match error {
        DesignError::Config(error) => Failure::usage(error).at(name),
        DesignError::Module { name, module, modules } => {
            Failure::usage(format_args!("{name} has no module `{module}`")).hint(modules.join(", "))
        }
        error => Failure::input(error),
    })
}

/// Runs `fpga compare`.
pub(crate) fn compare(args: &FpgaCompareArgs) -> Result<Status, Failure> {
    files::one_standard([args.old.as_path(), args.new.as_path()])?;
    let names = [&args.old, &args.new].map(|path| path.display().to_string());
    let (text, same) = hartrace_fpga::compare_all(&read(&args.old)?, &read(&args.new)?, &names);
    let mut out = files::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    Ok(if same { Status::Clean } else { Status::Different })
}

fn read(path: &Path) -> Result<Vec<Report>, Failure> {
    let bytes = files::read_text(path, TEXT_BYTES)?;
    let hint = "a file that `hartrace fpga report --json` wrote";
    Report::all_from_json(&String::from_utf8_lossy(&bytes))
        .map_err(|error| Failure::input(error).at(path.display()).hint(hint))
}
