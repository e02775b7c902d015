//! The bus of the registers.

use crate::registers::apb_split;
use crate::top::wiring::{APB, APB_ANSWER, Wiring};
use hartrace_rtl::{Expr, Module, Outputs, concat, index_width, lit};

/// The port of the registers of a top module, and the registers at it: a page of 4 KiB for each component.
#[derive(Debug)]
pub struct Bus<'a> {
    m: &'a Module,
    pages: u32,
    /// Select of each page.
    select: Expr,
    signals: Vec<(&'static str, Expr)>,
    /// `pready_o`, `prdata_o`, `pslverr_o`.
    outputs: [Expr; 3],
    answers: Vec<Outputs>,
}

impl<'a> Bus<'a> {
    /// Adds the port to a module; the registers of `pages` components follow.
    #[must_use]
    pub fn new(m: &'a Module, pages: u32) -> Self {
        let page_bits = if pages == 1 { 0 } else { index_width(pages) };
        let signals = APB.map(|name| {
            let width = match name {
                "paddr_i" => 12 + page_bits,
                "pwdata_i" => 32,
                "pstrb_i" => 4,
                _ => 1,
            };
            (name, m.input(name, width, ""))
        });
        Self {
            m,
            pages,
            select: m.wire("page_select", pages),
            signals: signals.into(),
            outputs: [("pready_o", 1), ("prdata_o", 32), ("pslverr_o", 1)]
                .map(|(name, width)| m.output(name, width, "")),
            answers: Vec::new(),
        }
    }

    /// Connects the registers of a page.
    #[must_use]
    pub fn connect<'w>(&self, mut wiring: Wiring<'w>, page: u32) -> Wiring<'w> {
        for (name, signal) in &self.signals {
            wiring = match *name {
                "psel_i" => wiring.wire(name, &self.select.bit(page)),
                "paddr_i" => wiring.wire(name, &signal.trunc(12)),
                _ => wiring.wire(name, signal),
            };
        }
        wiring
    }

    /// Adds the answer of the registers of the next page.
    pub fn answer(&mut self, of: &Outputs) {
        self.answers.push(of.clone());
    }

    /// Connects the answers.
    pub fn finish(self) {
        let m = self.m;
        let signal = |name: &str| {
            let found = self.signals.iter().find(|(other, _)| *other == name);
            found.map_or_else(|| lit(1, 0), |(_, signal)| signal.clone())
        };
        if let [only] = self.answers.as_slice() {
            m.section("Registers.");
            m.assign(&self.select, signal("psel_i"));
            for (port, answer) in APB_ANSWER.into_iter().zip(&self.outputs) {
                m.assign(answer, &only[port]);
            }
            return;
        }
        m.section("Registers: a page for each component.");
        let [ready, data, error] = &self.outputs;
        let all =
            |port: &str| concat(&self.answers.iter().rev().map(|of| &of[port]).collect::<Vec<_>>());
        m.inst(
            "i_apb_split",
            &apb_split(self.pages),
            &[
                ("page_i", &signal("paddr_i").slice(12, index_width(self.pages))),
                ("psel_i", &signal("psel_i")),
                ("penable_i", &signal("penable_i")),
                ("psel_o", &self.select),
                ("pready_i", &all("pready_o")),
                ("prdata_i", &all("prdata_o")),
                ("pslverr_i", &all("pslverr_o")),
                ("pready_o", ready),
                ("prdata_o", data),
                ("pslverr_o", error),
            ],
        );
    }
}
