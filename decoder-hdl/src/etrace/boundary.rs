//! Where packets start and end.
//!
//! A header says how many bytes follow. That number is prepared one stage before, so a lane of the chain is one level
//! of logic.

use super::Config;
use super::shape::Shape;
use crate::wires::{any, delay, join};
use hartrace_rtl::{Component, Expr, Module, concat, index_width, lit, zero};

/// Cycles from a byte to its role.
pub(super) const LATENCY: u32 = 4;

/// The module `etrace_header`: what a byte means as a header.
fn header(shape: &Shape) -> Component {
    let m = Module::new("etrace_header", "How many bytes follow, if the byte is a header.");
    let byte = m.input("byte_i", 8, "the byte");
    let follow = m.output("follow_o", shape.longest() + 1, "one-hot: bytes that follow");
    let length = m.let_("length", byte.slice(0, 5));
    let stamped = (shape.stamp_bytes > 0).then(|| m.let_("stamped", byte.bit(7)));
    m.unused(&byte.slice(5, if stamped.is_some() { 2 } else { 3 }));
    let is = |length_is: Option<u32>| match length_is {
        Some(value @ 1..=31) => length.is(value.into()),
        _ => lit(1, 0),
    };
    let bits: Vec<Expr> = (0..=shape.longest())
        .map(|count| match (count, &stamped) {
            (0, _) => length.is(0),
            (_, None) => is(count.checked_sub(shape.source_bytes)),
            (_, Some(stamped)) => stamped.mux(
                is(count.checked_sub(shape.body())),
                is(count.checked_sub(shape.source_bytes)),
            ),
        })
        .collect();
    m.assign(&follow, join(&bits));
    m.finish()
}

/// The module `etrace_null_run`: where a run of null packets is too long to lie within a packet, one cycle later.
fn null_run(shape: &Shape) -> Component {
    let (u, run) = (shape.unroll, shape.longest() + 1);
    let m = Module::new(
        "etrace_null_run",
        "Finds runs of null packets that cannot lie within a packet: a header follows each byte of the rest.",
    )
    .clocked();
    let valid = m.input("valid_i", u, "valid bytes");
    let null = m.input("null_i", u, "as headers, they are null packets");
    let aligned = m.output("aligned_o", u, "a header follows, whatever came before");

    m.section("Null packets within the cycle.");
    let skips = m.let_("null_or_none", &null | !&valid);
    let only = delay(&m, "only_nulls", &skips.all(), true);
    // Up to the end of the cycle: all of them if there is nothing else.
    let newest: Vec<Expr> = (0..u).map(|i| valid.bit(i) & skips.slice(i, u - i).all()).collect();
    let newest = m.let_("is_newest", join(&newest));
    let newest: Vec<Expr> = (0..u).map(|i| newest.bit(i)).collect();
    let newest = delay(&m, "newest", &count(&newest), true);
    if u == 1 {
        m.assign(&aligned, &newest & one_by_one(&m, run, &newest, &only));
        return m.finish();
    }
    // From the start of the cycle up to a byte: how many, one-hot. Bit n of `given` says that there are more than n bytes.
    let mut given = valid.bit(0);
    let mut oldest = vec![delay(&m, "oldest_0", &(&given & null.bit(0)), true)];
    for i in 1..u {
        let more = concat(&[&given, &lit(1, 1)]);
        given = m.let_(&format!("given_{i}"), valid.bit(i).mux(more, given.zext(i + 1)));
        let exactly = &given & !given.slice(1, i).zext(i + 1);
        let nulls = valid.bit(i) & skips.slice(0, i + 1).all();
        oldest.push(delay(&m, &format!("oldest_{i}"), &nulls.gate(exactly), true));
    }

    m.section("The run, which cannot both start and become long enough within one cycle.");
    let width = index_width(run + 1);
    let seen = m.reg("seen", zero(width));
    let enough: Vec<Expr> = (1..=u).map(|n| seen.q.ge(lit(width, (run - n).into()))).collect();
    let enough = m.let_("enough_with", join(&enough));
    let full = any((1..=u).map(|n| newest.is(n.into()) & enough.bit(n - 1)));
    let longer = full.mux(lit(width, run.into()), &seen.q + newest.zext(width));
    // A run of full length stays full while nothing comes.
    m.assign(&seen.d, only.mux(longer, newest.zext(width)));
    let bits: Vec<Expr> =
        (0..).zip(&oldest).map(|(i, counts)| (counts & enough.slice(0, i + 1)).any()).collect();
    m.assign(&aligned, join(&bits));
    m.finish()
}

