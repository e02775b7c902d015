//! What is left of a name when the operations that read it have been simplified.
//!
//! With some parameters an author's expression reads a signal, but does not depend on it. The author has not forgotten
//! it, so it is not a mistake; but neither should a reader of the module, nor a linter, have to wonder about it.

use crate::check::read_bits;
use crate::component::{Content, Item, Property, PropertyKind};
use crate::concat;
use crate::node::Node;
use crate::signal::{Kind, ModuleId};

/// Removes names that nothing reads any more, and properties that always hold. Other bits that only the author reads are
/// connected to a sink. `written` has the bits that the author reads; every bit of a signal after them is meant to be read.
pub(super) fn prune(content: &mut Content, id: ModuleId, written: &[Vec<bool>]) {
    content.body.properties.retain(|property| !always_holds(property));
    content
        .body
        .items
        .retain(|item| !matches!(item, Item::Unused(_, value) if value.value().is_some()));
    let optional = std::mem::take(&mut content.optional);
    let meant = |id: usize, bit: usize| {
        optional.contains(&id) || written.get(id).is_none_or(|bits| bits[bit])
    };
    let mut seen = read_bits(&content.signals, &content.body);
    loop {
        let unread = |id: usize| {
            let mut bits = seen[id].iter().enumerate();
            bits.all(|(bit, seen)| !seen && meant(id, bit))
        };
        let before = content.dropped.len();
        for item in &content.body.items {
            match item {
                Item::Assign(to, _) if to.signal.kind == Kind::Wire && unread(to.signal.id) => {
                    content.dropped.insert(to.signal.id);
                }
                _ => {}
            }
        }
        if content.dropped.len() == before {
            break;
        }
        let dropped = &content.dropped;
        content.body.items.retain(|item| match item {
            Item::Assign(to, _) => !dropped.contains(&to.signal.id),
            Item::Declare(signal) => !dropped.contains(&signal.id),
            _ => true,
        });
        seen = read_bits(&content.signals, &content.body);
    }
    for (number, bits) in seen.iter().enumerate() {
        let kept = !content.dropped.contains(&number);
        let kind = content.signals[number].kind;
        let is_read = !matches!(kind, Kind::Output | Kind::Next(_) | Kind::Sink);
        if kept && is_read {
            sink(content, id, number, &|bit| !bits[bit] && meant(number, bit));
        }
    }
}

/// Connects the bits of a signal that nothing reads to a sink.
fn sink(content: &mut Content, id: ModuleId, number: usize, unread: &dyn Fn(usize) -> bool) {
    let signal = &content.signals[number];
    let (width, expr) = (signal.width as usize, signal.expr());
    let (mut parts, mut lo) = (Vec::new(), 0);
    while lo < width {
        let run = (lo..width).take_while(|bit| unread(*bit)).count();
        if run > 0 {
            parts.push(expr.slice(lo as u32, run as u32));
        }
        lo += run.max(1);
    }
    if parts.is_empty() {
        return;
    }
    parts.reverse();
    let name = format!("unused_{}", signal.name);
    let sink = content.new_signal(&name, 1, Kind::Sink, id);
    content.body.items.push(Item::Unused(sink, concat(&parts.iter().collect::<Vec<_>>())));
}

fn always_holds(property: &Property) -> bool {
    let holds = matches!(property.expr.node(), Node::Literal(bits) if bits.any());
    holds && matches!(property.kind, PropertyKind::Assert | PropertyKind::Assume)
}
