//! Actions of software, through the driver.

use crate::rig::Rig;
use fastrand::Rng;
use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::registers::driver::ram_sink::{
    HartraceRamStatus, TrRamControl, TrRamLimitLow, TrRamStartLow, TrRamWPLow,
};
use hartrace_encoder_hdl::registers::driver::te::TrTeControl;
use hartrace_encoder_hdl::top::TimeSource;
use hartrace_etrace::ingress::Retired;
use hartrace_lockstep::{Setting, random};
use libtest_mimic::Failed;

/// The address of the registers of a hart.
pub(crate) fn page(hart: usize) -> u32 {
    0x1000 * hart as u32
}

/// Settings of a trace.
pub(crate) struct Session {
    pub(crate) setting: Setting,
    pub(crate) triggers: bool,
}

impl Session {
    /// Any settings that the encoder supports, with filters for what the program does.
    pub(crate) fn random(rng: &mut Rng, config: &Config, rows: &[Retired]) -> Self {
        let mut setting = random::setting(rng, config);
        random::filters(rng, config, rows, &mut setting.filters);
        let triggers = config.triggers && rng.bool();
        setting.initially_off &= triggers;
        Self { setting, triggers }
    }

    fn control(&self) -> TrTeControl {
        self.setting.control(self.triggers)
    }
}

impl Rig {
    /// Configures the encoder of a hart and switches it on. Tracing begins two cycles later.
    pub(crate) fn start(&mut self, hart: usize, session: &Session) -> Result<(), Failed> {
        let writes = session.setting.writes(&self.config.encoder, session.triggers);
        for (i, (offset, word)) in writes.iter().enumerate() {
            // Before the last write, which switches it on.
            if i + 1 == writes.len() && self.config.time == TimeSource::Internal {
                let prescale = self.rng.u32(..4);
                self.start_clock(hart, prescale)?;
            }
            self.write(page(hart) + offset, *word)?;
        }
        self.harts[hart].start(&session.setting, session.triggers)
    }

    /// Switches the encoder of a hart off.
    pub(crate) fn stop(&mut self, hart: usize, session: &Session) -> Result<(), Failed> {
        self.write(page(hart), session.control().0)?;
        self.harts[hart].stop();
        Ok(())
    }

    /// Ends the trace of a hart; its encoder stays on.
    pub(crate) fn pause(&mut self, hart: usize, session: &Session) -> Result<(), Failed> {
        self.write(page(hart), session.control().with_enable(true).0)?;
        self.harts[hart].stop();
        Ok(())
    }

    /// Begins another trace.
    pub(crate) fn resume(&mut self, hart: usize, session: &Session) -> Result<(), Failed> {
        let on = session.control().with_enable(true).with_inst_tracing(true);
        self.write(page(hart), on.0)?;
        self.harts[hart].start(&session.setting, session.triggers)
    }

    /// Waits until the whole trace of a hart has left.
    pub(crate) fn empty(&mut self, hart: usize) -> Result<(), Failed> {
        self.wait(page(hart), |word| TrTeControl(word).empty())
    }

    /// Address of the registers of the sink.
    pub(crate) fn sink(&self) -> u32 {
        page(self.harts.len())
    }

    /// Sets up a ring buffer and switches the sink on, with these settings.
    pub(crate) fn start_ram(
        &mut self,
        start: u32,
        size: u32,
        on: TrRamControl,
    ) -> Result<(), Failed> {
        let base = self.sink();
        let on = on.with_active(true);
        self.write(base, on.0)?;
        self.write(base, on.0)?;
        self.write(base + TrRamStartLow::OFFSET, start)?;
        self.write(base + TrRamLimitLow::OFFSET, start + size - 4)?;
        self.write(base + TrRamWPLow::OFFSET, start)?;
        self.write(base, on.with_enable(true).0)
    }

    /// Waits until everything is in memory. Returns where the trace ends.
    pub(crate) fn ram_empty(&mut self) -> Result<u32, Failed> {
        let base = self.sink();
        self.wait(base, |word| TrRamControl(word).empty())?;
        Ok(self.read(base + TrRamWPLow::OFFSET)? & !3)
    }

    /// Switches the sink off and waits until it is off.
    pub(crate) fn stop_ram(&mut self) -> Result<u32, Failed> {
        self.write(self.sink(), TrRamControl::default().with_active(true).0)?;
        self.ram_empty()
    }

    pub(crate) fn ram_status(&mut self) -> Result<HartraceRamStatus, Failed> {
        self.read(self.sink() + HartraceRamStatus::OFFSET).map(HartraceRamStatus)
    }
}
