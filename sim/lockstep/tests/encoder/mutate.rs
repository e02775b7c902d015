//! Changes SystemVerilog by rules.
//!
//! One text contains all changes: each changed statement has both forms, and the variable `chosen` selects
//! one. So one model is enough for all.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Operators and their replacements.
const OPERATORS: [(&str, &str); 8] = [
    (" + ", " - "),
    (" - ", " + "),
    (" == ", " != "),
    (" != ", " == "),
    (" & ", " | "),
    (" | ", " & "),
    (" << ", " >> "),
    (" < ", " >= "),
];

/// A changed expression. Its number is its position in the list, counted from 1.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) module: String,
    /// The target of the assignment, or `if`.
    pub(crate) place: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// An expression in a text.
struct Expression {
    place: String,
    range: std::ops::Range<usize>,
    text: String,
}

/// Changes up to `count` expressions of every file, named `MODULE.sv`. The choice depends only on their own
/// text and the seed, so that it stays the same when others change.
pub(crate) fn mutate(files: &mut [(String, String)], count: usize, seed: u64) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (name, text) in files {
        let module = name.trim_end_matches(".sv").to_owned();
        let mut changes: Vec<(u64, Expression, String)> = expressions(text)
            .into_iter()
            .filter_map(|expression| {
                let mut hasher = DefaultHasher::new();
                (seed, &module, &expression.place, &expression.text).hash(&mut hasher);
                let hash = hasher.finish();
                let forms = forms(&expression);
                let form = forms.get(hash as usize % forms.len().max(1))?.clone();
                Some((hash, expression, form))
            })
            .collect();
        changes.sort_by_key(|(hash, ..)| *hash);
        changes.truncate(count);
        // From the end, so that positions stay valid.
        changes.sort_by_key(|(_, expression, _)| std::cmp::Reverse(expression.range.start));
        for (_, Expression { place, range, text: before }, after) in changes {
            let number = mutants.len() + 1;
            let both =
                format!("(hartrace_mutant::chosen == 16'd{number}) ? ({after}) : ({before})");
            text.replace_range(range, &both);
            mutants.push(Mutant { module: module.clone(), place, before, after });
        }
    }
    mutants
}

/// Expressions on the right of assignments and in conditions, outside registers (where they are only copies
/// and reset values), assertions and code that exists for linters.
fn expressions(text: &str) -> Vec<Expression> {
    let mut found = Vec::new();
    let (mut at, mut registers, mut seen) = (0, false, BTreeSet::new());
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match line.trim_end() {
            "  end" => registers = false,
            line if line.starts_with("  always_comb") => registers = false,
            line if line.starts_with("  always") => registers = true,
            _ => {}
        }
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if registers || indent < 2 || code.starts_with("//") {
            continue;
        }
        let code = code.strip_prefix("assign ").unwrap_or(code);
        let (place, open, close) = if code.starts_with("if (") {
            ("if", "if (", ") begin\n")
        } else {
            match code.split_once(" =") {
                // Not a comparison in the middle of an expression.
                Some((left, right)) if is_target(left) && !right.starts_with('=') => {
                    (left, " =", ";\n")
                }
                _ => continue,
            }
        };
        let rest = &text[start..];
        let Some(from) = rest.find(open).map(|at| at + open.len()) else { continue };
        let Some(to) = rest[from..].find(close).map(|len| from + len) else { continue };
        let body = rest[from..to].split_whitespace().collect::<Vec<_>>().join(" ");
        // Equal expressions are changed once, so that the number is unambiguous.
        if !body.contains("//") && seen.insert((place.to_owned(), body.clone())) {
            let range = start + from..start + to;
            found.push(Expression { place: place.to_owned(), range, text: body });
        }
    }
    found
}

fn is_target(text: &str) -> bool {
    let name = text.split('[').next().unwrap_or_default();
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(letters) && !name.starts_with("unused_")
}

/// The possible changes of an expression.
fn forms(expression: &Expression) -> Vec<String> {
    let text = &expression.text;
    let mut forms = Vec::new();
    for (old, new) in OPERATORS {
        for (at, _) in text.match_indices(old) {
            forms.push(format!("{}{new}{}", &text[..at], &text[at + old.len()..]));
        }
    }
    for (at, _) in text.match_indices("'d") {
        let rest = &text[at + 2..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let width = text[..at].trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // All bits of zero, otherwise one bit, so that it still fits.
        match rest[..digits].parse::<u128>() {
            Ok(0) => forms.push(format!("{}~{}", &text[..width], &text[width..])),
            Ok(value) => {
                forms.push(format!("{}'d{}{}", &text[..at], value ^ 1, &rest[digits..]));
            }
            Err(_) => {}
        }
    }
    for (at, _) in text.match_indices('!').filter(|(at, _)| !text[at + 1..].starts_with('=')) {
        forms.push(format!("{}{}", &text[..at], &text[at + 1..]));
    }
    if expression.place == "if" {
        forms.push(format!("!({text})"));
    }
    forms
}
