//! A core that traces itself: it reaches the registers of its encoder through its own port to memory, and the sink writes
//! into the same memory.

use crate::axi::Axi;
use crate::bus::Bus;
use crate::commit::Probe;
use crate::map::RAM;
use crate::platform::{RESET, load};
use crate::ports::{AxiPorts, HartPorts};
use crate::soc::hart::HartWatch;
use crate::soc::link::Link;
use crate::soc::{Job, Soc, SocError};
use crate::{Event, Exit, Run};
use hartrace_decoder::Image;
use hartrace_encap::{Deframer, Item};
use hartrace_encoder_hdl::registers::driver::te::TrTeControl;
use hartrace_etrace::ingress::Retired;
use hartrace_executions::executed::Verified;
use hartrace_hdl_tools::verilate::{Output, SimError, Simulation};
use hartrace_isa::Isa;
use hartrace_lockstep::{RoundTripCheck, Seen};

/// A run of a program that may have traced parts of itself.
#[derive(Debug)]
pub struct SelfTraced {
    /// How it ended.
    pub run: Run,
    /// What the encoder was offered while it was enabled, one part for each time.
    pub traced: Vec<Vec<Retired>>,
    /// What the program wrote to registers until the encoder was enabled, one part for each time: offsets from the page of the
    /// encoder on, and words.
    pub writes: Vec<Vec<(u32, u32)>>,
    /// Instructions that were lost because there was no room.
    pub lost: u64,
    bus: Bus,
}

impl SelfTraced {
    /// Returns bytes of memory, if the range exists.
    #[must_use]
    pub fn read_memory(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.bus.bytes(address, size)
    }
}

impl Soc {
    /// Runs a program on a core that can trace itself. Nothing but the program accesses registers; settings of the job
    /// have no effect.
    ///
    /// # Errors
    ///
    /// If the system is not built for it, or the simulation fails.
    pub fn run_self_hosted(&self, job: &Job) -> Result<SelfTraced, SocError> {
        if !self.config.is_self_hosted() {
            let what = "the sink is a stream; build the system with SocConfig::self_hosted";
            return Err(SocError::SelfHosted(what));
        }
        let mut system = System::new(self, job)?;
        // A follower wants an image, though nothing is decoded in the run.
        let image = self.image(job)?;
        let follow = RoundTripCheck::new(&self.config.top.encoder, &image, Vec::new())?;
        let mut watch = HartWatch::new(&system.link.attached, 0, &self.config, follow)?;
        let mut run = Run { exit: Exit::Limit, cycles: 0, instructions: 0 };
        while run.cycles < job.limit && system.bus.exit.is_none() {
            system.step(&mut watch, &mut run)?;
        }
        run.exit = system.bus.exit.map_or(Exit::Limit, Exit::Exited);
        if let Some(difference) = watch.difference.take() {
            return Err(SocError::Blocks(difference));
        }
        let System { bus, traced, writes, .. } = system;
        Ok(SelfTraced { run, traced, writes, lost: watch.follow.lost, bus })
    }

    /// Compares the bytes of a buffer, which has not wrapped, with what was executed: every instruction, every trap with its cause
    /// and value, from the first to the last.
    ///
    /// # Errors
    ///
    /// If the program cannot be read. A difference is not an error.
    pub fn verify_self_hosted(
        &self,
        job: &Job,
        executed: &[Retired],
        bytes: &[u8],
    ) -> Result<Verified, SocError> {
        let (top, image) = (&self.config.top, self.image(job)?);
        let mut follow = RoundTripCheck::new(&top.encoder, &image, Vec::new())?;
        follow.seen(Seen::Accepted(executed));
        let mut deframer = Deframer::new(top.framing()?);
        let mut damage = None;
        deframer.feed(bytes, &mut |offset, item| match item {
            Ok(Item::Frame(frame)) => {
                follow.seen(Seen::Payload(frame.payload_bytes().unwrap_or_default(), None));
            }
            Ok(Item::Null(_)) => {}
            Err(error) => drop(damage.get_or_insert(format!("byte {offset}: {error}"))),
        });
        if let Some((offset, error)) = deframer.finish() {
            damage.get_or_insert(format!("byte {offset}, the end: {error}"));
        }
        let mut verified = follow.finish();
        verified.difference = damage.or(verified.difference);
        Ok(verified)
    }

