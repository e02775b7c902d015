//! The contents of a parameter file.

use super::document::{self, Entry, Value};
use super::error::{DocumentError, Problem};
use crate::framing::{self, Field};
use crate::limits;
use hartrace_etrace::{Compat, Mode, Params, Unit};
use hartrace_isa::Xlen;
use std::collections::BTreeMap;
use std::path::Path;

/// Parameters of the specification that do not shape packets: accepted and ignored.
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

/// Keys of a vector's configuration that do not describe packets.
const PROSE: &[&str] = &["config", "source", "resync", "input_variant", "notes"];

/// Keys of a [description](crate::description) that do not describe packets.
const DESCRIPTION: &[&str] =
    &["version", "command", "capture", "programs", "kernel-code", "trap-vectors"];

const OPTIONS: &[&str] = &["resync-max", "resync-mode", "unit", "compat", "itype-width"];

/// How deeply references between configurations may be nested.
const MAX_DEPTH: u32 = 4;

/// What a resynchronisation period counts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ResyncMode {
    /// Nothing: there is no resynchronisation.
    Off,
    /// Packets.
    Packets,
    /// Clock cycles.
    Cycles,
    /// Retired half-words.
    HalfWords,
}

impl ResyncMode {
    const ALL: [Self; 4] = [Self::Off, Self::Packets, Self::Cycles, Self::HalfWords];

    /// The name in parameter files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Packets => "packets",
            Self::Cycles => "cycles",
            Self::HalfWords => "half-words",
        }
    }
}

const UNITS: [Unit; 3] = [Unit::Reference, Unit::RvTracer, Unit::Hartrace];

/// The name of a unit in parameter files.
pub(crate) const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Reference => "reference",
        Unit::RvTracer => "rv-tracer",
        Unit::Hartrace => "hartrace",
    }
}

const COMPATS: [Compat; 3] = [Compat::None, Compat::PythonModel, Compat::CModel];

/// The name of a reference model in parameter files.
pub(crate) const fn compat_name(compat: Compat) -> &'static str {
    match compat {
        Compat::None => "none",
        Compat::PythonModel => "python-model",
        Compat::CModel => "c-model",
    }
}

/// A name for errors, and the bytes of a file.
type Named = (String, Vec<u8>);

/// The contents of a parameter file; what it does not set is empty.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Parameters that shape packets, by name.
    pub params: serde_json::Map<String, serde_json::Value>,
    /// `xlen`: the base instruction set.
    pub xlen: Option<Xlen>,
    /// `itype_width_p`: 3 or 4.
    pub itype_width: Option<u8>,
    /// Run-time modes; if a mode is set several times, the last setting counts.
    pub modes: Vec<(Mode, bool)>,
    /// `resync-max`, at most 59.
    pub resync_max: Option<u32>,
    /// `resync-mode`.
    pub resync_mode: Option<ResyncMode>,
    /// `unit`: the implementation whose choices the encoder makes where the specification leaves them open.
    pub unit: Option<Unit>,
    /// `compat`: the reference model whose deviations from the specification the stream has.
    pub compat: Option<Compat>,
    /// `kind` of the framing.
    pub framing: Option<framing::Kind>,
    /// The other keys of the framing.
    pub fields: framing::Fields,
}

