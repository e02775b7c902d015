//! CVA6 cores with connectors, trace encoders and a funnel: the whole loop.
//!
//! [`Soc`] has two models: one of a core, and one of what is attached to the cores. [`Soc::run`] runs a program with tracing switched on through the control registers
//! before the first instruction. The output of the sink is decoded as it arrives, and compared with what the
//! cores report to have executed: every instruction and every trap with its cause and value, from the first
//! to the last.
//!
//! ```no_run
//! use hartrace_cva6_sim::Core;
//! use hartrace_cva6_sim::soc::{Job, Soc, SocConfig};
//!
//! let encoder = hartrace_encoder_hdl::Config::named("cva6").expect("there is one");
//! let core = Core::find()?;
//! let soc = Soc::build(&core, &SocConfig::new(encoder, 1), &core.options())?;
//! let job = Job::new(std::fs::read("program.elf")?);
//! let outcome = soc.run(&job)?;
//! println!("{} bytes, {:?}", outcome.bytes.len(), outcome.harts[0].verified);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod behind;
mod decode;
mod describe;
mod design;
mod error;
mod extensions;
mod hart;
mod interconnect;
mod link;
mod report;
mod run;
mod self_hosted;
mod software;
mod survey;

pub use behind::CoreLoop;
pub use design::{Soc, SocConfig};
pub use error::SocError;
pub use extensions::check_extensions;
pub use hart::Delay;
pub use report::Report;
pub use run::{HartOutcome, Job, Outcome};
pub use self_hosted::SelfTraced;
pub use survey::Survey;
