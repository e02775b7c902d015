//! Expressions as text.
//!
//! Nothing here relies on the size that SystemVerilog derives for an expression from its context:
//! all operands of an operator have the same width, so the size of the context is the size that the
//! expression has by itself. Where a width changes, the operand is in a self-determined position: a
//! concatenation, the amount of a shift, an argument of `$signed` or `$unsigned`. A size cast is
//! not such a position, so it only truncates, or extends a plain name.

use super::doc::{Doc, group, indent, list, sequence, text};
use crate::bits::Bits;
use crate::expr::Expr;
use crate::index::Index;
use crate::literal::index_width;
use crate::node::{Binary, Compare, Node, Reduce, Shift};
use crate::{concat, zero};

/// The text of an expression that stands alone: after `=`, in parentheses, in braces.
pub(super) fn expr(e: &Expr) -> Doc {
    match e.node() {
        Node::Literal(bits) => literal(bits),
        Node::Constant(signal, _) | Node::Signal(signal) => text(&signal.name),
        Node::Index(i) => text(format!("{}'({})", e.width(), index(i))),
        Node::Not(a) => prefix(if a.width() == 1 { "!" } else { "~" }, a),
        Node::Neg(a) => prefix("-", a),
        Node::Reduce(Reduce::Or, a) => prefix("|", a),
        Node::Reduce(Reduce::And, a) => prefix("&", a),
        Node::Reduce(Reduce::Xor, a) => prefix("^", a),
        Node::Binary(how, a, b) => binary(*how, a, b),
        Node::Compare(how, a, b) => compare(*how, a, b),
        Node::Shift(Shift::Left, a, b) => infix(operand(a), "<<", amount(b)),
        Node::Shift(Shift::Right, a, b) => infix(operand(a), ">>", amount(b)),
        // Next to an unsigned operand, `>>>` would shift in zeros; an argument has no neighbour.
        Node::Shift(Shift::Arithmetic, a, b) => {
            list("$unsigned(", vec![infix(signed(a), ">>>", amount(b))], ")")
        }
        Node::Mux(c, a, b) => group([
            operand(c),
            text(" ?"),
            Doc::Line,
            operand(a),
            text(" :"),
            Doc::Line,
            operand(b),
        ]),
        Node::Concat(_) => list("{", parts(e), "}"),
        Node::Repeat(n, a) => sequence([text(format!("{{{n}{{")), expr(a), text("}}")]),
        Node::Zext(a) if is_name(a) => cast(e.width(), expr(a)),
        Node::Zext(a) => list("{", vec![literal(&Bits::zero(e.width() - a.width())), expr(a)], "}"),
        Node::Sext(a) => sext(e.width(), a),
        Node::Slice(a, lo) => slice(e.width(), a, lo),
        Node::Select(a, i) => sequence([expr(a), element(a.width(), e.width(), i)]),
    }
}

/// The parts of a concatenation, including those of nested concatenations.
fn parts(e: &Expr) -> Vec<Doc> {
    match e.node() {
        Node::Concat(inner) => inner.iter().flat_map(parts).collect(),
        Node::Zext(a) if !is_name(a) => {
            let zeros = literal(&Bits::zero(e.width() - a.width()));
            [zeros].into_iter().chain(parts(a)).collect()
        }
        _ => vec![expr(e)],
    }
}

/// The text of an expression next to an operator: in parentheses if it needs them.
fn operand(e: &Expr) -> Doc {
    let compound = match e.node() {
        Node::Neg(_) | Node::Reduce(..) | Node::Binary(..) | Node::Compare(..) => true,
        Node::Shift(how, ..) => *how != Shift::Arithmetic,
        Node::Mux(..) => true,
        _ => false,
    };
    if compound { parentheses(e) } else { expr(e) }
}

fn parentheses(e: &Expr) -> Doc {
    sequence([text("("), indent(expr(e)), text(")")])
}

/// An operator before its operand, in parentheses if necessary: yosys takes `~3'(x)` for a cast to
/// a size of `~3`, and Icarus does not accept `-~x` at all.
fn prefix(sign: &str, a: &Expr) -> Doc {
    let braces = matches!(a.node(), Node::Concat(_) | Node::Repeat(..));
    sequence([text(sign), if is_name(a) || braces { expr(a) } else { parentheses(a) }])
}

fn infix(left: Doc, sign: &str, right: Doc) -> Doc {
    group([left, text(format!(" {sign}")), Doc::Line, right])
}

/// The amount of a shift, which is less than the width if it is constant.
fn amount(e: &Expr) -> Doc {
    match e.node() {
        Node::Literal(bits) => text(bits.to_u128().unwrap_or_default().to_string()),
        _ => operand(e),
    }
}

