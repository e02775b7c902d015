//! What the table of families promises: names, settings with their limits, sweeps, and the places that have a line for each family.

use super::{code, round, shape};
use hartrace_compressors::comparison::chosen;
use hartrace_compressors::{Code, Family, Scheme, SchemeSetup, Setting, Values};
use hartrace_decoder::Image;
use hartrace_golden::walk::{Shape, generate};
use hartrace_isa::{Isa, Xlen};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn settings() -> impl Iterator<Item = (&'static Family, &'static Setting)> {
    Family::all().iter().flat_map(|family| family.settings.iter().map(move |one| (family, one)))
}

/// A file of the workspace.
fn text(path: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(top.join(path)).expect(path)
}

#[test]
fn every_name_is_a_scheme_of_its_family() {
    for family in Family::all() {
        let lists = [&[family.default], family.names(), family.charted, family.small].concat();
        let swept = family.settings.iter().filter_map(|setting| setting.of);
        for name in lists.into_iter().chain(swept) {
            let scheme: Scheme = name.parse().expect(name);
            assert_eq!((scheme.to_string(), scheme.family().name), (name.into(), family.name));
        }
        assert!(family.charted.iter().all(|name| family.compared.contains(name)), "{family:?}");
        assert_eq!(Family::named(family.name).map(|found| found.name), Some(family.name));
    }
    let error = "nothing".parse::<Scheme>().unwrap_err().to_string();
    for family in Family::all() {
        assert!(error.contains(&format!("{},", family.names()[0])), "{family:?}: {error}");
    }
}

/// The keys of all settings, those of groups too.
fn keys(value: &Value, before: &str) -> BTreeSet<String> {
    let fields = value.as_object().into_iter().flatten();
    let all = fields.map(|(key, value)| match value.is_object() {
        true => keys(value, &format!("{before}{key}.")),
        false => BTreeSet::from([format!("{before}{key}")]),
    });
    all.flatten().collect()
}

#[test]
fn every_setting_is_in_the_table() {
    for family in Family::all() {
        let mut keys = keys(&family.default.parse::<Scheme>().unwrap().settings(), "");
        // Which of the general-purpose compressors it is: each of them is a family.
        keys.remove("kind");
        let known: BTreeSet<_> = family.settings.iter().map(|one| one.key.to_owned()).collect();
        assert_eq!(known, keys, "{family:?}");
    }
}

/// The least and the most that a table promises are accepted, and what is beyond is refused.
#[test]
fn limits_are_those_of_the_table() {
    let empty = Code::new(&Image::new(Isa::new(Xlen::Rv64)));
    let setup = SchemeSetup { code: &empty, sync_every: None, tvec: &[] };
    for (family, setting) in settings() {
        let base: Scheme = family.swept(setting.key).parse().unwrap();
        let made = |value: &str| {
            let scheme = base.with(setting.key, value).map_err(|error| error.to_string())?;
            scheme.compressor(&setup).map(drop).map_err(|error| error.to_string())
        };
        for value in setting.values.ends() {
            assert_eq!(made(&value), Ok(()), "{family:?}.{}={value}", setting.key);
        }
        let beyond = match setting.values {
            Values::Powers(least, most) => [least.checked_div(2), Some(2 * most)],
            Values::Numbers(least, most) => [least.checked_sub(1), Some(most + 1)],
            Values::Words(_) => [None; 2],
        };
        for value in beyond.into_iter().flatten() {
            let made = made(&value.to_string());
            assert!(made.is_err(), "{family:?}.{}={value}", setting.key);
        }
    }
}

/// Each setting is swept as on the command line, without naming a scheme, and every instruction comes back. They are all of 4 bytes, as
/// `align=2` presupposes.
#[test]
fn every_setting_can_be_swept() {
    let walk = generate(7, &Shape { steps: 300, compressed: false, ..shape(7).without_traps() });
    let code = code(&walk);
    let setup = SchemeSetup { code: &code, sync_every: None, tvec: &[] };
    let expected: Vec<u64> = walk.expected_pcs().collect();
    for (family, setting) in settings() {
        let values = setting.values.ends();
        let sweep = format!("{}.{}={}", family.name, setting.key, values.join(","));
        let schemes =
            chosen(&[], std::slice::from_ref(&sweep)).unwrap_or_else(|error| panic!("{error}"));
        for value in values {
            let name = format!("[{}={value}]", setting.key);
            let swept = |scheme: &&Scheme| {
                scheme.family().name == family.name && scheme.to_string().ends_with(&name)
            };
            let scheme = schemes.iter().find(swept).expect(&sweep);
            round(scheme, &setup, &walk.rows, &expected, &sweep);
        }
    }
}

#[test]
fn a_family_without_settings_cannot_be_swept() {
    for family in Family::all().iter().filter(|family| family.settings.is_empty()) {
        let error = chosen(&[], &[format!("{}.x=1", family.name)]).unwrap_err().to_string();
        assert!(error.contains("it has no settings"), "{error}");
    }
}

/// `docs/compression.md` has these tables.
#[test]
fn the_document_has_every_family() {
    let mut schemes = String::from("| family | names | idea |\n| --- | --- | --- |\n");
    let mut sweeps = String::from("| family | varies | settings |\n| --- | --- | --- |\n");
    for Family { name, forms, idea, default, settings, .. } in Family::all() {
        schemes += &format!("| `{name}` | `{}` | {idea} |\n", forms.join("`, `"));
        let settings: Vec<_> = settings.iter().map(ToString::to_string).collect();
        if !settings.is_empty() {
            sweeps += &format!("| `{name}` | `{default}` | {} |\n", settings.join(", "));
        }
    }
    let document = text("docs/compression.md");
    for table in [schemes, sweeps] {
        assert!(document.contains(&table), "docs/compression.md needs this table:\n{table}");
    }
}

#[test]
fn every_family_has_a_fuzz_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let targets: String = files
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("decompress_"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for family in Family::all() {
        assert!(targets.contains(&format!("\"{}\"", family.name)), "{family:?}");
    }
}
