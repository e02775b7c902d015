//! Systems, built when they are first needed.

use hartrace_cva6_connector::Building;
use hartrace_cva6_sim::Core;
use hartrace_cva6_sim::soc::{Soc, SocConfig};
use hartrace_encoder_hdl::Config;
use hartrace_hdl_tools::verilate::Model;
use std::sync::{LazyLock, OnceLock};
use std::time::Instant;

/// A system around the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Delta and full addresses, with a 3-bit itype.
    Small,
    /// The same, with addresses of 40 bits.
    Narrow,
    /// Every mode.
    Full,
    /// Every mode, and the core waits when there is no room.
    FullStall,
    /// The configuration for this core.
    Cva6,
    /// The same, with blocks built one instruction after the other.
    Serialised,
    /// Two cores.
    TwoHarts,
    /// An encoder that accepts one block per cycle.
    OneLane,
    /// The configuration for this core, which has access to its registers and to its trace.
    SelfHosted,
    /// The configuration for an operating system, with contexts.
    Linux,
    /// The same, and the core waits if it is asked to.
    LinuxStall,
    /// The same, with blocks built one instruction after the other.
    LinuxSerialised,
    /// The configuration for an operating system, in a core that traces itself.
    LinuxSelfHosted,
}

impl Kind {
    pub(crate) fn config(self) -> Result<SocConfig, String> {
        let named = |name: &str| Config::named(name).ok_or_else(|| format!("no {name}"));
        Ok(match self {
            Self::Small => SocConfig::new(named("small")?, 1),
            Self::Narrow => {
                let mut small = named("small")?;
                small.etrace.iaddress_width_p = 40;
                SocConfig::new(small, 1)
            }
            Self::Full => SocConfig::new(named("full")?, 1),
            Self::FullStall => SocConfig::new(named("full")?, 1).waiting(true),
            Self::LinuxStall => Self::Linux.config()?.waiting(true),
            Self::Cva6 => SocConfig::new(named("cva6")?, 1),
            Self::Serialised => {
                SocConfig { building: Building::Serialised, ..SocConfig::new(named("cva6")?, 1) }
            }
            Self::OneLane => SocConfig::new(Config { lanes: 1, ..named("full")? }, 1).with_time(0),
            Self::TwoHarts => SocConfig::new(named("cva6")?, 2),
            Self::SelfHosted => SocConfig::self_hosted(named("cva6")?),
            Self::Linux => SocConfig::new(named("linux")?, 1).with_time(0),
            Self::LinuxSerialised => Self::Linux.config()?.serialised(true),
            Self::LinuxSelfHosted => SocConfig::self_hosted(named("linux")?).with_time(0),
        })
    }

    /// The system, built once. Several are built at the same time if several trials need them.
    pub(crate) fn soc(self) -> Result<&'static Soc, String> {
        static BUILT: [OnceLock<Result<Soc, String>>; 13] = [const { OnceLock::new() }; 13];
        BUILT[self as usize].get_or_init(|| self.build()).as_ref().map_err(Clone::clone)
    }

    fn build(self) -> Result<Soc, String> {
        let start = Instant::now();
        let core = Core::find().map_err(|error| error.to_string())?;
        let soc = Soc::build(&core, &self.config()?, &core.options());
        let soc = soc.map_err(|error| error.to_string())?;
        let how = if soc.cached() { "found" } else { "built" };
        println!("{self:?} {how} in {:.0} s", start.elapsed().as_secs_f64());
        Ok(soc)
    }
}

/// The core alone.
pub(crate) fn alone() -> Result<&'static Model, String> {
    static MODEL: LazyLock<Result<Model, String>> = LazyLock::new(|| {
        Core::find().and_then(|core| core.model()).map_err(|error| error.to_string())
    });
    MODEL.as_ref().map_err(Clone::clone)
}
