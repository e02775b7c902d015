//! A program on the whole system.

use crate::soc::hart::{Clock, Delay, HartWatch};
use crate::soc::link::Link;
use crate::soc::software::{Apb, Clocked};
use crate::soc::{Soc, SocError, Survey};
use crate::{Commit, Config as PlatformConfig, Observe, Platform, Run};
use fastrand::Rng;
use hartrace_encap::{Deframer, Item};
use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::registers::driver::te::{TrTeControl, TrTsControl};
use hartrace_encoder_hdl::top::TimeSource;
use hartrace_etrace::{Ioptions, Mode};
use hartrace_executions::executed::Verified;
use hartrace_hdl_tools::verilate::{Input, Model, Output, SimError, Simulation};
use hartrace_isa::Xlen;
use hartrace_lockstep::{RoundTripCheck, Seen, Setting};
use std::path::{Path, PathBuf};

/// Clock cycles of the reset of the encoders.
const RESET: u32 = 4;

/// A program and the conditions of its run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program.
    pub elf: Vec<u8>,
    /// Additional memory contents.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// Memory and devices; the number of harts, their width and slices are replaced by the actual ones.
    pub platform: PlatformConfig,
    /// The settings of the encoders.
    pub setting: Setting,
    /// Cycles per thousand in which the stream accepts nothing.
    pub back_pressure: u32,
    /// The largest number of cycles.
    pub limit: u64,
    /// Where to write waves of connectors and encoders, if the models were built with them. Those of the cores are in
    /// files beside it: `waves.hart0.fst` for `waves.fst`.
    pub waves: Option<PathBuf>,
}

impl Job {
    /// Creates a job without external stimuli and without trace modes.
    #[must_use]
    pub fn new(elf: Vec<u8>) -> Self {
        Self {
            elf,
            memory: Vec::new(),
            platform: PlatformConfig::default(),
            setting: Setting { resync: (1, 6), ..Setting::default() },
            back_pressure: 0,
            limit: 100_000_000,
            waves: None,
        }
    }

    /// Creates a platform with cores of a model.
    pub(crate) fn platform(
        &self,
        core: &Model,
        (harts, xlen, sliced): Shape,
    ) -> Result<Platform, SocError> {
        let config = PlatformConfig { harts, xlen, sliced, ..self.platform.clone() };
        let mut platform = Platform::new(core, &self.elf, &config)?;
        for (address, bytes) in &self.memory {
            if !platform.write_memory(*address, bytes) {
                return Err(SocError::Memory { address: *address, size: bytes.len() });
            }
        }
        Ok(platform)
    }
}

/// What a system demands of its cores: how many, of which width, and whether slices are before memory, since clocks may stop.
pub(crate) type Shape = (usize, Xlen, bool);

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How the traced run ended.
    pub run: Run,
    /// How often a request to memory was withdrawn or changed before it was accepted, which AXI forbids.
    pub withdrawn: u64,
    /// All output of the sink.
    pub bytes: Vec<u8>,
    /// The largest number of packets that waited for the sink at the same time.
    pub peak_fifo: u64,
    /// The results of each hart.
    pub harts: Vec<HartOutcome>,
    /// What the program printed.
    pub console: Vec<u8>,
}

impl Outcome {
    /// Returns the first difference between what a hart executed and what was decoded.
    pub fn difference(&self) -> Option<&str> {
        self.harts.iter().find_map(|hart| hart.verified.difference.as_deref())
    }
}

/// The results of a hart.
#[derive(Clone, Debug)]
pub struct HartOutcome {
    /// Instructions it executed outside of debug mode.
    pub instructions: u64,
    /// Traps it took.
    pub traps: u64,
    /// Instructions that were lost because there was no room.
    pub lost: u64,
    /// Instructions at the end that no trace can contain: iterations of a loop in which the core waits.
    pub idle: u64,
    /// Cycles that it had to wait because there was no room.
    pub stalled: u64,
    /// Number of packets.
    pub packets: u64,
    /// Number of payload bytes.
    pub payload_bytes: u64,
    /// The largest number of entries of the encoder's queue in use at the same time.
    pub peak_queue: u64,
    /// How late the times of synchronisations are, if they have any and the encoder counts them.
    pub delay: Option<Delay>,
    /// The decoded trace, compared with what was executed.
    pub verified: Verified,
}

impl Soc {
    /// Runs a program without and with tracing.
    ///
    /// # Errors
    ///
    /// As [`Soc::survey`] and [`Soc::trace`].
    pub fn run(&self, job: &Job) -> Result<Outcome, SocError> {
        self.trace(job, &self.survey(job)?)
    }

