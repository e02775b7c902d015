//! The part of a module after its ports.

use super::doc::{Doc, indent, list, sequence, text};
use super::expr::{expr, literal};
use super::lines::Lines;
use super::stmt::{assignment, block, target};
use super::vector;
use crate::Expr;
use crate::component::{Component, Instance, Item, Property, PropertyKind, Register};
use crate::memory::Memory;
use crate::signal::Signal;
use crate::stmt::Stmt;

const CLOCK: &str = "always_ff @(posedge clk_i) begin";
const CLOCK_OR_RESET: &str = "always_ff @(posedge clk_i or negedge rst_ni) begin";

pub(super) fn body(out: &mut Lines, component: &Component) {
    let content = component.content();
    let mut body = Body { out, component, blocks: 0, gathered: Vec::new() };
    content.body.items.iter().for_each(|item| body.item(item));
    body.release();
    let (reset, plain): (Vec<_>, Vec<_>) =
        content.body.registers.iter().partition(|register| register.reset.is_some());
    registers_with_reset(out, &reset);
    registers_without_reset(out, &plain);
    properties(out, &content.body.properties);
}

struct Body<'a, 'o> {
    out: &'o mut Lines,
    component: &'a Component,
    /// Number of combinational blocks so far.
    blocks: usize,
    /// Assignments that wait until the signals declared together with them are declared.
    gathered: Vec<Doc>,
}

impl<'a> Body<'a, '_> {
    fn item(&mut self, item: &'a Item) {
        match item {
            Item::Declare(signal) => self.declare(signal),
            Item::DeclareRegister(d, q) => {
                self.out.line(&format!("{} {}, {};", vector(d.width), d.name, q.name));
            }
            Item::Constant(signal, bits) => {
                let head = format!("localparam {} {} = ", vector(signal.width), signal.name);
                self.out.doc(sequence([text(head), literal(bits), text(";")]));
            }
            Item::Memory(memory) => {
                let (name, depth) = (memory.name(), memory.depth());
                self.out.line(&format!("{} {name} [{depth}];", vector(memory.width())));
            }
            Item::Assign(to, value) => self.assign(target(to), expr(value)),
            Item::Read { memory, word, address } => {
                self.declare(word);
                self.assign(text(&word.name), word_at(memory, address));
            }
            Item::Unused(sink, value) => {
                self.declare(sink);
                self.assign(text(&sink.name), expr(&value.parity()));
            }
            Item::ReadClocked { memory, word, enable, address } => {
                self.declare(word);
                self.release();
                let value = word_at(memory, address);
                self.clocked(enable, text(&word.name), value);
            }
            Item::Write { memory, enable, address, data } => {
                self.release();
                self.clocked(enable, word_at(memory, address), expr(data));
            }
            Item::Section(comment) => {
                self.release();
                self.out.comment(comment);
            }
            Item::Comb(stmts) => {
                self.release();
                self.comb(stmts);
            }
            Item::Instance(of) => {
                self.release();
                instance(self.out, of);
            }
        }
    }

    fn declare(&mut self, signal: &Signal) {
        self.out.line(&format!("{} {};", vector(signal.width), signal.name));
    }

    fn assign(&mut self, to: Doc, value: Doc) {
        self.gathered.push(sequence([text("assign "), to, text(" = "), indent(value), text(";")]));
    }

    /// Writes the assignments that were gathered, followed by a blank line.
    fn release(&mut self) {
        self.out.blank();
        let any = !self.gathered.is_empty();
        self.gathered.drain(..).for_each(|doc| self.out.doc(doc));
        if any {
            self.out.blank();
        }
    }

    fn clocked(&mut self, enable: &Expr, to: Doc, value: Doc) {
        self.out.nested(CLOCK, "end", |out| {
            out.doc(sequence([text("if ("), indent(expr(enable)), text(") begin")]));
            out.indented(|out| out.doc(sequence([to, text(" <= "), indent(value), text(";")])));
            out.line("end");
        });
        self.out.blank();
    }

    fn comb(&mut self, stmts: &[Stmt]) {
        let defaults = &self.component.facts().defaults[self.blocks];
        self.blocks += 1;
        let signals = &self.component.content().signals;
        self.out.nested("always_comb begin", "end", |out| {
            for (d, q) in defaults {
                out.line(&format!("{} = {};", signals[*d].name, signals[*q].name));
            }
            block(out, stmts);
        });
        self.out.blank();
    }
}

fn word_at(memory: &Memory, address: &Expr) -> Doc {
    sequence([text(format!("{}[", memory.name())), expr(address), text("]")])
}

fn instance(out: &mut Lines, of: &Instance) {
    let connections: Vec<(&str, Doc)> = of
        .of
        .ports()
        .iter()
        .filter_map(|port| {
            let input = of.inputs.iter().find(|(name, _)| *name == port.name);
            let output = of.outputs.iter().find(|(name, _)| *name == port.name);
            let doc = input.map(|(_, e)| expr(e)).or(output.map(|(_, to)| target(to)));
            doc.map(|doc| (port.name.as_str(), doc))
        })
        .collect();
    let last = connections.len().saturating_sub(1);
    out.line(&format!("{} {} (", of.of.name(), of.name));
    out.indented(|out| {
        out.indented(|out| {
            for (i, (port, doc)) in connections.into_iter().enumerate() {
                let end = if i == last { "" } else { "," };
                out.doc(sequence([list(&format!(".{port}("), vec![doc], ")"), text(end)]));
            }
        });
    });
    out.line(");");
    out.blank();
}

