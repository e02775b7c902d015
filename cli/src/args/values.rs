//! Values on the command line with their own grammar.

use super::Emit;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use hartrace_capture::framing::Kind;
use hartrace_isa::{Arch, Isa, Xlen};
use hartrace_report::Form;
use std::ffi::OsStr;
use std::num::{NonZeroU64, NonZeroUsize};

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

/// A number of instructions or cycles, also in thousands (k), millions (M) or billions (G).
pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.trim_end_matches(['k', 'K', 'M', 'G']) {
        digits if digits.len() == text.len() => (digits, 1),
        digits => match &text[digits.len()..] {
            "k" | "K" => (digits, 1_000),
            "M" => (digits, 1_000_000),
            "G" => (digits, 1_000_000_000),
            _ => ("", 1),
        },
    };
    // Signs are no digits here.
    let digits = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok());
    number
        .and_then(|number: u64| number.checked_mul(unit))
        .ok_or_else(|| "write a number, also in k, M or G, for example 50000 or 10M".into())
}

/// The same, and at least 1.
pub(super) fn parse_some(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        0 => Err("write 1 or more".into()),
        number => Ok(number),
    }
}

/// The same, as a type of its own.
pub(super) fn parse_some_nonzero(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(parse_some(text)?).ok_or_else(|| "write 1 or more".into())
}

/// An environment variable, `NAME=VALUE`.
pub(super) fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write NAME=VALUE".into()),
    }
}

/// Threads that a machine may have cores for.
const MAX_THREADS: usize = 1024;

/// A number of threads.
pub(super) fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MAX_THREADS);
    number.ok_or_else(|| format!("write a number from 1 to {MAX_THREADS}"))
}

/// Values of a type that knows nothing of the command line, each with its name and its help.
pub(super) fn named<T, const N: usize>(
    all: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let known = all.map(|(name, _, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(known).try_map(move |name| {
        let found = all.iter().find(|(other, ..)| *other == name);
        found.map(|(_, value, _)| *value).ok_or("no such value")
    })
}

/// Modes, which may be joined by `+`. Shells complete the first of them.
#[derive(Clone)]
pub(super) struct Modes;

impl TypedValueParser for Modes {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = ["delta", "ir", "ie", "sij", "bp", "jtc", "full", "hp", "ir+bp", "all"];
        Some(Box::new(names.into_iter().map(PossibleValue::new)))
    }
}

pub(super) fn framing() -> impl TypedValueParser<Value = Kind> {
    let known = Kind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.text()));
    PossibleValuesParser::new(known).try_map(|name| name.parse::<Kind>())
}

/// What `decode` prints: forms for people, and what only CoreSight has.
pub(super) fn emit() -> impl TypedValueParser<Value = Emit> {
    let coresight = [
        ("packets", "With --snapshot: position, source, bytes and type of every packet"),
        (
            "ranges",
            "With --snapshot: source, start, end and number of instructions of every run, source by source",
        ),
        ("elements", "With --snapshot: everything that is decoded, source by source"),
    ];
    let coresight = coresight.map(|(name, help)| PossibleValue::new(name).help(help));
    let known = forms(false).chain(coresight).collect::<Vec<_>>();
    PossibleValuesParser::new(known).try_map(|name| match &name[..] {
        "packets" => Ok(Emit::Packets),
        "ranges" => Ok(Emit::Ranges),
        "elements" => Ok(Emit::Elements),
        name => name.parse().map(Emit::Form),
    })
}

/// Forms that other tools read.
pub(super) fn export() -> impl TypedValueParser<Value = Form> {
    let known = forms(true).collect::<Vec<_>>();
    PossibleValuesParser::new(known).try_map(|name| name.parse::<Form>())
}

fn forms(export: bool) -> impl Iterator<Item = PossibleValue> {
    let forms = Form::ALL.into_iter().filter(move |form| form.is_export() == export);
    forms.map(|form| PossibleValue::new(form.name()).help(form.text()).aliases(form.alias()))
}

/// A register width.
pub(super) fn xlen() -> impl TypedValueParser<Value = Xlen> {
    let known = PossibleValuesParser::new(["32", "64"]);
    known.map(|name| if name == "32" { Xlen::Rv32 } else { Xlen::Rv64 })
}

pub(super) fn parse_isa(text: &str) -> Result<Isa, String> {
    let arch = text.to_ascii_lowercase();
    let arch =
        Arch::new(&arch).ok_or("write the base and extensions, for example rv32imac_zcmp")?;
    Ok(arch.into())
}
