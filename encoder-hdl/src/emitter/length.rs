//! Number of bytes of a payload that are sent.

use hartrace_rtl::{Expr, Module, concat, lit, zero};

/// Width of a length.
pub(crate) const WIDTH: u32 = 5;

/// Number of bytes of a payload that remain when all but one of the identical bits at the top are
/// dropped.
pub(crate) struct Length {
    /// Whether a bit of byte 1, 2, and so on differs from the bit below it.
    changes: Vec<Expr>,
    /// Whether at least 2, 3, and so on bytes are needed.
    needs: Vec<Expr>,
}

impl Length {
    pub(crate) fn of_payload(m: &Module, name: &str, bits: &Expr) -> Self {
        let bytes = bits.width() / 8;
        let changes: Vec<Expr> = (1..bytes)
            .map(|k| {
                let change = (bits.slice(8 * k - 1, 8) ^ bits.slice(8 * k, 8)).any();
                m.let_(&format!("{name}_change_{k}"), change)
            })
            .collect();
        Self::of_changes(m, name, changes)
    }

    pub(crate) fn of_changes(m: &Module, name: &str, changes: Vec<Expr>) -> Self {
        // In groups, so that no chain of gates passes through all bytes.
        let groups: Vec<&[Expr]> = changes.chunks(4).collect();
        let above: Vec<Expr> = (1..)
            .zip(&groups[1..])
            .map(|(g, group)| m.let_(&format!("{name}_some_{g}"), any(group.iter())))
            .collect();
        let mut needs = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            for k in 0..group.len() {
                // All of a group is what stands above the group before it.
                let need = match k {
                    0 if g > 0 => any(above[g - 1..].iter()),
                    _ => any(group[k..].iter().chain(&above[g..])),
                };
                needs.push(m.let_(&format!("{name}_needs_{}", 4 * g + k + 2), need));
            }
        }
        Self { changes, needs }
    }

    /// Whether at least this many bytes are needed.
    pub(crate) fn at_least(&self, bytes: usize) -> Expr {
        match bytes {
            0 | 1 => lit(1, 1),
            _ => self.needs.get(bytes - 2).cloned().unwrap_or_else(|| zero(1)),
        }
    }

    /// The number, if the first byte counts as `first`.
    pub(crate) fn number(&self, first: usize) -> Expr {
        let longest = self.needs.len() + first;
        let at_least = |number: usize| self.at_least(number + 1 - first);
        let bit = |b: u32| {
            // A bit is set from odd multiples of its weight up to the next even one.
            let weight = 1 << b;
            let odd = (weight..=longest).step_by(2 * weight);
            let runs = odd.map(|from| match from + weight > longest {
                true => at_least(from),
                false => at_least(from) & !at_least(from + weight),
            });
            runs.reduce(|all, run| all | run).unwrap_or_else(|| zero(1))
        };
        let bits: Vec<Expr> = (0..WIDTH).rev().map(bit).collect();
        concat(&bits.iter().collect::<Vec<_>>())
    }

    /// Whether it is more than the other.
    pub(crate) fn exceeds(&self, other: &Self) -> Expr {
        let longer = (2..).zip(&self.changes).map(|(k, change)| change & !other.at_least(k));
        longer.reduce(|all, this| all | this).unwrap_or_else(|| zero(1))
    }
}

fn any<'e>(bits: impl Iterator<Item = &'e Expr>) -> Expr {
    bits.cloned().reduce(|all, bit| all | bit).unwrap_or_else(|| zero(1))
}