impl Draft {
    /// Reads text: TOML, or JSON if it starts with a brace. `file` is its name in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, DocumentError> {
        Self::parse_nested(text, file, &mut |name, entry| {
            Err(entry.wrong(Problem::Reference(name.into())))
        })
    }

    /// Reads a file, and the files that it is based on.
    pub fn read(path: &Path) -> Result<Self, DocumentError> {
        Self::read_with(path, &mut |path| {
            let place = path.display().to_string();
            match limits::read_document(path) {
                Ok(bytes) => Ok((place, bytes)),
                Err(error) => {
                    Err(DocumentError { place, problem: Problem::Unreadable(error.to_string()) })
                }
            }
        })
    }

    /// The same, but calls `read` for each file, which returns a name for errors and the bytes.
    pub fn read_with<E: From<DocumentError>>(
        path: &Path,
        read: &mut dyn FnMut(&Path) -> Result<Named, E>,
    ) -> Result<Self, E> {
        Self::read_nested(path, MAX_DEPTH, read)
    }

    fn read_nested<E: From<DocumentError>>(
        path: &Path,
        depth: u32,
        read: &mut dyn FnMut(&Path) -> Result<Named, E>,
    ) -> Result<Self, E> {
        let (file, bytes) = read(path)?;
        let text = String::from_utf8(bytes).map_err(|error| DocumentError {
            place: format!("{file}: byte {}", error.utf8_error().valid_up_to()),
            problem: Problem::NotText,
        })?;
        Self::parse_nested(&text, &file, &mut |name, entry| {
            let Some(depth) = depth.checked_sub(1) else {
                return Err(entry.wrong(Problem::Circle).into());
            };
            let sibling = path.with_file_name(format!("{name}.json"));
            Self::read_nested(&sibling, depth, read)
        })
    }

    /// Reads `text`; `refer` reads the configuration that another one names.
    fn parse_nested<E: From<DocumentError>>(
        text: &str,
        file: &str,
        refer: &mut dyn FnMut(&str, &Entry) -> Result<Self, E>,
    ) -> Result<Self, E> {
        Self::of_entries(&document::parse(text, file)?, refer)
    }

    /// Reads the entries of a file.
    pub(crate) fn of_entries<E: From<DocumentError>>(
        entries: &[Entry],
        refer: &mut dyn FnMut(&str, &Entry) -> Result<Self, E>,
    ) -> Result<Self, E> {
        let mut draft = Self::default();
        // The other configuration is read first, since this one may override it.
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
        for entry in entries {
            match (entry.key.as_str(), &entry.value) {
                ("parameters", _) => {}
                ("xlen", Value::Number(32)) => draft.xlen = Some(Xlen::Rv32),
                ("xlen", Value::Number(64)) => draft.xlen = Some(Xlen::Rv64),
                ("xlen", _) => return Err(entry.expected("32 or 64").into()),
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
                // In the vectors this is prose: each test has its own width.
                ("iaddress_width_p", Value::Text(_)) => {}
                // Its stream was derived from another one; only its name shows what changed.
                ("config", Value::Text(name)) if name.ends_with("implicit_exception") => {
                    draft.modes.push((Mode::ImplicitException, true));
                }
                (key, _) if PROSE.contains(&key) || DESCRIPTION.contains(&key) => {}
                _ => draft.parameter(entry)?,
            }
        }
        Ok(draft)
    }

    fn parameter(&mut self, entry: &Entry) -> Result<(), DocumentError> {
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
                let others = ["itype_width_p", "options", "framing", "parameters", "xlen"];
                let others = others.into_iter().chain(DESCRIPTION.iter().copied());
                Err(unknown(entry, names.chain(IGNORED.iter().copied()).chain(others)))
            }
        }
    }

    fn itype_width(&mut self, entry: &Entry) -> Result<(), DocumentError> {
        match entry.value {
            Value::Number(width @ (3 | 4)) => self.itype_width = Some(width as u8),
            _ => return Err(entry.expected("3 or 4")),
        }
        Ok(())
    }

    fn option(&mut self, entry: &Entry) -> Result<(), DocumentError> {
        let key = entry.key.as_str();
        if let Ok(mode) = key.parse() {
            self.modes.push((mode, entry.flag()?));
            return Ok(());
        }
        match key {
            // The period 2^(v+4) must fit in 64 bits.
            "resync-max" => self.resync_max = Some(entry.number(59)? as u32),
            "resync-mode" => {
                let text = entry.text()?;
                let mode = ResyncMode::ALL.into_iter().find(|mode| mode.name() == text);
                let unknown = || entry.expected("packets, cycles, half-words or off");
                self.resync_mode = Some(mode.ok_or_else(unknown)?);
            }
            "unit" => {
                let text = entry.text()?;
                let unit = UNITS.into_iter().find(|unit| unit_name(*unit) == text);
                let unknown = || entry.expected("reference, rv-tracer or hartrace");
                self.unit = Some(unit.ok_or_else(unknown)?);
            }
            "compat" => {
                let text = entry.text()?;
                let compat = COMPATS.into_iter().find(|compat| compat_name(*compat) == text);
                let unknown = || entry.expected("none, python-model or c-model");
                self.compat = Some(compat.ok_or_else(unknown)?);
            }
            "itype-width" => self.itype_width(entry)?,
            _ => {
                let modes = Mode::ALL.into_iter().map(Mode::name);
                return Err(unknown(entry, modes.chain(OPTIONS.iter().copied())));
            }
        }
        Ok(())
    }

    fn framing(&mut self, entry: &Entry) -> Result<(), DocumentError> {
        let key = entry.key.as_str();
        if key == "kind" {
            let kind = entry.text()?.parse();
            self.framing =
                Some(kind.map_err(|_| {
                    entry.expected("reference, encap, smi, rv-tracer, atb or esp32")
                })?);
            return Ok(());
        }
        let Some(field) = Field::ALL.into_iter().find(|field| field.name() == key) else {
            return Err(unknown(entry, ["kind"].into_iter().chain(Field::ALL.map(Field::name))));
        };
        let fields = &mut self.fields;
        match field {
            Field::SrcBits => fields.src_bits = Some(entry.byte()?),
            Field::TimestampBytes => fields.timestamp_bytes = Some(entry.byte()?),
            Field::TypeBits => fields.type_bits = Some(entry.byte()?),
            Field::InstructionType => fields.instruction_type = Some(entry.byte()?),
            Field::HartBits => fields.hart_bits = Some(entry.byte()?),
            Field::Atid => fields.atid = Some(entry.byte()?),
            Field::Source => fields.source = Some(entry.number(u16::MAX.into())? as u16),
        }
        Ok(())
    }
}

