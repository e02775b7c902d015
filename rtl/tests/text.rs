//! The text of every construct is the intended one.
//!
//! With `HARTRACE_BLESS` set, the files are written instead of compared.

mod support;

use std::path::Path;
use std::{env, fs};
use support::constructs::CONSTRUCTS;

#[test]
fn every_construct_has_its_text() {
    for construct in CONSTRUCTS {
        let texts: Vec<String> =
            (construct.build)().files().into_iter().map(|(_, text)| text).collect();
        let text = texts.join("\n");
        if env::var_os("HARTRACE_BLESS").is_some() {
            let path = Path::new("tests/support/text").join(construct.name).with_extension("sv");
            fs::write(path, &text).unwrap();
            continue;
        }
        assert!(
            text == construct.text,
            "{}: got\n{text}\nexpected\n{}",
            construct.name,
            construct.text
        );
    }
}

#[test]
fn the_same_module_has_the_same_text_twice() {
    for construct in CONSTRUCTS {
        assert_eq!((construct.build)().files(), (construct.build)().files(), "{}", construct.name);
    }
}

#[test]
fn lines_are_no_longer_than_100_columns() {
    for construct in CONSTRUCTS {
        let long = construct.text.lines().find(|line| line.len() > 100);
        assert_eq!(long, None, "{}", construct.name);
    }
}
