//! Settings of both encoders.

use crate::Mismatch;
use crate::bench::Bench;
use crate::filter_request::{self, FilterRequest};
use crate::trial::xlen;
use hartrace_capture::description::Description;
use hartrace_capture::framing::Kind;
use hartrace_capture::params::Draft;
use hartrace_encoder_hdl::{Config, Overflow, ResyncUnit};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{ConfigError, EncoderConfig, Filter, Resync};

/// Settings of the encoder.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The modes that are on.
    pub options: Ioptions,
    /// When to resynchronise: the mode and *max*, as in the control registers.
    pub resync: (u8, u8),
    /// The filters. What one of them asks for is traced; everything, if there are none.
    pub filters: Vec<FilterRequest>,
    /// Whether the hart waits if there is no room, where that can be chosen; otherwise input is lost.
    pub stall: bool,
    /// Whether nothing is traced before the first trigger.
    pub initially_off: bool,
}

impl Setting {
    /// Describes what [`Trial::run`](crate::trial::Trial::run) writes with these settings. `tvec` contains the
    /// trap vector registers by privilege.
    pub fn description(&self, config: &Config, tvec: &[(u8, u64)]) -> Description {
        let draft = Draft {
            xlen: Some(xlen(config)),
            framing: Some(Kind::Reference),
            ..Draft::new(&config.etrace, config.unit(), &self.options)
        };
        Description { draft, ..Description::default() }.with_trap_vectors(tvec)
    }

    /// Creates settings with these modes, and a resynchronisation after 2^(`max` + 4) of the first unit
    /// that the configuration can count.
    pub fn new(config: &Config, options: Ioptions, max: u8) -> Self {
        // The numbers of the control registers.
        let unit = match config.resync.first() {
            None => 0,
            Some(ResyncUnit::Packets) => 1,
            Some(ResyncUnit::Cycles) => 2,
            Some(ResyncUnit::HalfWords) => 3,
        };
        Self { options, resync: (unit, max), ..Self::default() }
    }

    /// Whether the hart waits if there is no room.
    #[must_use]
    pub fn stalls(&self, config: &Config) -> bool {
        match config.overflow {
            Overflow::Stall => true,
            Overflow::Drop => false,
            Overflow::Either => self.stall,
        }
    }

    /// Returns the unit that is counted until a resynchronisation, if one is.
    pub(crate) fn resync_unit(&self) -> Option<ResyncUnit> {
        match self.resync.0 {
            1 => Some(ResyncUnit::Packets),
            2 => Some(ResyncUnit::Cycles),
            3 => Some(ResyncUnit::HalfWords),
            _ => None,
        }
    }

    /// Creates the golden encoder of a configuration with these settings.
    pub fn golden(&self, config: &Config) -> Result<Encoder, ConfigError> {
        let period = 1 << (self.resync.1 + 4);
        let mut filter = Filter { initially_on: !self.initially_off, ..Filter::default() };
        self.filters.iter().for_each(|asked| asked.add(&mut filter));
        let encoder = Encoder::new(EncoderConfig {
            params: config.etrace,
            unit: config.unit(),
            options: self.options,
            itype_width: if config.itype_width_p == 4 {
                ITypeWidth::Four
            } else {
                ITypeWidth::Three
            },
            resync: match self.resync_unit() {
                Some(ResyncUnit::Packets) => Resync::Packets(period),
                Some(ResyncUnit::Cycles) => Resync::Cycles(period),
                Some(ResyncUnit::HalfWords) => Resync::HalfWords(period),
                None => Resync::Off,
            },
            filter,
            ..EncoderConfig::default()
        })?;
        Ok(if config.permission { encoder.guarded() } else { encoder })
    }
}

impl Bench {
    pub(crate) fn set_up(&mut self, setting: &Setting) -> Result<(), Mismatch> {
        self.options(&setting.options)?;
        self.sim.set(self.ports.resync_mode, setting.resync.0.into());
        self.sim.set(self.ports.resync_max, setting.resync.1.into());
        if let Some(port) = self.ports.stalls {
            self.sim.set(port, setting.stall.into());
        }
        if let Some(port) = self.ports.initially_on {
            self.sim.set(port, (!setting.initially_off).into());
        }
        let values =
            filter_request::values(&self.config, &setting.filters).ok_or(Mismatch::NoFilter)?;
        for (name, port) in &self.ports.filters {
            let words = port.width().div_ceil(64) as usize;
            let value = values.get(name).map_or(&[0; 16][..words], |value| &value[..words]);
            self.sim.set_wide(*port, value);
        }
        Ok(())
    }
}

/// Puts a value into a vector of words.
pub(crate) fn place(words: &mut [u64], at: u32, width: u32, value: u64) {
    for bit in 0..width {
        let (word, shift) = ((at + bit) / 64, (at + bit) % 64);
        words[word as usize] |= (value >> bit & 1) << shift;
    }
}
