//! Lists of the files of a design, as tools read them.

use std::fmt::Write;

/// The lists for a design with the top module `top`: `TOP.f`, which most tools read, `Bender.yml` and `TOP.core`, for
/// Bender and FuseSoC.
pub fn lists(top: &str, names: &[String]) -> [(String, String); 3] {
    [
        (format!("{top}.f"), names.join("\n") + "\n"),
        ("Bender.yml".into(), bender(top, names)),
        (format!("{top}.core"), fusesoc(top, names)),
    ]
}

fn bender(top: &str, names: &[String]) -> String {
    let mut text = format!("package:\n  name: hartrace_{top}\n\nsources:\n");
    for name in names {
        // Writing to a string never fails.
        let _ = writeln!(text, "  - {name}");
    }
    text
}

fn fusesoc(top: &str, names: &[String]) -> String {
    let mut text = format!(
        "CAPI=2:\nname: hartrace:trace:{top}:{}\n\nfilesets:\n  rtl:\n    files:\n",
        env!("CARGO_PKG_VERSION")
    );
    for name in names {
        let _ = writeln!(text, "      - {name}");
    }
    let _ = write!(
        text,
        "    file_type: systemVerilogSource\n\ntargets:\n  default:\n    filesets: [rtl]\n    toplevel: {top}\n"
    );
    text
}
