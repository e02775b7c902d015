//! Packets from bytes.
//!
//! At most one packet that ends in a cycle started before it: the long one, which the assembler holds. All others
//! are short: they lie within the cycle. Every byte that is stored also fills the rest of the packet with its top bit,
//! so a packet is sign-extended at any time.

use super::boundary;
use super::shape::Shape;
use crate::wires::{all, any, delay, join};
use hartrace_rtl::{Component, Expr, Module, lit};

/// What is known of the packet in a slot: name, width, what it is, and whether it is cleared by reset.
pub(super) fn packet(shape: &Shape) -> Vec<(&'static str, u32, &'static str, bool)> {
    let mut packet = vec![
        ("ended", 1, "packets ended", true),
        ("second", 1, "they ended with the second byte of their pair", false),
        ("bytes", 8 * shape.positions(), "their bytes, by position", false),
    ];
    if shape.stamp_bytes > 0 {
        packet.push(("stamped", 1, "they have a timestamp", false));
    }
    if shape.start >= 8 {
        packet.push(("short", 1, "they are too short to have a payload", false));
    }
    packet
}

/// The bytes of one packet in this cycle: which lane holds which position.
struct Places {
    /// By position: lanes that may be there, and whether they are.
    lanes: Vec<Vec<(u32, Expr)>>,
    /// By position: it is after the newest byte. `None` where that is always or never so.
    fill: Vec<Option<Expr>>,
    /// The top bit of the newest byte.
    sign: Expr,
}

impl Places {
    /// Registers, so that the bytes are moved in the next cycle. With `holds`, positions keep their bytes.
    fn new(m: &Module, name: &str, lanes: &[Vec<(u32, Expr)>], sign: &Expr, holds: bool) -> Self {
        let exact: Vec<Expr> =
            lanes.iter().map(|lanes| any(lanes.iter().map(|(_, is)| is.clone()))).collect();
        let filled: Vec<usize> =
            (1..lanes.len()).filter(|place| holds || !lanes[*place].is_empty()).collect();
        let mut fill = vec![None; lanes.len()];
        if let Some(highest) = filled.last() {
            let exact = m.let_(&format!("{name}_exact"), join(&exact[..=*highest]));
            let after = |place: &usize| {
                let place = *place as u32;
                exact.slice(0, place).any() & !exact.bit(place)
            };
            let after: Vec<Expr> = filled.iter().map(after).collect();
            let after = delay(m, &format!("{name}_fill"), &join(&after), false);
            for (bit, place) in (0u32..).zip(&filled) {
                fill[*place] = Some(after.bit(bit));
            }
        }
        let mut kept: Vec<Vec<(u32, Expr)>> = vec![Vec::new(); lanes.len()];
        let last = lanes.iter().flatten().map(|(lane, _)| *lane).max();
        for lane in 0..=last.unwrap_or(0) {
            let of = |place: usize| {
                let found = lanes[place].iter().find(|(other, _)| *other == lane);
                found.map(|(_, is)| (place, is.clone()))
            };
            let (places, is): (Vec<usize>, Vec<Expr>) = (0..lanes.len()).filter_map(of).unzip();
            if is.is_empty() {
                continue;
            }
            let is = delay(m, &format!("{name}_lane_{lane}"), &join(&is), false);
            for (bit, place) in (0u32..).zip(places) {
                kept[place].push((lane, is.bit(bit)));
            }
        }
        Self { lanes: kept, fill, sign: delay(m, &format!("{name}_sign"), sign, false) }
    }

    /// The byte at a position; what is in none of its lanes and not after the newest byte comes from `held`.
    fn byte(&self, place: u32, bytes: &Expr, held: Option<&Expr>) -> Expr {
        let place = place as usize;
        let lanes = &self.lanes[place];
        if lanes.is_empty() && held.is_none() {
            // No lane reaches that far.
            return self.sign.repeat(8);
        }
        let mut parts: Vec<Expr> =
            lanes.iter().map(|(lane, is)| is.gate(bytes.slice(8 * lane, 8))).collect();
        parts.extend(self.fill[place].iter().map(|fill| (fill & &self.sign).repeat(8)));
        if let Some(held) = held {
            let new = lanes.iter().map(|(_, is)| is.clone()).chain(self.fill[place].clone());
            parts.push((!any(new)).gate(held));
        }
        any(parts)
    }
}