/// Whether one null packet more makes a run, if they come one by one: two digits and flags, each of which is one level of
/// logic.
fn one_by_one(m: &Module, run: u32, next: &Expr, only: &Expr) -> Expr {
    m.section("The run without the null packet that completes it: sixteens and ones, and what the ones will be.");
    const ONES: u32 = 4;
    let ones = m.reg("ones", zero(ONES));
    m.assign(&ones.d, only.gate(incremented(&ones.q, next)));
    // Whether the ones have a value now.
    let at = |name: &str, value: u32| {
        let is = m.reg(name, value == 0);
        let before = u128::from(value.wrapping_sub(1) % (1 << ONES));
        let will = next.mux(ones.q.is(before), ones.q.is(value.into()));
        m.assign(&is.d, if value == 0 { !only | will } else { only & will });
        is.q
    };
    let carries = at("carries", (1 << ONES) - 1);
    let last = run - 2;
    let completes = at("completes", last % (1 << ONES));
    let width = index_width((last >> ONES) + 1).max(1);
    let sixteens = m.reg("sixteens", zero(width));
    m.assign(&sixteens.d, only.gate(incremented(&sixteens.q, &(next & carries))));
    let enough = m.reg("enough", false);
    let is_last = next & completes & sixteens.q.is((last >> ONES).into());
    m.assign(&enough.d, only & (&enough.q | is_last));
    enough.q
}

/// A number, one larger if `by` is set: without a carry chain, which is longer for a few bits.
fn incremented(number: &Expr, by: &Expr) -> Expr {
    let bits: Vec<Expr> = (0..number.width())
        .map(|i| match i {
            0 => number.bit(0) ^ by,
            _ => number.bit(i) ^ (by & number.trunc(i).all()),
        })
        .collect();
    join(&bits)
}

/// How many of these bits are set.
fn count(bits: &[Expr]) -> Expr {
    match bits {
        [one] => one.clone(),
        _ => {
            let (low, high) = bits.split_at(bits.len() / 2);
            let width = index_width(bits.len() as u32 + 1);
            count(low).zext(width) + count(high).zext(width)
        }
    }
}

/// Signals between lanes: name, width, and what they are.
pub(super) fn state(shape: &Shape) -> Vec<(&'static str, u32, &'static str)> {
    let mut state = vec![
        ("left", shape.longest() + 1, "one-hot: bytes left of the packet; none of them: a header"),
        ("position", shape.positions(), "one-hot: the position of the byte"),
    ];
    if shape.stamp_bytes > 0 {
        state.push(("stamped", 1, "the packet has a timestamp"));
    }
    state
}

/// The state before the first byte.
pub(super) fn start(config: &Config, name: &str, width: u32) -> Expr {
    lit(width, (name == "left" && config.aligned).into())
}

/// The module `etrace_boundary_lane`: the role of one byte, and the state after it.
fn lane(shape: &Shape) -> Component {
    let m = Module::new(
        "etrace_boundary_lane",
        "The role of one byte, from the state after the byte before it. The first bit of `left` expects a header. \
         No bit is set while none is known.",
    );
    let valid = m.input("valid_i", 1, "there is a byte");
    let aligned = m.input("aligned_i", 1, "a header follows, whatever came before");
    let follow = m.input("follow_i", shape.longest() + 1, "one-hot: bytes that follow a header");
    let extend = (shape.stamp_bytes > 0)
        .then(|| m.input("extend_i", 1, "as a header, it announces a timestamp"));
    let before: Vec<Expr> = state(shape)
        .into_iter()
        .map(|(name, width, doc)| m.input(&format!("{name}_i"), width, doc))
        .collect();
    let after: Vec<Expr> = state(shape)
        .into_iter()
        .map(|(name, width, _)| m.output(&format!("{name}_o"), width, ""))
        .collect();
    let (left, position) = (&before[0], &before[1]);
    let head = m.let_("head", left.bit(0));

    let new_left: Vec<Expr> = (0..=shape.longest())
        .map(|count| {
            let started = &head & follow.bit(count);
            match count {
                0 => started | left.bit(1) | &aligned,
                _ if count == shape.longest() => started,
                _ => started | left.bit(count + 1),
            }
        })
        .collect();
    let (source, body) = (shape.source_bytes, shape.body());
    let stamps = |of: Option<&Expr>, yes: bool| match of {
        Some(stamped) if yes => stamped.clone(),
        Some(stamped) => !stamped,
        None => lit(1, (!yes).into()),
    };
    let new_position: Vec<Expr> = (0..shape.positions())
        .map(|place| {
            // The byte before this one: a header, or the one at the position before. The timestamp may be left out.
            let after_head = match place {
                0 if source > 0 => lit(1, 1),
                _ if source > 0 => lit(1, 0),
                _ if place == body => stamps(extend.as_ref(), false),
                0 => stamps(extend.as_ref(), true),
                _ => lit(1, 0),
            };
            let end_of_source = |yes| match source {
                0 => lit(1, 0),
                _ => position.bit(source - 1) & stamps(before.get(2), yes),
            };
            let after_byte = match place {
                0 => lit(1, 0),
                _ if place == body && body > source => {
                    end_of_source(false) | position.bit(place - 1)
                }
                _ if place == source && body > source => end_of_source(true),
                _ => position.bit(place - 1),
            };
            head.mux(after_head, after_byte)
        })
        .collect();
    let now = [Some(join(&new_left)), Some(join(&new_position))]
        .into_iter()
        .chain([extend.map(|extend| head.mux(extend, &before[2]))])
        .flatten();
    for ((output, now), before) in after.iter().zip(now).zip(&before) {
        m.assign(output, valid.mux(now, before));
    }
    m.finish()
}

