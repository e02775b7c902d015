//! `hartrace scenarios`: the kit that it writes is what our decoder makes of it, without any option.

use crate::place::{Place, stderr};
use serde_json::Value;

#[test]
fn the_kit_decodes_as_it_says() {
    let place = Place::new("scenarios");
    let text = place.clean("scenarios -o kit");
    let kit = place.dir.join("kit");
    let read = |file: &str| std::fs::read(kit.join(file)).unwrap();
    let index: Value = serde_json::from_slice(&read("index.json")).unwrap();
    let entries = index.as_array().unwrap();
    assert!(text.starts_with(&format!("{} of 180 scenarios in kit\n", entries.len())), "{text}");
    assert!(entries.len() > 170, "{text}");
    let (mut endless, mut gaps) = (0, 0);
    for entry in entries {
        let name = entry["name"].as_str().unwrap();
        let compat = match entry["compat"].as_str() {
            Some(model) => format!("--compat {model}"),
            None => String::new(),
        };
        let output = place.run(&format!("decode kit/{name}.te --emit pcs {compat}"));
        let expected = read(&format!("{name}.pcs"));
        let damaged = entry["gaps"].as_u64().unwrap() > 0;
        gaps += u32::from(damaged);
        assert_eq!(output.status.code(), Some(damaged.into()), "{name}: {}", stderr(&output));
        if entry["endless"] == true {
            // How soon a decoder notices is not said; it reports at least the rest.
            endless += 1;
            assert!(output.stdout.len() >= expected.len(), "{name}");
        } else {
            assert!(output.stdout == expected, "{name}: {}", stderr(&output));
        }
        for extension in ["elf", "te", "te.toml", "trace", "htt"] {
            assert!(!read(&format!("{name}.{extension}")).is_empty(), "{name}.{extension}");
        }
    }
    assert!(endless > 0 && endless < 10 && gaps > 10, "{endless} endless, {gaps} with gaps");
}