/// The module `etrace_gather`: the packets that end in a cycle, two cycles later.
pub(super) fn unit(shape: &Shape) -> Component {
    let (u, places) = (shape.unroll, shape.positions());
    let m = Module::new(
        "etrace_gather",
        "Gathers the bytes of packets, sign-extended: one packet for every two bytes.",
    )
    .clocked();
    let inputs: Vec<Expr> = boundary::role(shape)
        .into_iter()
        .map(|(name, width, doc, _)| m.input(&format!("{name}_i"), u * width, doc))
        .collect();
    let outputs: Vec<(&str, Expr)> = packet(shape)
        .into_iter()
        .map(|(name, width, doc, _)| {
            (name, m.output(&format!("{name}_o"), shape.slots() * width, doc))
        })
        .collect();
    let [byte, head, last, position] = &inputs[..4] else { unreachable!("four roles at least") };
    let at = |lane: u32, place: u32| position.bit(lane * places + place);
    let top = |lane: u32| byte.bit(8 * lane + 7);
    // No packet starts after `from` and up to `to`.
    let same = |from: u32, to: u32| all((from + 1..=to).map(|lane| !head.bit(lane)));

    m.section("Which byte goes where.");
    let old: Vec<Expr> = (0..u)
        .map(|lane| m.let_(&format!("old_{lane}"), all((0..=lane).map(|other| !head.bit(other)))))
        .collect();
    let lanes: Vec<Vec<(u32, Expr)>> = (0..places)
        .map(|place| (0..u).map(|lane| (lane, &old[lane as usize] & at(lane, place))).collect())
        .collect();
    let mut sign = top(0);
    for lane in 1..u {
        let here = &old[lane as usize] & position.slice(lane * places, places).any();
        sign = here.mux(top(lane), sign);
    }
    let long = Places::new(&m, "long", &lanes, &sign, true);
    // Packets that start in this cycle; `own` says whether a lane is in the packet.
    let short = |name: &str, most: u32, own: &dyn Fn(u32) -> Expr, sign: &Expr| {
        let own: Vec<Expr> = (1..=most)
            .map(|lane| m.let_(&format!("{name}_own_{lane}"), own(lane) & !&old[lane as usize]))
            .collect();
        let lanes: Vec<Vec<(u32, Expr)>> = (0..places)
            .map(|place| {
                (shape.distance(place)..=most)
                    .map(|lane| (lane, &own[lane as usize - 1] & at(lane, place)))
                    .collect()
            })
            .collect();
        Places::new(&m, name, &lanes, sign, false)
    };
    let tail = (u > 1).then(|| {
        let mut sign = top(1);
        for lane in 2..u {
            let here = position.slice(lane * places, places).any();
            sign = here.mux(top(lane), sign);
        }
        short("tail", u - 1, &|lane| same(lane, u - 1), &sign)
    });
    let slots: Vec<Option<Places>> = (0..shape.slots())
        .map(|slot| {
            let ends = shape.lanes(slot);
            if ends.end <= shape.distance(shape.body()) {
                // A packet that ends here cannot start in the same cycle.
                return None;
            }
            let own = |lane: u32| {
                any(ends
                    .clone()
                    .filter(|end| lane <= *end)
                    .map(|end| last.bit(end) & same(lane, end)))
            };
            let sign = any(ends.clone().map(|end| last.bit(end) & top(end)));
            Some(short(&format!("slot_{slot}"), ends.end - 1, &own, &sign))
        })
        .collect();
    let bytes = delay(&m, "bytes", byte, false);
    let of_end = |of: &dyn Fn(u32) -> Expr| {
        (0..shape.slots())
            .map(|slot| any(shape.lanes(slot).map(|end| last.bit(end) & of(end))))
            .collect::<Vec<_>>()
    };
    let is_old = of_end(&|end| old[end as usize].clone());

    m.section("The packet that has not ended yet, and those that end.");
    let word = m.reg_data("word", 8 * places, lit(1, 1));
    let held: Vec<Expr> = (0..places).map(|place| word.q.slice(8 * place, 8)).collect();
    let long: Vec<Expr> =
        (0..places).map(|place| long.byte(place, &bytes, Some(&held[place as usize]))).collect();
    let long = m.let_("long_word", join(&long));
    let whole = |of: &Places| {
        join(&(0..places).map(|place| of.byte(place, &bytes, None)).collect::<Vec<_>>())
    };
    let next = tail.map_or(long.clone(), |tail| {
        delay(&m, "starts", &head.any(), true).mux(whole(&tail), &long)
    });
    m.assign(&word.d, next);
    let words: Vec<Expr> = (0..)
        .zip(&slots)
        .map(|(slot, short)| match short {
            None => long.clone(),
            Some(short) => {
                let old = delay(&m, &format!("slot_{slot}_old"), &is_old[slot], false);
                old.mux(&long, whole(short))
            }
        })
        .collect();
    for ((name, output), (_, _, _, clears)) in outputs.iter().zip(packet(shape)) {
        let early = match *name {
            "ended" => of_end(&|_| lit(1, 1)),
            "second" => of_end(&|end| lit(1, (end % 2).into())),
            "stamped" => of_end(&|end| inputs[4].bit(end)),
            "short" => of_end(&|end| at(end, shape.body())),
            _ => {
                m.assign(output, delay(&m, "packet_bytes", &join(&words), false));
                continue;
            }
        };
        let early = delay(&m, &format!("early_{name}"), &join(&early), clears);
        m.assign(output, delay(&m, &format!("packet_{name}"), &early, clears));
    }
    m.finish()
}
