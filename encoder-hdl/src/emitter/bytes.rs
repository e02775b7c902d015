//! Compression by bytes, as in rv_tracer (R1): an address uses as many bytes as it needs, and one
//! bit more; the fields after it in the format follow directly.

use super::length::{self, Length};
use super::place::{Case, Moving, Places};
use super::{Front, Made};
use hartrace_etrace::Format;
use hartrace_rtl::{Expr, concat, lit, zero};

pub(super) fn build(front: &Front<'_>, width: u32) -> Made {
    let Front { m, layout, second, .. } = front;
    let flag = |flag: &Option<Expr>| flag.clone().unwrap_or_else(|| zero(1));
    let signed = flag(&second.signed);
    let sign = m.let_("sign", &signed & second.address.msb());
    let address = m.let_("extended", concat(&[&sign, &second.address]));
    // The fields after the address: flags, or tval.
    let mut rest = front.rest();
    let moving = Moving { address: &second.address, tval: &second.tval, top: second.top.as_ref() };
    let places = Places::new(m, layout, &front.kinds, &rest, moving, &front.options);
    let report = signed.gate(places.tail(Format::Address));
    let tval = flag(&second.trapped).gate(places.tail(Format::Trap));
    let longest = places.address_bits() / 8;
    let tail_width = report.width().max(tval.width());
    let tail = report.zext(tail_width) | tval.zext(tail_width);
    // One more byte is needed for each that does not consist of copies of the sign.
    let changes = (1..longest).map(|k| {
        let bits = if k + 1 < longest { 8 } else { 9 };
        let change = address.slice(8 * k - 1, bits) ^ address.slice(8 * k, bits);
        m.let_(&format!("address_change_{k}"), change.any())
    });
    let chunks = Length::of_changes(m, "address", changes.collect());

    m.section("Third stage: how many bytes the address has.");
    if !front.config.caches() {
        (rest.target, rest.irreport, rest.irdepth) = (None, None, None);
    }
    let third = rest.map(|name, value| front.hold(&format!("third_{name}"), value));
    let address = front.hold("third_address", address);
    let tail = front.hold("third_tail", tail);
    // Bytes after the first, as a number and one by one.
    let more = front.hold("more", chunks.number(0).trunc(longest.ilog2()));
    let longer: Vec<Expr> = (2..=longest)
        .map(|k| front.hold(&format!("longer_{k}"), chunks.at_least(k as usize)))
        .collect();
    let kinds: Vec<Case> = front
        .kinds
        .iter()
        .cloned()
        .map(|kind| kind.held(m, "third_is", &front.pipe.load[2]))
        .collect();

    let mut shifted = tail.clone();
    for bit in 0..more.width() {
        let by = 8 << bit;
        let wider = shifted.zext(shifted.width() + by);
        let moved = concat(&[&shifted, &zero(by)]);
        shifted = m.let_(&format!("tail_{by}"), more.bit(bit).mux(moved, wider));
    }
    let mut parts = vec![address.slice(0, 9)];
    for (k, longer) in (1..).zip(&longer) {
        parts.push(longer.gate(address.slice(8 * k + 1, 8)));
    }
    let kept = concat(&parts.iter().rev().collect::<Vec<_>>());
    let word = concat(&[&shifted, &zero(9)]);
    let kept = kept.zext(word.width());
    let word = m.let_("chunked", word | kept);
    let moving = Moving { address: &address, tval: &tail, top: None };
    let places = Places::new(m, layout, &kinds, &third, moving, &front.options).chunked(&word);
    let plain = m.let_("plain", places.plain(width));
    let least = any(kinds.iter().map(|kind| {
        let bytes = lit(length::WIDTH, places.bytes(kind).into());
        kind.when().gate(bytes)
    }));
    let addressed = kinds.iter().filter(|kind| places.has_address(kind));
    let addressed = any(addressed.map(|kind| kind.when().clone()));
    let len = m.let_("plain_len", least + addressed.gate(more).zext(length::WIDTH));
    let Some(target) = third.target.clone().filter(|_| front.config.caches()) else {
        return Made { data: plain, len, index: None };
    };
    let hit = front.hit();
    let brief_width = layout.max_format_bits(Format::JumpTarget).div_ceil(8) * 8;
    let brief = places.index(brief_width).zext(width);
    // Both have the same map, so only the bytes of the address matter.
    let fits = any(places.indexable().filter_map(|(kind, index)| {
        let missing = places.bytes(&index).saturating_sub(places.bytes(kind));
        match missing.checked_sub(1) {
            None => Some(kind.when().clone()),
            Some(at) => longer.get(at as usize).map(|longer| kind.when() & longer),
        }
    }));
    let brief_len = any(places.indexable().map(|(kind, index)| {
        let bytes = lit(length::WIDTH, places.bytes(&index).into());
        kind.when().gate(bytes)
    }));
    let indexed = m.let_("indexed", hit & fits);
    Made {
        data: indexed.mux(brief, plain),
        len: indexed.mux(brief_len, len),
        index: Some((target, indexed)),
    }
}

/// # Panics
///
/// If there is no case.
fn any(cases: impl Iterator<Item = Expr>) -> Expr {
    match cases.reduce(|all, case| all | case) {
        Some(all) => all,
        None => panic!("no payload has an address"),
    }
}
