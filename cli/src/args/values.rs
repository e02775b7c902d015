//! Values on the command line with their own grammar.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hartrace_capture::framing::Kind;
use hartrace_etrace::ingress::Privilege;
use hartrace_isa::{Arch, Isa};
use std::num::ParseIntError;
use std::path::PathBuf;

/// A file and the address, or the offset, that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) path: PathBuf,
    pub(crate) address: u64,
}

pub(super) fn parse_elf(text: &str) -> Result<Placed, String> {
    // A file name may contain an `@` itself; only a number after the last one is a bias.
    let split = text.rsplit_once('@').filter(|(_, bias)| bias.starts_with("0x"));
    let (path, address) = match split {
        Some((path, bias)) => (path, parse_address(bias)?),
        None => (text, 0),
    };
    Ok(Placed { path: path.into(), address })
}

pub(super) fn parse_context_elf(text: &str) -> Result<(u64, Placed), String> {
    let (id, program) = text.split_once('=').ok_or("write ID=PROG, for example 7=app.elf")?;
    let id = parse_number(id).map_err(|error| format!("`{id}` is not a context: {error}"))?;
    Ok((id, parse_elf(program)?))
}

pub(super) fn parse_image(text: &str) -> Result<Placed, String> {
    let (path, address) = text.rsplit_once('@').ok_or("write FILE@ADDR, for example rom@0x1000")?;
    Ok(Placed { path: path.into(), address: parse_address(address)? })
}

pub(super) fn parse_tvec(text: &str) -> Result<(Privilege, u64), String> {
    let (privilege, address) =
        text.split_once('=').ok_or("write PRIV=ADDR, for example m=0x80000100")?;
    let level = hartrace_capture::description::privilege(privilege).ok_or_else(|| {
        format!("privilege `{privilege}` is not one of m, s, u, vs, vu or a number")
    })?;
    Ok((level, parse_address(address)?))
}

/// A number of bytes, also in kB or MB.
pub(super) fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match (text.strip_suffix("MB"), text.strip_suffix("kB")) {
        (Some(digits), _) => (digits, 1_000_000),
        (_, Some(digits)) => (digits, 1_000),
        _ => (text, 1),
    };
    let number = digits.trim_end().parse().ok().and_then(|number: usize| number.checked_mul(unit));
    number
        .filter(|size| *size <= 1 << 30)
        .ok_or_else(|| "write bytes up to 1000MB, for example 10MB".into())
}

/// Numbers of bytes per cycle.
#[derive(Clone, Debug)]
pub(crate) struct Unrolls(pub(crate) Vec<u32>);

/// Numbers and ranges, for example `1,2,4-8`.
pub(super) fn parse_unrolls(text: &str) -> Result<Unrolls, String> {
    let number = |text: &str| text.parse().ok().filter(|unroll| (1..=8).contains(unroll));
    let range = |text: &str| match text.split_once('-') {
        Some((first, last)) => Some(number(first)?..=number(last)?),
        None => number(text).map(|unroll| unroll..=unroll),
    };
    let all: Option<Vec<_>> = text.split(',').map(range).collect();
    let all: Vec<u32> = all.into_iter().flatten().flatten().collect();
    if all.is_empty() {
        Err("write numbers from 1 to 8, for example 1,2,4-8".into())
    } else {
        Ok(Unrolls(all))
    }
}

pub(super) fn framing() -> impl TypedValueParser<Value = Kind> {
    let known = Kind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.text()));
    PossibleValuesParser::new(known).try_map(|name| name.parse::<Kind>())
}

pub(super) fn parse_xlen(text: &str) -> Result<u8, String> {
    match text {
        "32" => Ok(32),
        "64" => Ok(64),
        _ => Err("write 32 or 64".into()),
    }
}

pub(super) fn parse_isa(text: &str) -> Result<Isa, String> {
    let arch = text.to_ascii_lowercase();
    let arch =
        Arch::new(&arch).ok_or("write the base and extensions, for example rv32imac_zcmp")?;
    Ok(arch.into())
}

fn parse_address(text: &str) -> Result<u64, String> {
    parse_number(text)
        .map_err(|error| format!("`{text}` is not an address such as 0x80000000: {error}"))
}

/// Hexadecimal with `0x`, else decimal.
fn parse_number(text: &str) -> Result<u64, ParseIntError> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/values.rs"]
mod tests;
