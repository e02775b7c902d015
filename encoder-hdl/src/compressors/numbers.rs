//! Numbers of variable width.

use super::bits::high_width;
use crate::ingress::any;
use hartrace_rtl::{Expr, Module, lit};

/// The available widths: `size`, `size + step`, `size + 2 * step` and so on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Widths {
    /// The smallest width.
    pub size: u32,
    /// The difference between one width and the next.
    pub step: u32,
}

/// A field of a record: its bits, the last one lowest, and the number of the first one.
pub(crate) struct Field {
    pub(crate) data: Expr,
    pub(crate) high: Expr,
}

impl Field {
    /// One of two fields.
    pub(crate) fn select(condition: &Expr, yes: &Self, no: &Self) -> Self {
        Self { data: condition.mux(&yes.data, &no.data), high: condition.mux(&yes.high, &no.high) }
    }

    fn named(m: &Module, name: &str, data: Expr, high: Expr) -> Self {
        let data = m.let_(&format!("{name}_data"), data);
        Self { data, high: m.let_(&format!("{name}_high"), high) }
    }

    /// A field that always has all bits of `data`.
    pub(crate) fn fixed(data: Expr, bits: u32) -> Self {
        let high = lit(high_width(bits), (data.width() - 1).into());
        Self { data: data.zext(bits), high }
    }
}

impl Widths {
    pub(crate) fn is_good(&self) -> bool {
        (1..=32).contains(&self.size) && (1..=32).contains(&self.step)
    }

    /// The number of widths that are too small for numbers of so many bits.
    fn smaller(&self, bits: u32) -> u32 {
        bits.saturating_sub(self.size).div_ceil(self.step)
    }

    fn width(&self, class: u32) -> u32 {
        self.size + class * self.step
    }

    /// Bits of the longest field for numbers of so many bits.
    pub(crate) fn number_bits(&self, bits: u32) -> u32 {
        let classes = self.smaller(bits);
        classes + 1 + self.width(classes)
    }

    /// Bits of the longest field for addresses.
    pub(crate) fn target_bits(&self, xlen: u32) -> u32 {
        let whole = self.smaller(xlen);
        let near = whole.checked_sub(1).map_or(0, |class| class + 2 + self.width(class));
        near.max(whole + 1 + xlen)
    }

    /// A number in the smallest width that holds it, after a one for each smaller width and a zero; `bits` is the width
    /// of the field.
    pub(crate) fn number(&self, m: &Module, name: &str, value: &Expr, bits: u32) -> Field {
        let classes = self.smaller(value.width());
        let chosen = self.classes(m, name, (value, &lit(1, 0)), classes);
        let forms = (0..=classes).map(|class| {
            let below = self.width(class) + 1;
            (ones_above(class, below), class + below - 1)
        });
        let forms: Vec<(u128, u32)> = forms.collect();
        let (header, high) = choose(&chosen, &forms, bits);
        Field::named(m, name, header | value.zext(bits), high)
    }

    /// An address as a distance with a sign; or unchanged in the class that is as wide as an address, if `all` or if the
    /// distance fits no other.
    pub(crate) fn target(
        &self,
        m: &Module,
        (target, distance, negative): (&Expr, &Expr, &Expr),
        all: &Expr,
        bits: u32,
    ) -> Field {
        let xlen = target.width();
        let whole = self.smaller(xlen);
        let chosen = self.classes(m, "target", (distance, all), whole);
        let forms = (0..=whole).map(|class| {
            let below = if class == whole { xlen } else { self.width(class) + 1 } + 1;
            (ones_above(class, below), class + below - 1)
        });
        let forms: Vec<(u128, u32)> = forms.collect();
        let (header, high) = choose(&chosen, &forms, bits);
        let far = m.let_("target_far", &chosen[whole as usize]);
        let signs = chosen.iter().zip(0..whole).map(|(is, class)| {
            (is & negative).zext(bits) << lit(high_width(bits), self.width(class).into())
        });
        let signs = signs.reduce(|a, b| a | b);
        let value = far.mux(target, distance).zext(bits);
        let data = header | value;
        let data = signs.map_or_else(|| data.clone(), |signs| &data | signs);
        Field::named(m, "target", data, high)
    }

    /// Which class is the smallest that holds a number; if `all`, the widest.
    fn classes(
        &self,
        m: &Module,
        name: &str,
        (value, all): (&Expr, &Expr),
        classes: u32,
    ) -> Vec<Expr> {
        let over = |class: u32| {
            let from = self.width(class);
            match value.width().checked_sub(from) {
                Some(above @ 1..) => value.slice(from, above).any() | all,
                _ => all.clone(),
            }
        };
        let over: Vec<Expr> = (0..classes)
            .map(|class| m.let_(&format!("{name}_over_{class}"), over(class)))
            .collect();
        let is = |class: u32| {
            let fits = over.get(class as usize).map_or_else(|| lit(1, 1), |over| !over);
            let above = class.checked_sub(1).and_then(|below| over.get(below as usize));
            above.map_or_else(|| fits.clone(), |above| above & &fits)
        };
        (0..=classes).map(is).collect()
    }
}

/// So many ones above this bit.
fn ones_above(ones: u32, bit: u32) -> u128 {
    ((1 << ones) - 1) << bit
}

/// The header of the form that is chosen, and the number of its first bit.
fn choose(chosen: &[Expr], forms: &[(u128, u32)], bits: u32) -> (Expr, Expr) {
    let all = || chosen.iter().zip(forms);
    let header = all().map(|(is, (header, _))| is.gate(lit(bits, *header)));
    let high = all().map(|(is, (_, high))| is.gate(lit(high_width(bits), (*high).into())));
    (any_of(header), any_of(high))
}

fn any_of(values: impl Iterator<Item = Expr>) -> Expr {
    any(values.collect::<Vec<_>>().iter())
}