fn registers_with_reset(out: &mut Lines, registers: &[&Register]) {
    if registers.is_empty() {
        return;
    }
    out.blank();
    out.nested(CLOCK_OR_RESET, "end", |out| {
        out.line("if (!rst_ni) begin");
        out.indented(|out| {
            for Register { q, reset, .. } in registers {
                if let Some(reset) = reset {
                    assignment(out, "", text(&q.name), "<=", reset);
                }
            }
        });
        out.line("end else begin");
        out.indented(|out| next(out, registers));
        out.line("end");
    });
}

fn registers_without_reset(out: &mut Lines, registers: &[&Register]) {
    if registers.is_empty() {
        return;
    }
    out.blank();
    out.nested(CLOCK, "end", |out| next(out, registers));
}

/// Assigns their next values to registers: those without a condition first, then all that share one together.
fn next(out: &mut Lines, registers: &[&Register]) {
    let mut conditions: Vec<(String, &Expr, Vec<&Register>)> = Vec::new();
    for register in registers {
        let Some(enable) = &register.enable else {
            step(out, register);
            continue;
        };
        // Conditions that read the same are the same.
        let text = expr(enable).render(0);
        match conditions.iter_mut().find(|(other, ..)| *other == text) {
            Some((_, _, together)) => together.push(register),
            None => conditions.push((text, enable, vec![register])),
        }
    }
    for (_, enable, together) in conditions {
        out.doc(sequence([text("if ("), indent(expr(enable)), text(") begin")]));
        out.indented(|out| together.iter().for_each(|register| step(out, register)));
        out.line("end");
    }
}

fn step(out: &mut Lines, register: &Register) {
    out.line(&format!("{} <= {};", register.q.name, register.d.name));
}

/// Properties for simulators and provers. Synthesis defines `SYNTHESIS`; so does yosys, unless it
/// reads for a proof.
fn properties(out: &mut Lines, properties: &[Property]) {
    let (stays, claims): (Vec<_>, Vec<_>) =
        properties.iter().partition(|property| property.kind == PropertyKind::Stays);
    if !claims.is_empty() {
        out.blank();
        out.directive("`ifndef SYNTHESIS");
        out.nested("always @(posedge clk_i) begin", "end", |out| {
            out.line("if (rst_ni) begin");
            out.indented(|out| {
                let (covers, claims): (Vec<&Property>, Vec<&Property>) =
                    claims.into_iter().partition(|p| p.kind == PropertyKind::Cover);
                claims.into_iter().for_each(|p| property(out, p));
                if !covers.is_empty() {
                    out.directive("`ifdef FORMAL");
                    covers.into_iter().for_each(|p| property(out, p));
                    out.directive("`endif");
                }
            });
            out.line("end");
        });
        out.directive("`endif");
    }
    if !stays.is_empty() {
        out.blank();
        // Provers are given the same claims where they are to show them.
        out.directive("`ifndef SYNTHESIS");
        out.directive("`ifndef FORMAL");
        stays.into_iter().for_each(|property| self::stays(out, property));
        out.directive("`endif");
        out.directive("`endif");
    }
}

/// A value that stays, with registers for the one before.
fn stays(out: &mut Lines, property: &Property) {
    let Property { name, expr: value, waits: Some(waits), .. } = property else { return };
    out.line(&format!("logic {name}_waits_q;"));
    out.line(&format!("{} {name}_before_q;", vector(value.width())));
    out.nested(CLOCK_OR_RESET, "end", |out| {
        out.line("if (!rst_ni) begin");
        out.indented(|out| out.line(&format!("{name}_waits_q <= 1'b0;")));
        out.line("end else begin");
        out.indented(|out| assignment(out, "", text(format!("{name}_waits_q")), "<=", waits));
        out.line("end");
    });
    out.nested("always @(posedge clk_i) begin", "end", |out| {
        assignment(out, "", text(format!("{name}_before_q")), "<=", value);
        out.nested(&format!("if (rst_ni & {name}_waits_q) begin : {name}"), "end", |out| {
            // Bits that were never written are unknown, and stay so.
            let head = format!("assert ({name}_before_q === (");
            out.doc(sequence([list(&head, vec![expr(value)], "))"), text(";")]));
        });
    });
}

fn property(out: &mut Lines, property: &Property) {
    let word = match property.kind {
        PropertyKind::Assert => "assert",
        PropertyKind::Assume => "assume",
        PropertyKind::Cover => "cover",
        PropertyKind::Stays => return,
    };
    // Icarus Verilog does not support labels of assertions, only names of blocks.
    out.nested(&format!("begin : {}", property.name), "end", |out| {
        let head = format!("{word} (");
        out.doc(sequence([list(&head, vec![expr(&property.expr)], ")"), text(";")]));
    });
}