/// The role of a byte: name, width, what it is, and whether it is cleared by reset.
pub(super) fn role(shape: &Shape) -> Vec<(&'static str, u32, &'static str, bool)> {
    let mut role = vec![
        ("byte", 8, "the bytes", false),
        ("head", 1, "they are headers", true),
        ("last", 1, "packets end with them", true),
        ("position", shape.positions(), "one-hot: their positions, if they are no headers", true),
    ];
    if shape.stamp_bytes > 0 {
        role.push(("stamped", 1, "their packets have a timestamp", false));
    }
    role
}

/// The role of a byte, from the state before it.
fn of_byte(valid: &Expr, byte: &Expr, state: &[Expr]) -> Vec<Expr> {
    let (left, position) = (&state[0], &state[1]);
    let role = [
        byte.clone(),
        valid & left.bit(0),
        valid & left.bit(1),
        (valid & !left.bit(0)).gate(position),
    ];
    role.into_iter().chain(state.get(2).cloned()).collect()
}

/// The module `etrace_step`: what one byte does, without registers; the units that take several bytes are compared with it.
pub(super) fn step(shape: &Shape) -> Component {
    let m = Module::new("etrace_step", "The role of one byte, and the state after it.");
    let valid = m.input("valid_i", 1, "there is a byte");
    let byte = m.input("byte_i", 8, "the byte");
    let aligned = m.input("aligned_i", 1, "a header follows, whatever came before");
    let names: Vec<_> = state(shape).into_iter().map(|(name, ..)| name).collect();
    let port = |(name, width, doc): (&str, u32, &str)| {
        let before = m.input(&format!("before_{name}_i"), width, doc);
        (before, m.output(&format!("after_{name}_o"), width, doc))
    };
    let (before, after): (Vec<Expr>, Vec<Expr>) = state(shape).into_iter().map(port).unzip();
    let roles: Vec<Expr> = role(shape)
        .into_iter()
        .map(|(name, width, doc, _)| m.output(&format!("{name}_o"), width, doc))
        .collect();
    let header = m.inst("i_header", &header(shape), &[("byte_i", &byte)]);
    let mut ports = vec![
        ("valid_i".to_owned(), valid.clone()),
        ("aligned_i".to_owned(), aligned),
        ("follow_i".to_owned(), header.only().clone()),
    ];
    if shape.stamp_bytes > 0 {
        ports.push(("extend_i".to_owned(), byte.bit(7)));
    }
    ports.extend(names.iter().zip(&before).map(|(name, now)| (format!("{name}_i"), now.clone())));
    let out = crate::wires::instance(&m, "i_lane", &lane(shape), &ports);
    for (name, after) in names.iter().zip(&after) {
        m.assign(after, &out[&format!("{name}_o")]);
    }
    for (output, value) in roles.iter().zip(of_byte(&valid, &byte, &before)) {
        m.assign(output, value);
    }
    m.finish()
}

/// What is known of a byte for those who count packets: name, and what it is.
pub(super) fn counted(config: &Config) -> Vec<(&'static str, &'static str)> {
    let mut counted = vec![("valid", "there are bytes"), ("null", "they are null packets")];
    if !config.aligned {
        counted.push(("found", "the search for headers ends with them"));
    }
    counted
}

