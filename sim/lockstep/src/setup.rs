//! Settings of both encoders.

use crate::Mismatch;
use crate::bench::Bench;
use crate::ports::cut;
use crate::trial::xlen;
use hartrace_capture::description::Description;
use hartrace_capture::framing::Kind;
use hartrace_capture::params::Draft;
use hartrace_encoder_hdl::{Config, ResyncUnit};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{Comparator, Condition, ConfigError, EncoderConfig, Filter, Resync};

/// Settings of the encoder.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The modes that are on.
    pub options: Ioptions,
    /// When to resynchronise: the mode and *max*, as in the control registers.
    pub resync: (u8, u8),
    /// The traced privilege levels; empty for all.
    pub privileges: Vec<u8>,
    /// The first and last address of the traced ranges; empty for all.
    pub ranges: Vec<(u64, u64)>,
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
        let mut condition = Condition::default();
        if !self.privileges.is_empty() {
            condition.privileges = Some(self.privileges.clone());
        }
        if self.ranges.is_empty() {
            if condition.privileges.is_some() {
                filter.conditions.push(condition);
            }
        } else {
            for (i, (first, last)) in self.ranges.iter().enumerate() {
                filter.comparators.push(Comparator::range(*first, *last));
                filter.conditions.push(Condition { comparators: vec![i], ..condition.clone() });
            }
        }
        Encoder::new(EncoderConfig {
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
        })
    }
}

impl Bench {
    pub(crate) fn set_up(&mut self, setting: &Setting) -> Result<(), Mismatch> {
        self.options(&setting.options)?;
        let all = (0..8).collect();
        let levels = if setting.privileges.is_empty() { &all } else { &setting.privileges };
        let mask = levels.iter().fold(0u64, |mask, level| mask | 1 << level);
        let width = self.ports.privileges.width() as u8;
        self.sim.set(self.ports.privileges, cut(mask, width));
        self.sim.set(self.ports.resync_mode, setting.resync.0.into());
        self.sim.set(self.ports.resync_max, setting.resync.1.into());
        if let Some(port) = self.ports.initially_on {
            self.sim.set(port, (!setting.initially_off).into());
        }
        if let Some([ranges, low, high]) = self.ports.ranges {
            let params = &self.config.etrace;
            let (mut lows, mut highs) = (vec![0u64; 16], vec![0u64; 16]);
            let width = u32::from(params.iaddress_width_p - params.iaddress_lsb_p);
            for (i, (first, last)) in (0u32..).zip(&setting.ranges) {
                place(&mut lows, i * width, width, first >> params.iaddress_lsb_p);
                place(&mut highs, i * width, width, last >> params.iaddress_lsb_p);
            }
            let words = low.width().div_ceil(64) as usize;
            self.sim.set(ranges, (1 << setting.ranges.len()) - 1);
            self.sim.set_wide(low, &lows[..words]);
            self.sim.set_wide(high, &highs[..words]);
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
