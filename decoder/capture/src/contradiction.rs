//! Descriptions that say something else than what a capture is read with.

use crate::description::Description;
use crate::framing::Field;
use crate::params::{Draft, Given, Setup, compat_name, unit_name};
use hartrace_etrace::ingress::Privilege;
use std::collections::BTreeMap;
use std::fmt;

/// Something that is described in one way, and used in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// What it is, by its name in a description.
    pub key: String,
    /// Its value in the description.
    pub described: String,
    /// The value that is used.
    pub used: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, described, used } = self;
        write!(f, "{key} is described as {described}, but taken as {used}")
    }
}

impl Description {
    /// In what a stream is not read as described. What the description does not say is not compared, nor is what matters to
    /// encoders only.
    pub fn contradictions(&self, used: &Setup) -> Vec<Contradiction> {
        let known = |given: &Given| Setup::new(Some(self.draft.clone()), given);
        // A description may lack the width.
        let with_width = Given { xlen: Some(used.xlen), ..Given::default() };
        let Ok(known) = known(&Given::default()).or_else(|_| known(&with_width)) else {
            return Vec::new();
        };
        let [known, used] = [&known, used].map(Draft::from);
        let mut pairs = Vec::new();
        if !self.draft.params.is_empty() {
            pairs.push([parameters(&known), parameters(&used)]);
        }
        if self.draft.framing.is_some() {
            // Other frames have other fields.
            let same = known.framing == used.framing;
            pairs.push([framing(&known, same), framing(&used, same)]);
        }
        pairs.into_iter().flat_map(|[known, used]| differences(&known, &used)).collect()
    }

    /// The trap vectors among these that are described as others.
    pub fn vector_contradictions(&self, used: &[(Privilege, u64)]) -> Vec<Contradiction> {
        let different = |(level, base): &(Privilege, u64)| {
            let described = self.trap_vectors.get(level).filter(|described| *described != base)?;
            Some(Contradiction {
                key: format!("the trap vector of privilege {}", level.0),
                described: format!("{described:#x}"),
                used: format!("{base:#x}"),
            })
        };
        used.iter().filter_map(different).collect()
    }
}

type Keys = BTreeMap<String, String>;

fn differences(known: &Keys, used: &Keys) -> Vec<Contradiction> {
    let names = known.keys().chain(used.keys().filter(|key| !known.contains_key(*key)));
    let value = |keys: &Keys, key: &String| keys.get(key).map_or("absent", String::as_str).into();
    let pair = |key: &String| Contradiction {
        key: key.clone(),
        described: value(known, key),
        used: value(used, key),
    };
    names.map(pair).filter(|pair| pair.described != pair.used).collect()
}

/// Everything that packets depend on, except modes, which the support packets of a capture tell.
fn parameters(draft: &Draft) -> Keys {
    let mut keys: Keys =
        draft.params.iter().map(|(key, value)| (key.clone(), value.to_string())).collect();
    let xlen = draft.xlen.map(|xlen| xlen.bits().to_string());
    let unit = draft.unit.map(|unit| unit_name(unit).to_owned());
    let compat = draft.compat.map(|compat| compat_name(compat).to_owned());
    let named = [("xlen", xlen), ("unit", unit), ("compat", compat)];
    keys.extend(named.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    keys
}

/// The same for frames, with their fields or without. The source is a choice of the reader.
fn framing(draft: &Draft, with_fields: bool) -> Keys {
    let kind = draft.framing.map(|kind| ("framing".to_owned(), kind.to_string()));
    let fields = Field::ALL.into_iter().filter(|field| with_fields && *field != Field::Source);
    let fields = fields
        .filter_map(|field| Some((field.to_string(), field.value(&draft.fields)?.to_string())));
    kind.into_iter().chain(fields).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said about `text` as a description, if the parameters are those of another text.
    fn told(text: &str, params: &str, given: &Given) -> Vec<String> {
        let description = Description::parse(text, "d").unwrap();
        let draft = Draft::parse(params, "p").unwrap();
        let used = Setup::new(Some(draft), given).unwrap();
        description.contradictions(&used).iter().map(ToString::to_string).collect()
    }

    const FULL: &str = "xlen = 64\n[parameters]\niaddress_width_p = 64\niaddress_lsb_p = 1\n\
        [options]\nunit = \"hartrace\"\nimplicit-return = true\nresync-max = 3\n\
        [framing]\nkind = \"encap\"\nsrc-bits = 3\n";

    #[test]
    fn the_same_in_other_words_is_none() {
        assert!(told(FULL, FULL, &Given::default()).is_empty());
        let other = FULL.replace("resync-max = 3", "resync-max = 7").replace("= true", "= 1");
        assert!(told(FULL, &other, &Given::default()).is_empty());
        // Support packets tell the modes.
        let modes = FULL.replace("implicit-return = true\n", "");
        assert!(told(FULL, &modes, &Given::default()).is_empty());
        // Selecting a source is none, and a description that says little contradicts little.
        let mut given = Given::default();
        given.fields.source = Some(2);
        assert!(told(FULL, FULL, &given).is_empty());
        assert!(told("version = 1", FULL, &given).is_empty());
    }

    #[test]
    fn every_key_is_compared() {
        for (from, to, expected) in [
            ("lsb_p = 1", "lsb_p = 0", "iaddress_lsb_p is described as 1, but taken as 0"),
            (
                "width_p = 64",
                "width_p = 39",
                "iaddress_width_p is described as 64, but taken as 39",
            ),
            ("hartrace", "reference", "unit is described as hartrace, but taken as reference"),
            ("src-bits = 3", "src-bits = 4", "src-bits is described as 3, but taken as 4"),
        ] {
            let other = FULL.replace(from, to);
            assert_eq!(told(FULL, &other, &Given::default()), [expected]);
        }
        let smi = FULL.replace("encap", "smi").replace("src-bits", "hart-bits");
        let all = told(FULL, &smi, &Given::default());
        assert_eq!(all, ["framing is described as encap, but taken as smi"]);
    }

    #[test]
    fn trap_vectors() {
        let description = Description::parse("[trap-vectors]\nm = 16", "d").unwrap();
        let told = |used: &[(Privilege, u64)]| description.vector_contradictions(used).len();
        assert_eq!(told(&[(Privilege::M, 16), (Privilege::S, 9)]), 0);
        assert_eq!(told(&[(Privilege::M, 32)]), 1);
    }
}
