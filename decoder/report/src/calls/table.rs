//! The functions of a trace as a table.

use super::functions::Totals;
use super::{CallForm, FunctionTotal, FunctionTotals, Names};
use crate::tables::line;
use hartrace_capture::programs::address;
use hartrace_decoder::calls::{CallStack, Transfers};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::cmp::Reverse;
use std::io::{self, Write};

/// What a table of functions shows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Top {
    /// What comes first.
    pub by: Order,
    /// The most rows.
    pub rows: usize,
}

impl Default for Top {
    /// All functions.
    fn default() -> Self {
        Self { by: Order::Own, rows: usize::MAX }
    }
}

/// What a table of functions is sorted by.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Instructions of their own.
    Own,
    /// Instructions, with those of what they called.
    Total,
    /// How often they were called.
    Calls,
}

impl Order {
    /// By name.
    pub const NAMED: [(&str, Self, &str); 3] = [
        ("self", Self::Own, "Instructions of the function alone"),
        ("total", Self::Total, "Instructions, with those of the functions that it called"),
        ("calls", Self::Calls, "How often it was called"),
    ];

    fn key(self, function: &FunctionTotal) -> u64 {
        match self {
            Self::Own => function.instructions,
            Self::Total => function.with_callees,
            Self::Calls => function.calls,
        }
    }
}

/// Prints what each function has executed, alone and with everything that it called, and how often it was called.
#[derive(Clone, Debug)]
pub struct FunctionTable {
    totals: FunctionTotals,
    top: Top,
    xlen: Xlen,
    json: bool,
}

impl FunctionTable {
    /// A table of these functions; `json` for an object per line.
    pub fn new(top: Top, xlen: Xlen, json: bool) -> Self {
        Self { totals: FunctionTotals::default(), top, xlen, json }
    }
}

/// A function, as JSON.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<u16>,
    function: &'a str,
    address: String,
    inlined: bool,
    #[serde(rename = "self")]
    own: u64,
    total: u64,
    calls: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

impl CallForm for FunctionTable {
    type Calls = Totals;

    fn calls(&self, source: Option<u16>, names: &Names<'_>) -> Totals {
        self.totals.calls(source, names)
    }

    #[inline(never)]
    fn replay(stack: &mut CallStack<Totals>, part: &Transfers) {
        stack.replay(part);
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Totals, u64)>,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let several = all.len() > 1;
        let insns = all.iter().fold(0u64, |sum, (.., insns)| sum.saturating_add(*insns));
        self.totals.end(all, names, out)?;
        let functions = &mut self.totals.functions;
        functions.sort_by_key(|function| Reverse(self.top.by.key(function)));
        let (shown, others) = functions.split_at(functions.len().min(self.top.rows));
        if self.json {
            return shown.iter().try_for_each(|function| {
                let place = function.place.as_ref().map(|(file, line)| format!("{file}:{line}"));
                line(
                    out,
                    &Row {
                        source: function.source,
                        function: &function.name,
                        address: address(function.address, self.xlen),
                        inlined: function.inlined,
                        own: function.instructions,
                        total: function.with_callees,
                        calls: function.calls,
                        object: function.object.as_deref(),
                        place,
                    },
                )
            });
        }
        let share = |part: u64| if insns == 0 { 0.0 } else { 100.0 * part as f64 / insns as f64 };
        writeln!(
            out,
            "{:>14} {:>8} {:>14} {:>8} {:>11}  function",
            "self", "", "total", "", "calls"
        )?;
        for function in shown {
            let FunctionTotal { instructions: own, with_callees: total, calls, name, .. } =
                function;
            write!(
                out,
                "{own:>14} {:>6.2} % {total:>14} {:>6.2} % {calls:>11}  {name}",
                share(*own),
                share(*total)
            )?;
            if function.inlined {
                write!(out, " (inlined)")?;
            }
            if let Some(object) = &function.object {
                let file = object.rsplit('/').next().unwrap_or(object);
                write!(out, " [{file}]")?;
            }
            match function.source.filter(|_| several) {
                Some(source) => writeln!(out, ", source {source}")?,
                None => writeln!(out)?,
            }
        }
        let own = others.iter().fold(0u64, |sum, other| sum.saturating_add(other.instructions));
        if !others.is_empty() {
            let s = if others.len() == 1 { "" } else { "s" };
            writeln!(
                out,
                "{own:>14} {:>6.2} % {:>36}  {} other function{s}",
                share(own),
                "",
                others.len()
            )?;
        }
        writeln!(out, "{insns:>14} instructions")
    }
}
