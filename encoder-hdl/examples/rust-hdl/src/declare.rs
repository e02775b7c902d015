//! Declarations of black boxes.

use hartrace_rtl::{Component, Direction};
use std::fmt::Write as _;

/// The text of a [`black_box!`](crate::black_box) for a component, with the name of the block in
/// camel case: for a build script, or for copying.
#[must_use]
pub fn declaration(component: &Component) -> String {
    let name = component.name();
    let mut text = format!(
        "black_box! {{\n    /// The module `{name}`.\n    pub struct {} {{\n",
        camel_case(name)
    );
    for port in component.ports() {
        let doc = match port.doc.as_str() {
            "" => format!("`{}`.", port.name),
            doc => doc.replace('\n', " "),
        };
        let direction = if port.direction == Direction::Input { "in" } else { "out" };
        let kind = match (port.name.as_str(), port.width) {
            ("clk_i", _) => "Clock".to_owned(),
            (_, 1) => "Bit".to_owned(),
            (_, width) => format!("Bits<{width}>"),
        };
        let _ = writeln!(text, "        /// {doc}\n        {direction} {}: {kind},", port.name);
    }
    text + "    }\n}\n"
}

fn camel_case(name: &str) -> String {
    let mut text = String::new();
    for part in name.split('_') {
        let mut letters = part.chars();
        text.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        text.push_str(letters.as_str());
    }
    text
}
