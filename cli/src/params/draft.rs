//! What a parameter file says.

use super::document::{self, Entry, Value};
use crate::args::{FramingArgs, FramingKind};
use crate::failure::Failure;
use crate::files;
use clap::ValueEnum;
use hartrace_etrace::{Mode, Params, Unit};
use std::path::Path;

/// Parameters of the specification that shape no packet, so they may be given but do not matter.
const IGNORED: &[&str] = &[
    "arch_p",
    "blocks_p",
    "retires_p",
    "taken_branches_p",
    "ctype_width_p",
    "iretire_width_p",
    "ilastsize_width_p",
    "impdef_width_p",
    "comparators_p",
    "filters_p",
    "ecause_choice_p",
    "filter_context_p",
    "filter_time_p",
    "filter_excint_p",
    "filter_privilege_p",
    "filter_tval_p",
    "daddress_width_p",
    "data_width_p",
    "dsize_width_p",
    "dtype_width_p",
    "dblock_width_p",
    "iaddr_lsbs_width_p",
    "lrid_width_p",
    "lresp_width_p",
    "ldata_width_p",
    "sdata_width_p",
];

/// Keys of a vector's configuration that say nothing about packets.
const PROSE: &[&str] = &["config", "source", "resync", "input_variant", "notes"];

const OPTIONS: &[&str] = &["resync-max", "resync-mode", "unit", "itype-width"];

const FRAMING: &[&str] = &[
    "kind",
    "src-bits",
    "timestamp-bytes",
    "type-bits",
    "instruction-type",
    "hart-bits",
    "atid",
    "source",
];

/// How deep configurations may refer to each other.
const MAX_DEPTH: u32 = 4;

/// Which units a resynchronisation period counts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResyncMode {
    Off,
    Packets,
    Cycles,
    HalfWords,
}

/// Everything a parameter file may say; what it does not say is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    /// Parameters that shape packets, by name.
    pub(crate) params: serde_json::Map<String, serde_json::Value>,
    /// `itype_width_p`: 3 or 4.
    pub(crate) itype_width: Option<u8>,
    pub(crate) modes: Vec<(Mode, bool)>,
    pub(crate) resync_max: Option<u32>,
    pub(crate) resync_mode: Option<ResyncMode>,
    pub(crate) unit: Option<Unit>,
    pub(crate) framing: Option<FramingKind>,
    pub(crate) fields: FramingArgs,
}