/// The module `etrace_boundary`: the role of every byte, [`LATENCY`] cycles later; with `counting`, also [`counted`].
pub(super) fn unit(config: &Config, shape: &Shape, counting: bool) -> Component {
    let u = shape.unroll;
    let m = Module::new(
        "etrace_boundary",
        "Finds where packets start and end: a stage for headers, then a chain of one lane per byte.",
    )
    .clocked();
    let valid_i = m.input("valid_i", u, "valid bytes");
    let bytes_i = m.input("bytes_i", 8 * u, "bytes, the oldest lowest");
    let outputs: Vec<Expr> = role(shape)
        .into_iter()
        .map(|(name, width, doc, _)| m.output(&format!("{name}_o"), u * width, doc))
        .collect();
    let counted = if counting { counted(config) } else { Vec::new() };
    let counts: Vec<Expr> =
        counted.iter().map(|(name, doc)| m.output(&format!("{name}_o"), u, doc)).collect();

    m.section("What each byte would be as a header.");
    let valid = delay(&m, "valid", &valid_i, true);
    let bytes = delay(&m, "bytes", &bytes_i, false);
    let null: Vec<Expr> = (0..u).map(|i| bytes_i.slice(8 * i, 5).is(0)).collect();
    let null = delay(&m, "null", &join(&null), false);
    let run = m.inst("i_null_run", &null_run(shape), &[("valid_i", &valid), ("null_i", &null)]);
    let aligned = delay(&m, "aligned", run.only(), true);
    let valid = delay(&m, "aligned_valid", &valid, true);
    let bytes = delay(&m, "aligned_bytes", &bytes, false);
    let header = header(shape);
    let follow: Vec<Expr> = (0..u)
        .map(|i| {
            let out =
                m.inst(&format!("i_header_{i}"), &header, &[("byte_i", &bytes.slice(8 * i, 8))]);
            delay(&m, &format!("follow_{i}"), out.only(), false)
        })
        .collect();
    let valid = delay(&m, "prepared_valid", &valid, true);
    let bytes = delay(&m, "prepared_bytes", &bytes, false);

    m.section("The role of each byte, from that of the byte before it.");
    let lane = lane(shape);
    let state = state(shape);
    let regs: Vec<_> =
        state.iter().map(|(name, width, _)| m.reg(name, start(config, name, *width))).collect();
    let mut now: Vec<Expr> = regs.iter().map(|reg| reg.q.clone()).collect();
    let mut roles: Vec<Vec<Expr>> = outputs.iter().map(|_| Vec::new()).collect();
    let mut counters: Vec<Vec<Expr>> = counted.iter().map(|_| Vec::new()).collect();
    for (i, follow) in (0..u).zip(&follow) {
        let (valid, aligned) = (valid.bit(i), aligned.bit(i));
        let extend = bytes.bit(8 * i + 7);
        let mut ports = vec![
            ("valid_i".to_owned(), valid.clone()),
            ("aligned_i".to_owned(), aligned.clone()),
            ("follow_i".to_owned(), follow.clone()),
        ];
        if shape.stamp_bytes > 0 {
            ports.push(("extend_i".to_owned(), extend));
        }
        ports.extend(
            state.iter().zip(&now).map(|((name, ..), value)| (format!("{name}_i"), value.clone())),
        );
        let out = crate::wires::instance(&m, &format!("i_lane_{i}"), &lane, &ports);
        let left = &now[0];
        let role = of_byte(&valid, &bytes.slice(8 * i, 8), &now);
        roles.iter_mut().zip(role).for_each(|(all, one)| all.push(one));
        for ((name, _), all) in counted.iter().zip(&mut counters) {
            all.push(match *name {
                "valid" => valid.clone(),
                "null" => &valid & left.bit(0) & follow.bit(0),
                _ => &valid & !left.any() & &aligned,
            });
        }
        now = state.iter().map(|(name, ..)| out[&format!("{name}_o")].clone()).collect();
    }
    for (reg, value) in regs.iter().zip(&now) {
        m.assign(&reg.d, value);
    }
    for ((output, all), (name, _, _, clears)) in outputs.iter().zip(&roles).zip(role(shape)) {
        m.assign(output, delay(&m, &format!("role_{name}"), &join(all), clears));
    }
    for ((output, all), (name, _)) in counts.iter().zip(&counters).zip(&counted) {
        m.assign(output, delay(&m, &format!("counted_{name}"), &join(all), true));
    }
    m.finish()
}