/// The parameters that shape packets, and whether each is a flag.
///
/// Derived from the type itself, so the two cannot disagree.
fn parameter_names() -> BTreeMap<String, bool> {
    let flags = ["nocontext_p", "notime_p", "sijump_p"];
    match serde_json::to_value(Params { hpred_size_p: 1, ..Params::default() }) {
        Ok(serde_json::Value::Object(map)) => {
            map.into_iter().map(|(name, _)| (name.clone(), flags.contains(&&*name))).collect()
        }
        _ => Default::default(),
    }
}

pub(crate) fn unknown<'a>(entry: &Entry, known: impl Iterator<Item = &'a str>) -> DocumentError {
    let distance = |name: &&str| strsim::damerau_levenshtein(name, &entry.key);
    let closest = known.min_by_key(distance).map(str::to_owned);
    entry.wrong(Problem::UnknownKey { key: entry.key.clone(), closest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(text: &str) -> Result<Draft, DocumentError> {
        Draft::parse(text, "p")
    }

    #[test]
    fn unknown_keys_name_the_closest() {
        let error = |text| {
            let error = of_text(text).unwrap_err();
            assert!(!error.problem.is_unreadable(), "{error}");
            (error.to_string(), error.problem.hint().unwrap_or_default().to_owned())
        };
        assert_eq!(
            error("arch_p = 0\niadress_lsb_p = 1\n"),
            ("p:2:1: unknown key iadress_lsb_p".into(), "iaddress_lsb_p".into())
        );
        assert_eq!(error("[options]\nfull-adress = true").1, "full-address");
        assert_eq!(error("[framing]\nsrcbits = 1").1, "src-bits");
        assert_eq!(error(r#"{"parameters": {"sijump": 1}}"#).1, "sijump_p");
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
        assert_eq!(draft.framing, Some(framing::Kind::RvTracer));
        assert_eq!(draft.fields.source, Some(300));
    }

    #[test]
    fn a_configuration_may_start_from_another() {
        let text = r#"{"config": "derived_implicit_exception", "source": "...",
            "parameters": "as base", "input_variant": "itype4"}"#;
        let read = &mut |path: &Path| {
            let text = match path.to_str() {
                Some("d/derived.json") => text,
                Some("d/base.json") => "ecause_width_p = 5",
                other => panic!("{other:?}"),
            };
            Ok::<_, DocumentError>((path.display().to_string(), text.into()))
        };
        let draft = Draft::read_with(Path::new("d/derived.json"), read).unwrap();
        assert_eq!(draft.params["ecause_width_p"], 5);
        assert_eq!(draft.modes, [(Mode::ImplicitException, true)]);
        assert!(of_text(r#"{"parameters": "like base"}"#).is_err());
        let problem = of_text(text).unwrap_err().problem;
        assert_eq!(problem, Problem::Reference("base".into()));
    }

    #[test]
    fn configurations_in_a_circle() {
        let read = &mut |path: &Path| {
            Ok::<_, DocumentError>((
                path.display().to_string(),
                br#"{"parameters": "as a"}"#.into(),
            ))
        };
        let error = Draft::read_with(Path::new("a.json"), read).unwrap_err();
        assert_eq!(error.to_string(), "a.json: configurations refer to each other in a circle");
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
            "[options]\ncompat = \"other\"",
            "options = 1",
            "[framing]\nkind = \"usb\"",
            "[framing]\nsource = 65536",
        ] {
            let problem = of_text(bad).unwrap_err().problem;
            assert!(matches!(problem, Problem::Value { .. }), "{bad}: {problem}");
        }
    }
}