/// A run of one associative operator needs no parentheses.
fn binary(how: Binary, a: &Expr, b: &Expr) -> Doc {
    let sign = match how {
        Binary::Add => " +",
        Binary::Sub => " -",
        Binary::And => " &",
        Binary::Or => " |",
        Binary::Xor => " ^",
    };
    let mut operands = vec![b];
    let mut first = a;
    while let Node::Binary(inner, a, b) = first.node()
        && *inner == how
        && how != Binary::Sub
    {
        operands.push(b);
        first = a;
    }
    let mut docs = vec![operand(first)];
    for e in operands.into_iter().rev() {
        docs.extend([text(sign), Doc::Line, operand(e)]);
    }
    group(docs)
}

fn compare(how: Compare, a: &Expr, b: &Expr) -> Doc {
    let sign = match how {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
        Compare::SignedLt => return infix(signed(a), "<", signed(b)),
    };
    infix(operand(a), sign, operand(b))
}

fn signed(e: &Expr) -> Doc {
    list("$signed(", vec![expr(e)], ")")
}

fn cast(width: u32, inner: Doc) -> Doc {
    list(&format!("{width}'("), vec![inner], ")")
}

/// Whether the text is a name, possibly with a range.
fn is_name(e: &Expr) -> bool {
    match e.node() {
        Node::Signal(_) | Node::Constant(..) => true,
        Node::Slice(a, _) => matches!(a.node(), Node::Signal(_)),
        _ => false,
    }
}

/// Copies of the sign as a single replication: simulators are slow with many parts.
fn sext(width: u32, a: &Expr) -> Doc {
    if let Node::Signal(signal) = a.node() {
        let (name, top) = (&signal.name, signal.width - 1);
        let sign = if top == 0 { name.clone() } else { format!("{name}[{top}]") };
        if top == 0 {
            return text(format!("{{{width}{{{sign}}}}}"));
        }
        let copies = format!("{{{}{{{sign}}}}}", width - signal.width);
        return list("{", vec![text(copies), text(name)], "}");
    }
    // A cast keeps the sign, so a comparison of two casts would be signed.
    list("$unsigned(", vec![cast(width, signed(a))], ")")
}

/// Slices names only; see [`crate::lower`].
fn slice(width: u32, a: &Expr, lo: &Index) -> Doc {
    sequence([expr(a), text(range(a.width(), lo, width))])
}

/// The range of a slice, with brackets. A vector of one bit has no range: the index can only be 0.
pub(super) fn range(of: u32, lo: &Index, width: u32) -> String {
    match lo.constant() {
        _ if width == of => String::new(),
        Some(lo) if width == 1 => format!("[{lo}]"),
        Some(lo) => format!("[{}:{lo}]", lo + width - 1),
        None if width == 1 => format!("[{}]", index(lo)),
        None => format!("[{} +: {width}]", index(lo)),
    }
}

pub(super) fn index(i: &Index) -> String {
    let Some(variable) = &i.variable else { return i.offset.to_string() };
    let mut text = variable.name.clone();
    if i.factor != 1 {
        text = format!("{text} * {}", i.factor);
    }
    if i.offset != 0 {
        text = format!("{text} + {}", i.offset);
    }
    text
}

/// `[i]` or `[i * width +: width]`, with the index as wide as Verilator requires for a vector of
/// `of` bits.
pub(super) fn element(of: u32, width: u32, i: &Expr) -> Doc {
    let bits = index_width(of);
    // A sum of shifted copies: no multiplication is needed if the width is a power of two.
    let copies = (0..32).filter(|n| width >> n & 1 == 1).map(|n| match n {
        0 => i.zext(bits),
        n => concat(&[i, &zero(n)]).zext(bits),
    });
    let first = copies.reduce(|sum, copy| sum.add(copy)).unwrap_or_else(|| i.clone());
    let end = if width == 1 { "]".to_owned() } else { format!(" +: {width}]") };
    sequence([text("["), expr(&first), text(end)])
}

pub(super) fn literal(bits: &Bits) -> Doc {
    let width = bits.width();
    text(match bits.to_u128() {
        Some(n) if width == 1 => format!("1'b{n}"),
        Some(n) if n < 1024 => format!("{width}'d{n}"),
        _ if width > 64 && bits.all() => format!("{{{width}{{1'b1}}}}"),
        _ => {
            let digits = format!("{bits:x}");
            format!("{width}'h{}", digits.trim_start_matches('0'))
        }
    })
}
