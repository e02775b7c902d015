//! `src/boxes.rs` declares the modules that are generated now. `HARTRACE_BLESS=1` rewrites it.

use hartrace_encoder_hdl::transport::fifo;
use hartrace_encoder_hdl::{Config, encoder};
use hartrace_rtl::Component;
use hartrace_rust_hdl::declaration;
use std::{env, fs};

#[test]
fn boxes_are_of_generated_modules() {
    let small = Config::named("small").expect("there is one");
    let core = encoder(&small).expect("named configurations are legal");
    let mut text = "\
//! Black boxes for `te_core` and `te_branch_map` of the configuration `small`, and for a FIFO.
//!
//! Written by `HARTRACE_BLESS=1 cargo test -p hartrace-rust-hdl --test declared`.

use crate::black_box;
use rust_hdl_core::prelude::*;
"
    .to_owned();
    for component in [&core, &find(&core, "te_branch_map").expect("it is in there"), &fifo(32, 8)] {
        text += "\n";
        text += &declaration(component);
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/boxes.rs");
    if env::var_os("HARTRACE_BLESS").is_some() {
        fs::write(file, &text).expect("written");
    }
    let there = fs::read_to_string(file).expect("text");
    assert!(there == text, "src/boxes.rs is not as it would be written: HARTRACE_BLESS=1");
}

fn find(component: &Component, name: &str) -> Option<Component> {
    if component.name() == name {
        return Some(component.clone());
    }
    component.children().iter().find_map(|child| find(child, name))
}
