//! Checks of a module as a whole.

pub(crate) use reads::of_body as read_bits;

mod flow;
mod paths;
mod reads;

use crate::component::{Content, Facts, Item};
use crate::signal::{Kind, Signal};
use crate::stmt::Stmt;
use crate::target::Target;
use std::collections::BTreeMap;

/// # Panics
///
/// At the first mistake.
#[track_caller]
pub(crate) fn check(content: &Content) -> Facts {
    drivers(content);
    let mut defaults = Vec::new();
    for item in &content.body.items {
        if let Item::Comb(stmts) = item {
            defaults.push(flow::check(content, stmts));
        }
    }
    let paths = paths::check(content);
    unread(content, &defaults);
    Facts { defaults, paths }
}

/// The signals that a block drives, each with its first assignment.
pub(crate) fn driven(stmts: &[Stmt]) -> BTreeMap<usize, &Target> {
    let mut found = BTreeMap::new();
    collect(stmts, &mut found);
    fn collect<'a>(stmts: &'a [Stmt], found: &mut BTreeMap<usize, &'a Target>) {
        for stmt in stmts {
            match stmt {
                Stmt::Set(target, _) => {
                    found.entry(target.signal.id).or_insert(target);
                }
                Stmt::If(branches, otherwise) => {
                    branches.iter().for_each(|(_, body)| collect(body, found));
                    collect(otherwise, found);
                }
                Stmt::Switch(_, cases, default) => {
                    cases.iter().for_each(|(_, body)| collect(body, found));
                    collect(default, found);
                }
                Stmt::For(_, body) => collect(body, found),
                Stmt::Note(_) => {}
            }
        }
    }
    found
}

/// Checks that every signal has exactly one driver.
#[track_caller]
fn drivers(content: &Content) {
    let mut found: BTreeMap<usize, &Target> = BTreeMap::new();
    for item in &content.body.items {
        let targets: Vec<&Target> = match item {
            Item::Assign(target, _) => vec![target],
            Item::Comb(stmts) => driven(stmts).into_values().collect(),
            Item::Instance(instance) => instance.outputs.iter().map(|(_, to)| to).collect(),
            _ => vec![],
        };
        for target in targets {
            if let Some(other) = found.insert(target.signal.id, target) {
                let (name, module) = (&target.signal.name, &content.name);
                let (here, there) = (target.location, other.location);
                panic!("{name} in module {module} is driven twice: {there} and {here}");
            }
        }
    }
    for Signal { name, id, kind, .. } in content.signals.iter().map(|signal| &**signal) {
        let needs = matches!(kind, Kind::Output | Kind::Wire | Kind::Next(_));
        let needs = needs && !content.dropped.contains(id);
        let module = &content.name;
        assert!(!needs || found.contains_key(id), "{name} in module {module} is never driven");
    }
}

/// Checks that every bit is read, and every memory both written and read.
#[track_caller]
fn unread(content: &Content, defaults: &[Vec<(usize, usize)>]) {
    let mut seen = reads::of_body(&content.signals, &content.body);
    for (_, q) in defaults.iter().flatten() {
        seen[*q].fill(true);
    }
    let module = &content.name;
    for signal in &content.signals {
        let (name, bits) = (&signal.name, &seen[signal.id]);
        let never = matches!(signal.kind, Kind::Output | Kind::Next(_) | Kind::Sink);
        if never || content.dropped.contains(&signal.id) {
            continue;
        }
        let missing: Vec<String> =
            (0..bits.len()).filter(|i| !bits[*i]).map(|i| i.to_string()).collect();
        let help = "read it, or say that it is `unused`";
        assert!(bits.contains(&true), "{name} in module {module} is never read; {help}");
        let list = missing.join(", ");
        assert!(
            missing.is_empty(),
            "bits {list} of {name} in module {module} are never read; {help}"
        );
    }
    for item in &content.body.items {
        let Item::Memory(memory) = item else { continue };
        let name = memory.name();
        let is = |m: &crate::Memory| m.name() == name;
        let written = content
            .body
            .items
            .iter()
            .any(|i| matches!(i, Item::Write { memory, .. } if is(memory)));
        let read = content.body.items.iter().any(|i| match i {
            Item::Read { memory, .. } | Item::ReadClocked { memory, .. } => is(memory),
            _ => false,
        });
        assert!(written, "memory {name} in module {module} is never written");
        assert!(read, "memory {name} in module {module} is never read");
    }
}
