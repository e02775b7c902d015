//! Systems with a current core, built when they are first needed.

use hartrace_cva6_sim::soc::{Soc, SocConfig};
use hartrace_cva6_sim::{Core, FileList};
use hartrace_encoder_hdl::Config;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

/// How many instructions the core issues in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Issue {
    Single,
    Dual,
}

/// The checkout of the core.
pub(crate) fn source() -> Result<PathBuf, String> {
    let folder =
        std::env::var_os("HARTRACE_CVA6_SOURCE").ok_or("HARTRACE_CVA6_SOURCE is not set")?;
    Ok(folder.into())
}

/// Writes a list of the core's files for a configuration without a floating-point unit and with its own data cache: the
/// submodules are not needed then, except for a package of types.
fn list(configuration: &str) -> Result<FileList, String> {
    let source = source()?;
    let text = std::fs::read_to_string(source.join("core/Flist.cva6"));
    let text = text.map_err(|error| format!("{}: {error}", source.display()))?;
    let needed = |line: &&str| {
        let submodule = line.contains("/cvfpu/") && !line.ends_with("/fpnew_pkg.sv");
        !submodule && !line.to_lowercase().contains("hpdcache")
    };
    let lines: Vec<&str> = text.lines().filter(needed).collect();
    let text = lines.join("\n").replace("${TARGET_CFG}", configuration);
    let text = text.replace("${CVA6_REPO_DIR}", &source.display().to_string());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("current-{configuration}.f"));
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    FileList::read(&path).map_err(|error| error.to_string())
}

/// Builds a system with changes of the core's configuration.
pub(crate) fn build(changes: &[&str], shape: Shape) -> Result<Soc, String> {
    let configuration =
        if shape == Shape::Rv32 { "cv32a6_imac_sv32" } else { "cv64a6_imafdc_sv39" };
    let without = ["RVF=0", "RVD=0", "DCacheType=config_pkg::WT"];
    let changes: Vec<String> =
        without.iter().chain(changes).map(|change| (*change).to_owned()).collect();
    let core = Core::listed(list(configuration)?, &changes).map_err(|error| error.to_string())?;
    let config = shape.config()?;
    let start = Instant::now();
    let soc = Soc::build(&core, &config, &core.options());
    let soc = soc.map_err(|error| error.to_string())?;
    let how = if soc.cached() { "found" } else { "built" };
    println!("{changes:?}, {shape:?}: {how} in {:.0} s", start.elapsed().as_secs_f64());
    Ok(soc)
}

/// The shape of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One core of 64 bits.
    Rv64,
    /// Two of them.
    TwoHarts,
    /// One core of 32 bits.
    Rv32,
    /// One core of 64 bits, and an encoder with contexts.
    Linux,
}

impl Shape {
    fn config(self) -> Result<SocConfig, String> {
        let named = |name: &str| Config::named(name).ok_or_else(|| format!("no {name}"));
        let mut full = named("full")?;
        Ok(match self {
            Self::Rv64 => SocConfig::new(full, 1),
            Self::TwoHarts => SocConfig::new(full, 2),
            Self::Rv32 => {
                full.etrace.iaddress_width_p = 32;
                SocConfig::new(full, 1)
            }
            Self::Linux => SocConfig::new(named("linux")?, 1).with_time(0),
        })
    }
}

impl Issue {
    /// A system, built once.
    pub(crate) fn soc(self, shape: Shape) -> Result<&'static Soc, String> {
        static BUILT: [OnceLock<Result<Soc, String>>; 8] = [const { OnceLock::new() }; 8];
        let built = BUILT[4 * (self as usize) + shape as usize].get_or_init(|| match self {
            Self::Single => build(&[], shape),
            Self::Dual => build(&["SuperscalarEn=1", "ALUBypass=1"], shape),
        });
        built.as_ref().map_err(Clone::clone)
    }
}