    /// Runs a program that has been surveyed with tracing, from its first to its last instruction.
    ///
    /// # Errors
    ///
    /// If a mode cannot be traced here, or the simulation fails. A trace that differs from what was executed
    /// is not an error: the outcome reports it.
    pub fn trace(&self, job: &Job, survey: &Survey) -> Result<Outcome, SocError> {
        self.trace_with(job, survey, &mut |_| ())
    }

    /// The same; `also` receives, cycle by cycle, what the encoder of the first hart receives, and the bytes that leave
    /// the sink.
    ///
    /// # Errors
    ///
    /// As [`Soc::trace`].
    pub fn trace_with(
        &self,
        job: &Job,
        survey: &Survey,
        also: &mut dyn FnMut(Seen<'_>),
    ) -> Result<Outcome, SocError> {
        Ok(trace_all(&mut [(self, &job.setting, also)], job, survey)?.remove(0))
    }

    /// Runs a program that has been surveyed once, and traces it with several systems at the same time, each with its own
    /// settings instead of those of the job. The cores are those of the first: none may be able to stall them.
    ///
    /// # Errors
    ///
    /// As [`Soc::trace`], and if a system does not fit.
    pub fn trace_each(
        systems: &[(&Soc, Setting)],
        job: &Job,
        survey: &Survey,
    ) -> Result<Vec<Outcome>, SocError> {
        let first = systems.first().map(|(soc, _)| soc.shape());
        if systems.iter().any(|(soc, _)| soc.config.stalls() || Some(soc.shape()) != first) {
            let what = "systems around the same cores have the same harts, and none can stall them";
            return Err(SocError::Mode(what.to_owned()));
        }
        let mut nothing: Vec<_> = systems.iter().map(|_| |_: Seen<'_>| ()).collect();
        let mut systems: Vec<System<'_>> = (systems.iter().zip(&mut nothing))
            .map(|((soc, setting), also)| (*soc, setting, also as &mut dyn FnMut(Seen<'_>)))
            .collect();
        trace_all(&mut systems, job, survey)
    }
}

/// What is attached to the cores, its settings, and what receives what it receives and sends.
type System<'a> = (&'a Soc, &'a Setting, &'a mut dyn FnMut(Seen<'_>));

fn trace_all(
    systems: &mut [System<'_>],
    job: &Job,
    survey: &Survey,
) -> Result<Vec<Outcome>, SocError> {
    let Some(&(first, ..)) = systems.first() else { return Ok(Vec::new()) };
    let mut platform = job.platform(&first.core, first.shape())?;
    if let Some(path) = &job.waves {
        for (hart, core) in platform.cores().iter_mut().enumerate() {
            core.waves(&waves_of_core(path, hart))?;
        }
    }
    let mut traced = Vec::new();
    for (soc, setting, also) in systems {
        let (soc, setting) = (*soc, *setting);
        if soc.config.is_self_hosted() {
            return Err(SocError::SelfHosted(
                "its own program has to; Soc::run_self_hosted runs it",
            ));
        }
        soc.has(&setting.options)?;
        if setting.stalls(&soc.config.top.encoder) && !soc.config.stalls() {
            return Err(SocError::Waits);
        }
        let mut link = Link::new(soc, &first.core, job.platform.seed)?;
        if let Some(path) = &job.waves {
            link.attached.waves(path)?;
        }
        let tvec = survey.tvec(&setting.options)?;
        let watch = Watch::new(soc, job, survey, &tvec, &mut link.attached, &mut **also)?;
        let mut one = Traced { soc, setting, link, watch };
        one.start(platform.cores())?;
        traced.push(one);
    }
    let run = platform.run(job.limit, &mut traced)?;
    let ended = traced.into_iter().map(|mut one| {
        one.stop(platform.cores())?;
        Ok(one.watch.finish(run, &platform, &one.soc.config.top.encoder))
    });
    ended.collect()
}

impl Soc {
    pub(crate) fn shape(&self) -> Shape {
        (self.config.top.harts as usize, self.config.xlen(), self.config.stalls())
    }

    /// Checks that the encoder has these modes: its registers would not accept others.
    fn has(&self, options: &Ioptions) -> Result<(), SocError> {
        let params = self.config.top.encoder_params();
        match Mode::ALL.into_iter().find(|mode| options.get(*mode) && !params.has(*mode)) {
            Some(mode) => Err(SocError::Mode(format!("the encoder has no mode {mode}"))),
            None => Ok(()),
        }
    }
}

/// The file for the waves of a core, beside that of what is attached to it.
fn waves_of_core(attached: &Path, hart: usize) -> PathBuf {
    let extension = attached.extension().unwrap_or_default().to_string_lossy();
    attached.with_extension(format!("hart{hart}.{extension}").trim_end_matches('.'))
}

/// What is attached to the cores, and everything that is observed in a run.
struct Traced<'a> {
    soc: &'a Soc,
    setting: &'a Setting,
    link: Link,
    watch: Watch<'a>,
}

/// Everything that is observed in a run.
struct Watch<'a> {
    harts: Vec<HartWatch<'a>>,
    packets: Vec<(u64, u64)>,
    first_source: u32,
    apb: Apb,
    stream: Stream,
    deframer: Deframer,
    bytes: Vec<u8>,
    fifo_level: Output,
    peak_fifo: u64,
    /// The last cycle.
    now: u64,
    /// The first error in the stream.
    difference: Option<String>,
    also: &'a mut dyn FnMut(Seen<'_>),
}

impl Traced<'_> {
    /// Switches tracing on; cores are in reset.
    fn start(&mut self, cores: &mut [Simulation]) -> Result<(), SocError> {
        for _ in 0..RESET {
            self.link.step(cores)?;
        }
        let attached = &mut self.link.attached;
        let reset = attached.input("rst_ni")?;
        attached.set(reset, 1);
        let top = &self.soc.config.top;
        for hart in 0..self.watch.harts.len() {
            let writes = self.setting.writes(&top.encoder, false);
            for (i, (offset, word)) in writes.iter().enumerate() {
                // The last write switches tracing on.
                if i + 1 == writes.len() && top.time == TimeSource::Internal {
                    let count = TrTsControl::default().with_count(true).0;
                    self.write(cores, Apb::page(hart) + TrTsControl::OFFSET, count)?;
                    let start = self.link.attached.cycle() + 1;
                    self.watch.harts[hart].clock = Some(Clock::new(start));
                }
                self.write(cores, Apb::page(hart) + offset, *word)?;
            }
        }
        Ok(())
    }

    /// Resets the cores, so that nothing more retires, and switches tracing off. What retired last is on its way.
    fn stop(&mut self, cores: &mut [Simulation]) -> Result<(), SocError> {
        for core in &mut *cores {
            let reset = core.input("rst_ni")?;
            core.set(reset, 0);
        }
        let off = self.setting.control(false).0;
        for hart in 0..self.watch.harts.len() {
            let address = Apb::page(hart) + TrTeControl::OFFSET;
            self.write(cores, address, off)?;
            let empty = |word| TrTeControl(word).empty();
            let apb = self.watch.apb;
            apb.wait(&mut Ticking { traced: self, cores }, address, empty)?;
        }
        Ok(())
    }

    fn write(&mut self, cores: &mut [Simulation], address: u32, word: u32) -> Result<(), SocError> {
        let apb = self.watch.apb;
        apb.write(&mut Ticking { traced: self, cores }, address, word)
    }

    /// A clock cycle while nothing but resets changes at the cores.
    fn tick(&mut self, cores: &mut [Simulation]) -> Result<(), SimError> {
        self.link.step(cores)?;
        self.watch.observe(&mut self.link.attached);
        Ok(())
    }
}

impl<'a> Watch<'a> {
    fn new(
        soc: &Soc,
        job: &Job,
        survey: &'a Survey,
        tvec: &[(u8, u64)],
        sim: &mut Simulation,
        also: &'a mut dyn FnMut(Seen<'_>),
    ) -> Result<Self, SocError> {
        let top = &soc.config.top;
        let mut harts = Vec::new();
        for number in 0..top.harts as usize {
            let follow = RoundTripCheck::new(&top.encoder, &survey.image, tvec.to_vec())?;
            harts.push(HartWatch::new(sim, number, &soc.config, follow)?);
        }
        Ok(Self {
            packets: vec![(0, 0); harts.len()],
            harts,
            first_source: top.first_source,
            apb: Apb::new(sim)?,
            stream: Stream::new(sim, job)?,
            deframer: Deframer::new(top.framing()?),
            bytes: Vec::new(),
            fifo_level: sim.output("fifo_level_o")?,
            peak_fifo: 0,
            now: 0,
            difference: None,
            also,
        })
    }

    /// Called after a clock cycle, with the outputs before its edge.
    fn observe(&mut self, sim: &mut Simulation) {
        self.now = sim.cycle();
        self.peak_fifo = self.peak_fifo.max(sim.get(self.fifo_level));
        for (number, hart) in self.harts.iter_mut().enumerate() {
            match number {
                0 => hart.cycle(sim, self.also),
                _ => hart.cycle(sim, &mut |_| ()),
            }
        }
        let before = self.bytes.len();
        self.stream.cycle(sim, &mut self.bytes);
        if self.bytes.len() > before {
            (self.also)(Seen::Payload(&self.bytes[before..], None));
        }
        (self.also)(Seen::Cycle);
        let Self { deframer, bytes, harts, packets, first_source, difference, .. } = self;
        deframer.feed(&bytes[before..], &mut |offset, item| match item {
            Ok(Item::Frame(frame)) => {
                let source = u32::from(frame.header().source.unwrap_or(0));
                let hart = source.wrapping_sub(*first_source) as usize;
                let payload = frame.payload_bytes().unwrap_or_default();
                match harts.get_mut(hart) {
                    Some(watch) => {
                        packets[hart].0 += 1;
                        packets[hart].1 += payload.len() as u64;
                        watch.follow.seen(Seen::Payload(payload, None));
                    }
                    None => drop(difference.get_or_insert(format!("no hart has source {source}"))),
                }
            }
            Ok(Item::Null(_)) => {}
            Err(error) => {
                difference.get_or_insert(format!("byte {offset} of the stream: {error}"));
            }
        });
    }

    fn finish(mut self, run: Run, platform: &Platform, config: &Config) -> Outcome {
        let bits = config.etrace.time_bits();
        if let Some((offset, error)) = self.deframer.finish() {
            let what = format!("byte {offset}, the end of the stream: {error}");
            self.difference.get_or_insert(what);
        }
        let difference = self.difference;
        let harts = self.harts.into_iter().zip(self.packets).map(|(mut hart, packets)| {
            hart.close();
            let (lost, accepted) = (hart.follow.lost, hart.follow.accepted);
            let mut verified = hart.follow.finish();
            // The place where the difference starts is reported first.
            let first = hart.difference.take().or_else(|| difference.clone());
            verified.difference = first.or(verified.difference);
            HartOutcome {
                instructions: hart.instructions,
                traps: hart.traps,
                lost,
                idle: accepted.saturating_sub(verified.decoded),
                stalled: hart.stalled,
                packets: packets.0,
                payload_bytes: packets.1,
                peak_queue: hart.peak,
                delay: hart.clock.and_then(|clock| clock.delay(&verified.times, bits)),
                verified,
            }
        });
        let harts = harts.collect();
        Outcome {
            run,
            withdrawn: platform.withdrawn(),
            bytes: self.bytes,
            peak_fifo: self.peak_fifo,
            harts,
            console: platform.console().to_vec(),
        }
    }
}

/// What software has access to, over APB.
struct Ticking<'a, 'b> {
    traced: &'a mut Traced<'b>,
    cores: &'a mut [Simulation],
}

impl Clocked for Ticking<'_, '_> {
    fn simulation(&mut self) -> &mut Simulation {
        &mut self.traced.link.attached
    }

    fn tick(&mut self) -> Result<(), SimError> {
        self.traced.tick(self.cores)
    }
}

impl Observe for Vec<Traced<'_>> {
    fn commit(&mut self, commit: &Commit) {
        for Traced { watch, .. } in self {
            if let Some(hart) = watch.harts.get_mut(usize::from(commit.hart)) {
                // Committed in the cycle that is observed next.
                hart.commit(commit, watch.now + 1);
            }
        }
    }

    fn inputs(&mut self, cores: &mut [Simulation]) -> Result<(), SimError> {
        self.iter_mut().try_for_each(|one| one.link.hold(cores))
    }

    fn cycle(&mut self, cores: &[Simulation]) -> Result<(), SimError> {
        for Traced { link, watch, .. } in self {
            link.follow(cores)?;
            watch.observe(&mut link.attached);
        }
        Ok(())
    }
}

/// The receiver of the trace.
struct Stream {
    valid: Output,
    data: Output,
    keep: Output,
    ready: Input,
    is_ready: bool,
    back_pressure: u32,
    rng: Rng,
}

impl Stream {
    fn new(sim: &mut Simulation, job: &Job) -> Result<Self, SimError> {
        let ready = sim.input("tready_i")?;
        sim.set(ready, 1);
        Ok(Self {
            valid: sim.output("tvalid_o")?,
            data: sim.output("tdata_o")?,
            keep: sim.output("tkeep_o")?,
            ready,
            is_ready: true,
            back_pressure: job.back_pressure,
            rng: Rng::with_seed(job.platform.seed),
        })
    }

    fn cycle(&mut self, sim: &mut Simulation, bytes: &mut Vec<u8>) {
        if self.is_ready && sim.get(self.valid) == 1 {
            let (data, keep) = (sim.get(self.data).to_le_bytes(), sim.get(self.keep));
            bytes.extend((0..8).filter(|i| keep >> i & 1 == 1).map(|i| data[i]));
        }
        self.is_ready = self.back_pressure == 0 || self.rng.u32(..1000) >= self.back_pressure;
        sim.set(self.ready, self.is_ready.into());
    }
}
