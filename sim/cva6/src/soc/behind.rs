//! The generated decoder and block walker behind the sink, cycle by cycle.

use crate::soc::{Job, Outcome, Soc, SocError, Survey};
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::Summary;
use hartrace_lockstep::decoder::Walks;
use hartrace_lockstep::rtl_loop::{DecoderSide, LoopConfig, LoopFigures, Receiver};

/// A system, and a decoder with a walker that receives its trace while the core runs.
///
/// ```no_run
/// use hartrace_cva6_sim::Core;
/// use hartrace_cva6_sim::soc::{CoreLoop, Job, Soc, SocConfig};
/// use hartrace_hdl_tools::verilate::Options;
/// use hartrace_lockstep::rtl_loop::LoopConfig;
///
/// let encoder = hartrace_encoder_hdl::Config::named("cva6").expect("there is one");
/// let core = Core::find()?;
/// let soc = Soc::build(&core, &SocConfig::new(encoder.clone(), 1), &core.options())?;
/// let core_loop = CoreLoop::new(&soc, &LoopConfig::new(encoder, 4), &Options::default())?;
/// let job = Job::new(std::fs::read("program.elf")?);
/// let (figures, _) = core_loop.run(("program", "delta"), &job, &soc.survey(&job)?)?;
/// println!("{figures}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CoreLoop<'a> {
    soc: &'a Soc,
    receiver: Receiver,
}

impl<'a> CoreLoop<'a> {
    /// Builds the model of the decoder and the walker.
    ///
    /// # Errors
    ///
    /// If there is no such walker, or no model of it.
    pub fn new(soc: &'a Soc, config: &LoopConfig, options: &Options) -> Result<Self, SocError> {
        Ok(Self { soc, receiver: Receiver::new(config, options)? })
    }

    /// Traces a program that has been surveyed, and compares what the walker reports with what the core executed.
    /// `name` has the names of the program and of the modes.
    ///
    /// # Errors
    ///
    /// As [`Soc::trace`], or if the program does not fit into the walker's table. A difference is not an error.
    pub fn run(
        &self,
        name: (&str, &str),
        job: &Job,
        survey: &Survey,
    ) -> Result<(LoopFigures, Outcome), SocError> {
        let table = BlockTable::build(&survey.image, &[], WordLayout::SPAN_BITS);
        let source = self.soc.config().top.first_source as u16;
        let following = self.receiver.start(&table, source, &survey.tvec(&job.setting.options)?)?;
        let mut behind = DecoderSide::new(following, Walks::new(&survey.image));
        let outcome = self.soc.trace_with(job, survey, &mut |seen| behind.seen(seen))?;
        let ((mut walked, lost, waiting), following) = behind.finish()?;
        let worked = following.worked();
        let found = self.receiver.finish(following)?;
        let hart = &outcome.harts[0];
        // Trace says nothing of the last turns of a loop in which the core waits for the end.
        let executed = hart.instructions - hart.idle;
        if walked.difference.is_none() {
            walked.difference = hart.verified.difference.clone();
        }
        let figures = LoopFigures {
            program: name.0.into(),
            mode: name.1.into(),
            unroll: self.receiver.config().decoder.unroll,
            executed,
            encoder: Summary {
                cycles: outcome.run.cycles,
                payloads: hart.packets,
                bytes: outcome.bytes.len() as u64,
                losses: hart.verified.losses,
                ..Summary::default()
            },
            waiting,
            table: table.summary(&self.receiver.config().table),
            walked,
            lost,
            worked,
            found,
        };
        Ok((figures, outcome))
    }
}
