//! Statements as text.

use super::doc::{Doc, sequence, text};
use super::expr::{element, expr, range};
use super::lines::Lines;
use crate::expr::Expr;
use crate::stmt::Stmt;
use crate::target::{Part, Target};

pub(super) fn block(out: &mut Lines, stmts: &[Stmt]) {
    for stmt in stmts {
        match stmt {
            Stmt::Set(to, value) => assignment(out, "", target(to), "=", value),
            Stmt::Note(note) => out.comment(note),
            Stmt::If(branches, otherwise) => conditional(out, branches, otherwise),
            Stmt::Switch(subject, cases, default) => switch(out, subject, cases, default),
            Stmt::For(v, body) => {
                let (name, from, to) = (&v.name, v.from, v.to);
                let head = format!("for (int unsigned {name} = {from}; {name} < {to}; {name}++)");
                out.nested(&format!("{head} begin"), "end", |out| block(out, body));
            }
        }
    }
}

/// `prefix target = value;`, or with `<=`.
pub(super) fn assignment(out: &mut Lines, prefix: &str, to: Doc, sign: &str, value: &Expr) {
    let head = sequence([text(prefix), to, text(format!(" {sign} "))]);
    out.doc(sequence([head, super::doc::indent(expr(value)), text(";")]));
}

pub(super) fn target(to: &Target) -> Doc {
    let name = text(&to.signal.name);
    match &to.part {
        Part::All => name,
        Part::Slice(lo) => sequence([name, text(range(to.signal.width, lo, to.width))]),
        Part::Element(i) => sequence([name, element(to.signal.width, to.width, i)]),
    }
}

fn condition(before: &str, of: &Expr) -> Doc {
    sequence([text(format!("{before}if (")), super::doc::indent(expr(of)), text(") begin")])
}

fn conditional(out: &mut Lines, branches: &[(Expr, Vec<Stmt>)], otherwise: &[Stmt]) {
    for (i, (of, body)) in branches.iter().enumerate() {
        out.doc(condition(if i == 0 { "" } else { "end else " }, of));
        out.indented(|out| block(out, body));
    }
    if !otherwise.is_empty() {
        out.line("end else begin");
        out.indented(|out| block(out, otherwise));
    }
    out.line("end");
}

fn switch(out: &mut Lines, of: &Expr, cases: &[(Vec<Expr>, Vec<Stmt>)], default: &[Stmt]) {
    out.doc(sequence([text("case ("), super::doc::indent(expr(of)), text(")")]));
    out.indented(|out| {
        for (labels, body) in cases {
            let labels: Vec<String> = labels.iter().map(|label| expr(label).render(0)).collect();
            out.nested(&format!("{}: begin", labels.join(", ")), "end", |out| block(out, body));
        }
        if default.is_empty() {
            out.line("default: ;");
        } else {
            out.nested("default: begin", "end", |out| block(out, default));
        }
    });
    out.line("endcase");
}
