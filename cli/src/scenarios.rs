//! `hartrace scenarios`: writes the scenarios of the project as files, a conformance kit for decoders.

use crate::args::ScenariosArgs;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_capture::description::{At, Description, ProgramFile};
use hartrace_capture::framing::Kind;
use hartrace_capture::params::Draft;
use hartrace_etrace::{Ioptions, Unit};
use hartrace_sources::scenario::{BUNDLED, Entry, Left, Scenario};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The page that describes the files; the kit has a copy of it.
const PAGE: &str = include_str!("../../docs/guide/conformance-kit.md");

/// Runs the command.
pub(crate) fn run(args: &ScenariosArgs) -> Result<Status, Failure> {
    let folder = args.output.as_path();
    fs::create_dir_all(folder).map_err(|error| Failure::write(folder.display(), &error))?;
    let mut index = Vec::new();
    let mut left: BTreeMap<Left, usize> = BTreeMap::new();
    for (name, text) in &BUNDLED {
        let scenario =
            Scenario::parse(name, text).map_err(|error| Failure::input(error).at(name))?;
        let run = scenario.run().map_err(|error| Failure::input(error).at(name))?;
        match scenario.entry(&run) {
            Ok(entry) => {
                write_entry(folder, &scenario, &entry, text)?;
                index.push(entry.summary);
            }
            Err(reason) => *left.entry(reason).or_default() += 1,
        }
    }
    let mut json = serde_json::to_vec_pretty(&index).map_err(Failure::input)?;
    json.push(b'\n');
    write(&folder.join("index.json"), &json)?;
    write(&folder.join("README.md"), PAGE.as_bytes())?;
    let mut out = files::stdout();
    writeln!(out, "{} of {} scenarios in {}", index.len(), BUNDLED.len(), folder.display())?;
    for (reason, count) in left {
        writeln!(out, "  not {count} {reason}")?;
    }
    out.flush()?;
    Ok(Status::Clean)
}

fn write_entry(
    folder: &Path,
    scenario: &Scenario,
    entry: &Entry,
    text: &str,
) -> Result<(), Failure> {
    let file = |extension: &str| format!("{}.{extension}", scenario.name);
    let trace: String = entry.trace.iter().map(|line| format!("{line}\n")).collect();
    let description = description(scenario, entry, file("elf"));
    for (extension, bytes) in [
        ("elf", entry.elf.as_slice()),
        ("te", &entry.capture),
        ("te.toml", description.as_bytes()),
        ("pcs", entry.listing().as_bytes()),
        ("trace", trace.as_bytes()),
        ("htt", text.as_bytes()),
    ] {
        write(&folder.join(file(extension)), bytes)?;
    }
    Ok(())
}

fn description(scenario: &Scenario, entry: &Entry, elf: String) -> String {
    let decoder = &scenario.setup.decoder;
    let draft = Draft {
        xlen: Some(scenario.code.xlen()),
        framing: Some(match decoder.unit {
            Unit::RvTracer => Kind::RvTracer,
            Unit::Reference | Unit::Hartrace => Kind::Encap,
        }),
        // The support packets of the stream say which modes are on.
        ..Draft::new(&decoder.params, decoder.unit, &Ioptions::default())
    };
    let description = Description {
        command: Some("hartrace scenarios".to_owned()),
        draft,
        trap_vectors: decoder.tvec.clone(),
        programs: vec![ProgramFile::new(elf, At::Bias(0), &entry.elf)],
    };
    description.to_string()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::write(path.display(), &error))
}
