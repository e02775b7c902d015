//! Parameter files that explain themselves.

use super::Draft;
use super::draft::unit_name;
use crate::framing::{Field, Kind};
use hartrace_etrace::{Mode, Unit};
use std::fmt::Write;

/// What each parameter means.
const PARAMETERS: [(&str, &str); 15] = [
    ("iaddress_width_p", "width of instruction addresses in bits, normally XLEN"),
    (
        "iaddress_lsb_p",
        "low bits of addresses that are never sent: 1 with compressed instructions, else 2",
    ),
    ("privilege_width_p", "width of the privilege level"),
    ("ecause_width_p", "width of the cause of a trap"),
    ("context_width_p", "width of the context, if there is one"),
    ("nocontext_p", "1: packets have no context"),
    ("time_width_p", "width of the time, if there is one"),
    ("notime_p", "1: packets have no time"),
    (
        "f0s_width_p",
        "width of the subformat of format 0: 1 if there are both a predictor and a cache",
    ),
    ("bpred_size_p", "the branch predictor has 2^N entries; 0: there is none"),
    ("cache_size_p", "the jump target cache has 2^N entries; 0: there is none"),
    ("return_stack_size_p", "the return stack has 2^N entries; 0: there is none"),
    ("call_counter_size_p", "width of the counter of nested calls; 0: there is none"),
    ("sijump_p", "1: the hart recognises sequentially inferable jumps"),
    (
        "hpred_size_p",
        "each tagged table of the history predictor has 2^N entries; 0: there is none",
    ),
];

/// Who built an encoder.
const UNITS: [(Unit, &str); 3] = [
    (Unit::Reference, "the reference models, and encoders like them"),
    (Unit::RvTracer, "PULP rv_tracer, with its own payloads"),
    (Unit::Hartrace, "this project"),
];

impl Draft {
    /// Returns the file as TOML with a comment on every key that it has, or could have.
    pub fn commented(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_commented(&mut text);
        text
    }

    fn write_commented(&self, text: &mut String) -> std::fmt::Result {
        writeln!(
            text,
            "# Parameters of an encoder, for hartrace: --params FILE, or FILE = CAPTURE.toml."
        )?;
        writeln!(text, "# What a file does not set has the default of the specification.\n")?;
        if let Some(xlen) = self.xlen {
            writeln!(text, "# The base instruction set: 32 or 64.\nxlen = {}\n", xlen.bits())?;
        }
        writeln!(text, "[parameters]")?;
        for (name, what) in PARAMETERS {
            if let Some(value) = self.params.get(name) {
                writeln!(text, "# {what}\n{name} = {value}")?;
            }
        }
        writeln!(
            text,
            "\n[options]\n# Who built the encoder, which determines the layout of support packets:"
        )?;
        for (unit, what) in UNITS {
            writeln!(text, "# {:?}: {what}", unit_name(unit))?;
        }
        writeln!(text, "unit = \"{}\"", unit_name(self.unit.unwrap_or_default()))?;
        writeln!(
            text,
            "# Modes that are on, unless the support packets of a capture say otherwise."
        )?;
        for mode in Mode::ALL.into_iter().filter(|mode| *mode != Mode::DeltaAddress) {
            let on = self.modes.iter().any(|(other, on)| *other == mode && *on);
            // An extension that most encoders do not have.
            if mode == Mode::HistoryPrediction && !on {
                continue;
            }
            writeln!(text, "{} = {on}", mode.name())?;
        }
        let width = self.itype_width.unwrap_or(4);
        writeln!(
            text,
            "# Width of itype between hart and encoder: 3 or 4.\nitype-width = {width}"
        )?;
        writeln!(
            text,
            "# For an encoder: it synchronises after 2^(N + 4) packets, cycles or half-words."
        )?;
        match self.resync_max {
            Some(max) => writeln!(text, "resync-max = {max}")?,
            None => writeln!(text, "# resync-max = 6")?,
        }
        let mode = self.resync_mode.map_or("packets", |mode| mode.name());
        writeln!(
            text,
            "{}resync-mode = {mode:?}",
            if self.resync_mode.is_some() { "" } else { "# " }
        )?;
        writeln!(
            text,
            "\n[framing]\n# How payloads are packed: {}.",
            Kind::ALL.map(Kind::name).join(", ")
        )?;
        let kind = self.framing.unwrap_or(Kind::Reference);
        writeln!(text, "kind = \"{kind}\"")?;
        for field in Field::ALL {
            let kinds = field.kinds().iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            match field.value(&self.fields).filter(|_| field.kinds().contains(&kind)) {
                Some(value) => writeln!(text, "{field} = {value}")?,
                None => writeln!(text, "# {field} = 0   # {kinds}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Given, Setup};
    use hartrace_etrace::{Ioptions, Params};
    use hartrace_isa::Xlen;

    #[test]
    fn comments_change_nothing() {
        let params = Params { iaddress_width_p: 64, hpred_size_p: 3, ..Params::default() };
        let params = Params { bpred_size_p: 3, f0s_width_p: 2, ..params };
        let options = Ioptions { branch_prediction: true, ..Ioptions::default() };
        let draft = Draft::new(&params, Unit::Hartrace, &options);
        assert_eq!(draft.params.len(), PARAMETERS.len());
        let narrow = Draft { xlen: Some(Xlen::Rv64), itype_width: Some(3), ..draft.clone() };
        for draft in [narrow, draft] {
            let text = draft.commented();
            assert!(
                PARAMETERS.iter().all(|(name, what)| text.contains(name) && text.contains(what))
            );
            let read = |draft| Setup::new(Some(draft), &Given::default()).unwrap();
            let again = read(Draft::parse(&text, "p").unwrap());
            assert_eq!(format!("{again:?}"), format!("{:?}", read(draft)), "{text}");
        }
    }
}
