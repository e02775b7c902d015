//! Verilator reports no warnings with all of them enabled, whatever the sink and the number of
//! harts, for named configurations and for random ones; and every legal configuration can be built.

mod support;

use fastrand::Rng;
use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::top::{Sink, TopConfig, sources, top};
use hartrace_hdl_tools::lint::{Design, Linter};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let args = Arguments::from_args();
    let missing = !hartrace_hdl_tools::verilate::available();
    let mut configs = support::named();
    let random = |seed| (format!("random{seed}"), support::config(&mut Rng::with_seed(seed)));
    configs.extend((0..10).map(random));
    let mut trials: Vec<Trial> = configs
        .into_iter()
        .map(|(name, config)| {
            let folder = name.clone();
            let run = move || {
                let said = lint(&write(&config, &folder, |text| text)?)?;
                if said.is_empty() { Ok(()) } else { Err(format!("{said}\n{config:?}").into()) }
            };
            Trial::test(format!("lint/{name}"), run).with_ignored_flag(missing)
        })
        .collect();
    trials.push(Trial::test("lint/sees", sees).with_ignored_flag(missing));
    trials.push(Trial::test("lint/two-in-one-design", two).with_ignored_flag(missing));
    trials.push(Trial::test("builds", builds));
    trials.push(Trial::test("lint/other-structs", other_structs).with_ignored_flag(missing));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    trials.extend(hartrace_hdl_tools::lint::trials(folder, "structs", &structs()));
    libtest_mimic::run(&args, trials).exit();
}

/// Writes the files of a configuration, with changes; returns their paths.
fn write(
    config: &TopConfig,
    folder: &str,
    change: impl Fn(String) -> String,
) -> Result<Vec<PathBuf>, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint").join(folder);
    fs::create_dir_all(&folder)?;
    let mut paths = Vec::new();
    for (name, text) in sources(config)? {
        let path = folder.join(name);
        fs::write(&path, change(text))?;
        paths.push(path);
    }
    Ok(paths)
}

/// The warnings of Verilator.
fn lint(files: &[PathBuf]) -> Result<String, Failed> {
    let mut command = Command::new("verilator");
    command.args(["--lint-only", "-Wall", "--top-module", "te_top"]).args(files);
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() || !said.is_empty() { Ok(said) } else { Err("failed".into()) }
}

/// Two encoders of different parameters in one design: with a prefix there is no name in common, without one Verilator
/// complains.
fn two() -> Result<(), Failed> {
    let named = |name: &str, prefix: &str| {
        let encoder = Config::named(name).ok_or("no such configuration")?;
        Ok::<_, Failed>(TopConfig { prefix: prefix.into(), encoder, ..TopConfig::default() })
    };
    let ignore = |text: String| format!("/* verilator lint_off MULTITOP */\n{text}");
    let both = |prefix: &str| {
        let mut files = write(&named("small", "")?, "two/small", ignore)?;
        files.extend(write(&named("full", prefix)?, "two/full", ignore)?);
        lint(&files)
    };
    let said = both("app_")?;
    if !said.is_empty() {
        return Err(said.into());
    }
    match both("")?.contains("MODDUP") {
        true => Ok(()),
        false => Err("no remark on two modules of one name".into()),
    }
}

/// A module with structures for its buses, in one that has them.
fn in_structs(sink: Sink) -> Result<Design, Failed> {
    let config = TopConfig { sink, ..TopConfig::default() };
    Ok(top(&config)?.files().into_iter().chain(support::flat::flat(&config)?).collect())
}

/// Structures of other widths are errors.
fn other_structs() -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint/other-structs");
    for (from, to, said) in [
        ("logic [64-1:0] data", "logic [32-1:0] data", "the sink writes words of 64 bits"),
        ("logic [63:0] addr", "logic [47:0] addr", "the sink has addresses of 64 bits"),
        ("logic [31:0] rdata", "logic [63:0] rdata", "registers have 32 bits"),
        ("logic [3:0] wstrb;", "", "wstrb"),
    ] {
        let mut design = in_structs(Sink::MEMORY)?;
        for (_, text) in &mut design {
            *text = text.replace(from, to);
        }
        match Linter::Verilator.check(&folder, &[design]) {
            Err(failed) if failed.message().is_some_and(|text| text.contains(said)) => {}
            other => return Err(format!("{to}: {other:?}").into()),
        }
    }
    Ok(())
}

/// Modules with structures for their buses, with and without a port to memory.
fn structs() -> Vec<Design> {
    let narrow = Sink::Memory { address_width: 32, word_bytes: 4, burst_words: 1 };
    let sinks = [Sink::MEMORY, narrow, Sink::AXI_STREAM, Sink::ATB];
    sinks.map(|sink| in_structs(sink).expect("these are legal")).into()
}

/// Makes sure that the absence of warnings means something: there is one if an answer of the bus is
/// lost.
fn sees() -> Result<(), Failed> {
    let lose = |text: String| text.replace(".pslverr_o(pslverr_o)", ".pslverr_o()");
    let said = lint(&write(&TopConfig::default(), "sees", lose)?)?;
    if said.is_empty() { Err("no remark on a pin that is not connected".into()) } else { Ok(()) }
}

/// No combination of legal parameters makes the builder panic.
fn builds() -> Result<(), Failed> {
    let mut rng = Rng::with_seed(7);
    for _ in 0..100 {
        let config = support::config(&mut rng);
        sources(&config).map_err(|error| format!("{error}: {config:?}"))?;
    }
    Ok(())
}
