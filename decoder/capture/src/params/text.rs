//! Parameter files as text.

use super::draft::{compat_name, unit_name};
use super::{Draft, Resync, ResyncMode, Setup};
use crate::framing::{Field, Fields};
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_etrace::{Compat, Ioptions, Mode, Params, Unit};
use std::fmt;

impl Draft {
    /// The parameters and modes of an encoder.
    pub fn new(params: &Params, unit: Unit, options: &Ioptions) -> Self {
        let params = match serde_json::to_value(params) {
            Ok(serde_json::Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        // Whether addresses are differences follows from the unit and from `full-address`.
        let modes = Mode::ALL.into_iter().filter(|mode| *mode != Mode::DeltaAddress);
        let modes = modes.filter(|mode| options.get(*mode)).map(|mode| (mode, true)).collect();
        Self { params, unit: Some(unit), modes, ..Self::default() }
    }

    /// The same, resynchronised in this way.
    #[must_use]
    pub fn resync(mut self, resync: Resync) -> Self {
        let (mode, period) = match resync {
            Resync::Off => (ResyncMode::Off, None),
            Resync::Packets(period) => (ResyncMode::Packets, Some(period)),
            Resync::Cycles(period) => (ResyncMode::Cycles, Some(period)),
            Resync::HalfWords(period) => (ResyncMode::HalfWords, Some(period)),
        };
        self.resync_mode = Some(mode);
        // The period is 2^(max + 4).
        self.resync_max = period.map(|period| period.max(16).ilog2().saturating_sub(4));
        self
    }
}

/// What a file must contain to describe the same stream.
impl From<&Setup> for Draft {
    fn from(setup: &Setup) -> Self {
        let draft = Self::new(&setup.params, setup.unit, &setup.options).resync(setup.resync);
        Self {
            xlen: Some(setup.xlen),
            compat: Some(setup.compat).filter(|compat| *compat != Compat::None),
            itype_width: Some(match setup.itype_width {
                ITypeWidth::Three => 3,
                ITypeWidth::Four => 4,
            }),
            framing: Some(setup.transport.kind()),
            fields: setup.transport.fields(),
            ..draft
        }
    }
}

/// TOML.
impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(xlen) = self.xlen {
            writeln!(f, "xlen = {}", xlen.bits())?;
        }
        writeln!(f, "\n[parameters]")?;
        for (name, value) in &self.params {
            writeln!(f, "{name} = {value}")?;
        }
        writeln!(f, "\n[options]")?;
        if let Some(unit) = self.unit {
            writeln!(f, "unit = \"{}\"", unit_name(unit))?;
        }
        if let Some(compat) = self.compat {
            writeln!(f, "compat = \"{}\"", compat_name(compat))?;
        }
        for (mode, on) in &self.modes {
            writeln!(f, "{} = {on}", mode.name())?;
        }
        if let Some(width) = self.itype_width {
            writeln!(f, "itype-width = {width}")?;
        }
        if let Some(mode) = self.resync_mode {
            writeln!(f, "resync-mode = \"{}\"", mode.name())?;
        }
        if let Some(max) = self.resync_max {
            writeln!(f, "resync-max = {max}")?;
        }
        let Some(kind) = self.framing else { return Ok(()) };
        writeln!(f, "\n[framing]\nkind = \"{kind}\"")?;
        for field in Field::ALL.into_iter().filter(|field| field.kinds().contains(&kind)) {
            if let Some(value) = field.value(&self.fields) {
                writeln!(f, "{field} = {value}")?;
            }
        }
        Ok(())
    }
}

impl Field {
    /// The value of this field.
    pub(crate) fn value(self, fields: &Fields) -> Option<u16> {
        match self {
            Self::SrcBits => fields.src_bits.map(Into::into),
            Self::TimestampBytes => fields.timestamp_bytes.map(Into::into),
            Self::TypeBits => fields.type_bits.map(Into::into),
            Self::InstructionType => fields.instruction_type.map(Into::into),
            Self::HartBits => fields.hart_bits.map(Into::into),
            Self::Atid => fields.atid.map(Into::into),
            Self::Source => fields.source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::tests::setup;

    #[test]
    fn text_describes_the_same_stream() {
        let modes = "[options]\nir = true\nfull = true\nresync-max = 3\nresync-mode = \"cycles\"\n\
                     unit = \"hartrace\"\nitype-width = 3\n";
        for (text, line) in [
            ("iaddress_width_p = 39\nsijump_p = true\nbpred_size_p = 3\n", ""),
            ("hpred_size_p = 5\n[options]\nhp = true\nfull = true\n", "--xlen 64"),
            ("", "--xlen 32 --framing smi --hart-bits 4 --source 3"),
            ("", "--xlen 64 --framing smi --timestamp-bytes 2"),
            (modes, "--xlen 64 --framing encap --src-bits 6 --type-bits 2 --instruction-type 2"),
            (modes, "--xlen 64 --framing encap --src-bits 6 --timestamp-bytes 8 --source 5"),
            ("[options]\nresync-max = 59\n", "--xlen 64 --framing atb --atid 9"),
            ("[options]\ncompat = \"c-model\"\n", "--xlen 32"),
            ("", "--framing rv-tracer"),
            ("[options]\nfull = true\n", "--framing rv-tracer"),
            ("iaddress_width_p = 30\n", "--xlen 64 --framing esp32"),
        ] {
            let setup = setup(Some(text), line).unwrap();
            let written = Draft::from(&setup).to_string();
            let again = Setup::new(Some(Draft::parse(&written, "p").unwrap()), &Default::default());
            let again = again.unwrap_or_else(|error| panic!("{error}:\n{written}"));
            assert_eq!(format!("{again:?}"), format!("{setup:?}"), "{written}");
        }
    }
}