    fn image(&self, job: &Job) -> Result<Image, SocError> {
        let mut image = Image::new(Isa::new(self.config.xlen()));
        image.add_elf(&job.elf, 0)?;
        Ok(image)
    }
}

/// A core, what is attached to it, and memory.
struct System {
    cores: Vec<Simulation>,
    resets: [hartrace_hdl_tools::verilate::Input; 2],
    hart: HartPorts,
    probe: Probe,
    link: Link,
    memory: AxiPorts,
    axi: Axi,
    bus: Bus,
    /// Set if a register is written, its offset, and what is written.
    register: [Output; 3],
    enabled: bool,
    traced: Vec<Vec<Retired>>,
    /// What was written since the encoder was enabled for the last time, and before each time.
    written: Vec<(u32, u32)>,
    writes: Vec<Vec<(u32, u32)>>,
}

impl System {
    fn new(soc: &Soc, job: &Job) -> Result<Self, SocError> {
        let seed = job.platform.seed;
        let link = Link::new(soc, &soc.core, seed)?;
        let mut core = soc.core.start(seed as u32)?;
        let attached = &link.attached;
        Ok(Self {
            resets: [core.input("rst_ni")?, attached.input("rst_ni")?],
            hart: HartPorts::new(&mut core, 0, RAM)?,
            probe: Probe::new(&core, 0)?,
            memory: AxiPorts::new(attached)?,
            axi: Axi::new(0, job.platform.latency, seed),
            bus: load(&job.elf, soc.config.xlen(), 1)?,
            register: [
                attached.output("register_written_o")?,
                attached.output("register_offset_o")?,
                attached.output("register_word_o")?,
            ],
            cores: vec![core],
            link,
            enabled: false,
            traced: Vec::new(),
            written: Vec::new(),
            writes: Vec::new(),
        })
    }

    /// One clock cycle of everything.
    fn step(&mut self, watch: &mut HartWatch<'_>, run: &mut Run) -> Result<(), SimError> {
        let Self { cores, link, bus, .. } = self;
        let now = run.cycles;
        let running = now >= RESET;
        cores[0].set(self.resets[0], running.into());
        link.attached.set(self.resets[1], running.into());
        let offers = if running { self.axi.offer(now) } else { Default::default() };
        self.memory.set_offers(&mut link.attached, &offers);
        self.hart.set_lines(&mut cores[0], &bus.lines[0], bus.time);
        link.answer(cores)?;
        cores[0].step()?;
        if running {
            self.probe.commits(&cores[0], now - RESET, |commit| {
                run.instructions += u64::from(commit.event == Event::Retired);
                watch.commit(&commit, now);
            });
        }
        link.follow(cores)?;
        let attached = &link.attached;
        if running {
            self.axi.request(now, &self.memory.requests(attached), bus);
        }
        let traced = &mut self.traced;
        // Also what is still on its way when it is disabled.
        watch.cycle(attached, &mut |seen| {
            if let (Seen::Accepted(rows), Some(part)) = (seen, traced.last_mut()) {
                part.extend_from_slice(rows);
            }
        });
        let [written, offset, word] = self.register.map(|port| attached.get(port));
        if written == 1 {
            self.written.push((offset as u32, word as u32));
        }
        if written == 1 && offset == u64::from(TrTeControl::OFFSET) {
            // What is offered from the next cycle on.
            let enable = TrTeControl(word as u32).enable();
            if enable && !self.enabled {
                self.traced.push(Vec::new());
                self.writes.push(std::mem::take(&mut self.written));
            }
            self.enabled = enable;
        }
        bus.tick();
        run.cycles += 1;
        Ok(())
    }
}
