//! `hartrace params`, `completions` and `man`.

use crate::place::Place;
use std::process::Command;

/// The file is accepted as it is, by an encoder and by a decoder.
#[test]
fn parameters_with_comments() {
    let place = Place::new("params");
    for (options, expected) in [
        ("", "iaddress_width_p = 64"),
        ("--xlen 32", "iaddress_width_p = 32"),
        ("--config full", "return_stack_size_p = 4"),
        // Its name before, which stays.
        ("--config rv_tracer", "unit = \"rv-tracer\""),
    ] {
        place.clean(&format!("params {options} -o own.toml"));
        let text = std::fs::read_to_string(place.dir.join("own.toml")).unwrap();
        assert!(text.lines().any(|line| line == expected), "{options}: {text}");
        assert_eq!(place.clean(&format!("params {options}")), text);
        if !options.contains("32") {
            place.clean("encode run.csv --params own.toml -o own.te");
            let pcs = place.clean("decode own.te --params own.toml --image code@0x80000000");
            assert_eq!(pcs, crate::PCS, "{options}");
        }
    }
}

#[test]
fn completions_and_pages() {
    let place = Place::new("manual");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = place.clean(&format!("completions {shell}"));
        assert!(text.contains("--src-bits") || text.contains("src-bits"), "{shell}");
    }
    // Bash itself accepts its completions.
    place.write("complete.bash", place.clean("completions bash").as_bytes());
    let test = "source ./complete.bash && complete -p hartrace";
    let bash = Command::new("bash").args(["-c", test]).current_dir(&place.dir).output().unwrap();
    assert!(bash.status.success(), "{bash:?}");
    assert!(place.clean("man -o man").contains("hartrace.1"));
    let page = std::fs::read_to_string(place.dir.join("man/hartrace-decode.1")).unwrap();
    assert!(page.starts_with(".ie") && page.contains("snapshot"), "{page}");
}