impl Draft {
    /// Reads a file, and those it refers to.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        Self::read_nested(path, 0)
    }

    fn read_nested(path: &Path, depth: u32) -> Result<Self, Failure> {
        let file = files::name(path);
        let text = String::from_utf8(files::read(path)?).map_err(|error| {
            Failure::input("not text")
                .at(format_args!("{file}: byte {}", error.utf8_error().valid_up_to()))
        })?;
        Self::parse(&text, &file, &mut |name, entry| {
            if depth >= MAX_DEPTH {
                return Err(Failure::usage("configurations refer to each other in a circle")
                    .at(&entry.place));
            }
            let sibling = path.with_file_name(format!("{name}.json"));
            Self::read_nested(&sibling, depth + 1)
        })
    }

    /// Reads `text`; `refer` reads the configuration that another one names.
    fn parse(
        text: &str,
        file: &str,
        refer: &mut dyn FnMut(&str, &Entry) -> Result<Self, Failure>,
    ) -> Result<Self, Failure> {
        let entries = document::parse(text, file)?;
        let mut draft = Self::default();
        // What another configuration says comes first, so that this one can change it.
        for entry in entries.iter().filter(|e| e.key == "parameters") {
            match &entry.value {
                Value::Text(reference) => {
                    let name = reference.strip_prefix("as ").ok_or_else(|| {
                        entry.expected("a table, or \"as\" and another configuration's name")
                    })?;
                    draft = refer(name, entry)?;
                }
                _ => {
                    for inner in entry.table()? {
                        draft.parameter(inner)?;
                    }
                }
            }
        }
        for entry in &entries {
            match (entry.key.as_str(), &entry.value) {
                ("parameters", _) => {}
                ("options", _) => {
                    for inner in entry.table()? {
                        draft.option(inner)?;
                    }
                }
                ("framing", _) => {
                    for inner in entry.table()? {
                        draft.framing(inner)?;
                    }
                }
                // In the vectors this is prose: the width is that of each test.
                ("iaddress_width_p", Value::Text(_)) => {}
                // Its stream was made from another one; only its name says what changed.
                ("config", Value::Text(name)) if name.ends_with("implicit_exception") => {
                    draft.modes.push((Mode::ImplicitException, true));
                }
                (key, _) if PROSE.contains(&key) => {}
                _ => draft.parameter(entry)?,
            }
        }
        Ok(draft)
    }

    fn parameter(&mut self, entry: &Entry) -> Result<(), Failure> {
        let known = parameter_names();
        let key = entry.key.as_str();
        match known.get(key) {
            Some(is_flag) => {
                let value = if *is_flag { u8::from(entry.flag()?) } else { entry.byte()? };
                self.params.insert(key.into(), value.into());
                Ok(())
            }
            None if key == "itype_width_p" => self.itype_width(entry),
            None if IGNORED.contains(&key) => Ok(()),
            None => {
                let names = known.keys().map(String::as_str);
                let others = ["itype_width_p", "options", "framing", "parameters"];
                Err(unknown(entry, names.chain(IGNORED.iter().copied()).chain(others)))
            }
        }
    }

    fn itype_width(&mut self, entry: &Entry) -> Result<(), Failure> {
        match entry.value {
            Value::Number(width @ (3 | 4)) => self.itype_width = Some(width as u8),
            _ => return Err(entry.expected("3 or 4")),
        }
        Ok(())
    }

    fn option(&mut self, entry: &Entry) -> Result<(), Failure> {
        let key = entry.key.as_str();
        if let Ok(mode) = key.parse() {
            self.modes.push((mode, entry.flag()?));
            return Ok(());
        }
        match key {
            // The period 2^(v+4) must fit in 64 bits.
            "resync-max" => self.resync_max = Some(entry.number(59)? as u32),
            "resync-mode" => {
                self.resync_mode = Some(match entry.text()? {
                    "off" => ResyncMode::Off,
                    "packets" => ResyncMode::Packets,
                    "cycles" => ResyncMode::Cycles,
                    "half-words" => ResyncMode::HalfWords,
                    _ => return Err(entry.expected("packets, cycles, half-words or off")),
                });
            }
            "unit" => {
                self.unit = Some(match entry.text()? {
                    "reference" => Unit::Reference,
                    "rv-tracer" => Unit::RvTracer,
                    "hartrace" => Unit::Hartrace,
                    _ => return Err(entry.expected("reference, rv-tracer or hartrace")),
                });
            }
            "itype-width" => self.itype_width(entry)?,
            _ => {
                let modes = Mode::ALL.into_iter().map(Mode::name);
                return Err(unknown(entry, modes.chain(OPTIONS.iter().copied())));
            }
        }
        Ok(())
    }

    fn framing(&mut self, entry: &Entry) -> Result<(), Failure> {
        let fields = &mut self.fields;
        match entry.key.as_str() {
            "kind" => {
                let kind = FramingKind::from_str(entry.text()?, false);
                self.framing = Some(kind.map_err(|_| {
                    entry.expected("reference, encap, smi, rv-tracer, atb or esp32")
                })?);
            }
            "src-bits" => fields.src_bits = Some(entry.byte()?),
            "timestamp-bytes" => fields.timestamp_bytes = Some(entry.byte()?),
            "type-bits" => fields.type_bits = Some(entry.byte()?),
            "instruction-type" => fields.instruction_type = Some(entry.byte()?),
            "hart-bits" => fields.hart_bits = Some(entry.byte()?),
            "atid" => fields.atid = Some(entry.byte()?),
            "source" => fields.source = Some(entry.number(u16::MAX.into())? as u16),
            _ => return Err(unknown(entry, FRAMING.iter().copied())),
        }
        Ok(())
    }
}

