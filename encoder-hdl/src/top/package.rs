//! Everything that is delivered with the modules: lists of files for tools, parameters for
//! decoders, registers for software.

use crate::top::{Encapsulation, TopConfig, TopError, header, manual, sources};
use hartrace_etrace::Unit;
use hartrace_rtl::lists;
use std::fmt::Write;
use thiserror::Error;

/// The module that contains all others.
pub const TOP: &str = "te_top";

/// The encoder of a hart without registers and transport, for users who have their own.
const CORE: &str = "te_core";

/// Reasons why a package cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The encoder cannot be generated.
    #[error(transparent)]
    Top(#[from] TopError),
    /// The configuration cannot be written as TOML.
    #[error(transparent)]
    Toml(#[from] toml::ser::Error),
}

/// Returns names and texts of all files: modules, lists of them for tools (`te_top.f`, `te_core.f`,
/// Bender and FuseSoC), the configuration, the parameters for a decoder (`params.toml`), and the
/// registers for people and for C.
///
/// `beside` contains further modules of the design, such as those of a connector; modules that the
/// encoder already contains are left out.
///
/// # Errors
///
/// If the configuration is not legal.
pub fn package(
    config: &TopConfig,
    beside: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, PackageError> {
    let mut files = sources(config)?;
    let own = files.len();
    for (name, text) in beside {
        if !files[..own].iter().any(|(other, _)| *other == name) {
            files.push((name, text));
        }
    }
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    let core = crate::sources(&config.encoder).map_err(TopError::from)?;
    let core: Vec<String> = core.into_iter().map(|(name, _)| name).collect();
    files.extend(lists(TOP, &names));
    files.extend(description(config)?);
    files.extend([
        (format!("{CORE}.f"), core.join("\n") + "\n"),
        ("registers.md".into(), manual(config)?),
        ("hartrace_registers.h".into(), header(config)?),
    ]);
    Ok(files)
}

/// Returns what an encoder is as files: `config.toml`, from which it was made, and `params.toml`, for decoders.
///
/// # Errors
///
/// If it cannot be written as TOML.
pub fn description(config: &TopConfig) -> Result<[(String, String); 2], PackageError> {
    Ok([("config.toml".into(), toml::to_string(config)?), ("params.toml".into(), params(config)?)])
}

/// Returns the parameters of the encoder that a decoder must know, as TOML.
///
/// # Errors
///
/// If it cannot be written as TOML.
pub fn params(config: &TopConfig) -> Result<String, toml::ser::Error> {
    let width = config.encoder.etrace.iaddress_width_p;
    let mut text = format!(
        "# What hartrace has to know about the trace of this hardware.\nversion = 1\nxlen = {}\n\n[parameters]\n{}",
        if width > 32 { 64 } else { 32 },
        toml::to_string(&config.encoder.etrace)?
    );
    let unit = match config.encoder.unit() {
        Unit::Reference => "reference",
        Unit::RvTracer => "rv-tracer",
        Unit::Hartrace => "hartrace",
    };
    let _ = write!(text, "\n[options]\nunit = \"{unit}\"\n\n[framing]\n");
    match config.encapsulation {
        Encapsulation::Reference => text.push_str("kind = \"reference\"\n"),
        Encapsulation::Standard(fields) => {
            text.push_str("kind = \"encap\"\n");
            for (name, value) in [
                ("src-bits", fields.src_id_bits),
                ("timestamp-bytes", fields.timestamp_bytes),
                ("type-bits", fields.type_bits),
                ("instruction-type", fields.instruction_type),
            ] {
                let _ = writeln!(text, "{name} = {value}");
            }
            if config.harts == 1 && fields.src_id_bits > 0 {
                let _ = writeln!(text, "source = {}", config.first_source);
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_listed_once() {
        let file = |name: &str| (name.to_owned(), "// beside\n".to_owned());
        let beside = vec![file("te_top.sv"), file("te_beside.sv")];
        let files = package(&TopConfig::default(), beside).unwrap();
        let text = |name: &str| {
            let mut found = files.iter().filter(|(other, _)| other == name);
            let text = found.next().map(|(_, text)| text.as_str()).unwrap();
            assert!(found.next().is_none(), "{name} is there twice");
            text
        };
        assert_ne!(text("te_top.sv"), "// beside\n");
        assert_eq!(text("te_beside.sv"), "// beside\n");
        for list in ["te_top.f", "Bender.yml", "te_top.core"] {
            for module in ["te_top.sv", "te_beside.sv", "te_core.sv"] {
                assert_eq!(text(list).matches(module).count(), 1, "{module} in {list}");
            }
        }
        assert!(text("te_core.f").contains("te_core.sv"));
        assert!(!text("te_core.f").contains("te_top.sv"));
        assert!(text("params.toml").contains("[framing]\nkind = \"encap\"\n"));
    }
}