/// The parameters that shape packets, and whether each is a flag.
///
/// Taken from the type itself, so that the two cannot disagree.
fn parameter_names() -> std::collections::BTreeMap<String, bool> {
    let flags = ["nocontext_p", "notime_p", "sijump_p"];
    match serde_json::to_value(Params::default()) {
        Ok(serde_json::Value::Object(map)) => {
            map.into_iter().map(|(name, _)| (name.clone(), flags.contains(&&*name))).collect()
        }
        _ => Default::default(),
    }
}

fn unknown<'a>(entry: &Entry, known: impl Iterator<Item = &'a str>) -> Failure {
    let failure = Failure::usage(format_args!("unknown key {}", entry.key)).at(&entry.place);
    let distance = |name: &&str| strsim::damerau_levenshtein(name, &entry.key);
    match known.min_by_key(distance) {
        Some(name) => failure.hint(name),
        None => failure,
    }
}

#[cfg(test)]
pub(crate) fn of_text(text: &str) -> Result<Draft, Failure> {
    Draft::parse(text, "p", &mut |name, entry| {
        Err(Failure::input(format_args!("no {name}")).at(&entry.place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_name_the_closest() {
        let error = |text| of_text(text).unwrap_err().to_string();
        assert_eq!(
            error("arch_p = 0\niadress_lsb_p = 1\n"),
            "error: p:2:1: unknown key iadress_lsb_p\n  try: iaddress_lsb_p"
        );
        assert!(error("[options]\nfull_address = true").ends_with("try: full-address"));
        assert!(error("[framing]\nsrcbits = 1").ends_with("try: src-bits"));
        assert!(error(r#"{"parameters": {"sijump": 1}}"#).ends_with("try: sijump_p"));
        assert_eq!(of_text("x = 1").unwrap_err().status(), 2);
    }

    #[test]
    fn every_table() {
        let draft = of_text(
            "iaddress_lsb_p = 1\nfilters_p = 3\nitype_width_p = 3\n\
             [options]\nfull-address = true\nsi-jump = 0\nresync-max = 2\n\
             resync-mode = \"half-words\"\nunit = \"hartrace\"\n\
             [framing]\nkind = \"rv-tracer\"\nsource = 300\n",
        )
        .unwrap();
        assert_eq!(draft.params["iaddress_lsb_p"], 1);
        assert_eq!(draft.params.len(), 1);
        assert_eq!(draft.itype_width, Some(3));
        let modes = [(Mode::FullAddress, true), (Mode::SequentiallyInferredJump, false)];
        assert_eq!(draft.modes, modes);
        assert_eq!((draft.resync_max, draft.resync_mode), (Some(2), Some(ResyncMode::HalfWords)));
        assert_eq!(draft.unit, Some(Unit::Hartrace));
        assert_eq!(draft.framing, Some(FramingKind::RvTracer));
        assert_eq!(draft.fields.source, Some(300));
    }

    #[test]
    fn a_configuration_may_start_from_another() {
        let text = r#"{"config": "derived_implicit_exception", "source": "...",
            "parameters": "as base", "input_variant": "itype4"}"#;
        let draft = Draft::parse(text, "p", &mut |name, _| {
            assert_eq!(name, "base");
            of_text("ecause_width_p = 5")
        })
        .unwrap();
        assert_eq!(draft.params["ecause_width_p"], 5);
        assert_eq!(draft.modes, [(Mode::ImplicitException, true)]);
        assert!(of_text(r#"{"parameters": "like base"}"#).is_err());
    }

    #[test]
    fn values_are_checked() {
        for bad in [
            "iaddress_lsb_p = 256",
            "nocontext_p = 2",
            "itype_width_p = 5",
            "[options]\nresync-max = 60",
            "[options]\nresync-mode = \"instructions\"",
            "[options]\nunit = \"other\"",
            "options = 1",
            "[framing]\nkind = \"usb\"",
            "[framing]\nsource = 65536",
        ] {
            assert_eq!(of_text(bad).unwrap_err().status(), 2, "{bad}");
        }
    }
}
