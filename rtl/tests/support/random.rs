//! Random expressions and random modules.

use fastrand::Rng;
use hartrace_rtl::{Bits, Block, Component, Expr, Index, Module, concat, lit, literal, ones, zero};

/// Inputs of every random module; some of the same width, some wider than any number type.
pub const INPUTS: [(&str, u32); 10] = [
    ("a_i", 1),
    ("b_i", 1),
    ("c_i", 3),
    ("d_i", 8),
    ("e_i", 8),
    ("f_i", 13),
    ("g_i", 32),
    ("h_i", 64),
    ("m_i", 100),
    ("n_i", 192),
];

const WIDTHS: [u32; 12] = [1, 1, 2, 3, 5, 8, 8, 13, 31, 32, 64, 130];

/// Random bits; often all zeros, all ones, few or nearly all.
pub fn bits(rng: &mut Rng, width: u32) -> Bits {
    let bits: Vec<bool> = match rng.u32(0..8) {
        0 => vec![false; width as usize],
        1 => vec![true; width as usize],
        2 => (0..width).map(|_| rng.u32(0..8) == 0).collect(),
        3 => (0..width).map(|_| rng.u32(0..8) != 0).collect(),
        4 => return Bits::new(width, rng.u128(0..16)),
        _ => (0..width).map(|_| rng.bool()).collect(),
    };
    Bits::from_bits(&bits)
}

/// Creates random expressions.
pub struct Maker<'a> {
    pub rng: &'a mut Rng,
    pub signals: Vec<Expr>,
    pub indices: Vec<Index>,
}

impl Maker<'_> {
    fn width(&mut self) -> u32 {
        WIDTHS[self.rng.usize(0..WIDTHS.len())]
    }

    /// A signal, a part of one or a literal.
    fn leaf(&mut self, width: u32) -> Expr {
        if self.rng.u32(0..4) == 0 {
            return literal(bits(self.rng, width));
        }
        if !self.indices.is_empty() && self.rng.u32(0..4) == 0 {
            return self.indexed(width);
        }
        let signal = self.signals[self.rng.usize(0..self.signals.len())].clone();
        let extra = signal.width().abs_diff(width);
        if signal.width() >= width {
            signal.slice(self.rng.u32(0..=extra), width)
        } else if self.rng.bool() {
            signal.zext(width)
        } else {
            signal.sext(width)
        }
    }

    /// An expression that contains the index of a loop, which is less than 8.
    fn indexed(&mut self, width: u32) -> Expr {
        let i = self.indices[self.rng.usize(0..self.indices.len())].clone();
        let wide = self.signals.iter().filter(|s| s.width() >= 7 + width).cloned();
        let wide: Vec<Expr> = wide.collect();
        match self.rng.u32(0..3) {
            0 if width >= 4 => i.plus(self.rng.u32(0..8)).expr(width),
            _ if wide.is_empty() => zero(width),
            _ => {
                let signal = &wide[self.rng.usize(0..wide.len())];
                let factor = ((signal.width() - width) / 7).clamp(1, 3);
                signal.slice(i.times(factor), width)
            }
        }
    }

    /// An expression of that width.
    pub fn expr(&mut self, width: u32, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf(width);
        }
        let depth = depth - 1;
        match self.rng.u32(0..26) {
            0 => self.expr(width, depth) + self.expr(width, depth),
            1 => self.expr(width, depth) - self.expr(width, depth),
            2 => self.expr(width, depth) & self.expr(width, depth),
            3 => self.expr(width, depth) | self.expr(width, depth),
            4 => self.expr(width, depth) ^ self.expr(width, depth),
            5 => !self.expr(width, depth),
            6 => -self.expr(width, depth),
            7 | 8 => {
                let condition = self.expr(1, depth);
                condition.mux(self.expr(width, depth), self.expr(width, depth))
            }
            9 => self.expr(width, depth) << self.amount(depth),
            10 => self.expr(width, depth) >> self.amount(depth),
            11 => self.expr(width, depth).sra(self.amount(depth)),
            12..=14 if width == 1 => self.bit(depth),
            12 | 13 if width > 1 => {
                let low = self.rng.u32(1..width);
                concat(&[&self.expr(width - low, depth), &self.expr(low, depth)])
            }
            14 if width > 1 => {
                let inner = self.rng.u32(1..width);
                self.expr(inner, depth).zext(width)
            }
            15 if width > 1 => {
                let inner = self.rng.u32(1..width);
                self.expr(inner, depth).sext(width)
            }
            16 => {
                let (lo, extra) = (self.rng.u32(0..20), self.rng.u32(0..20));
                self.expr(lo + width + extra, depth).slice(lo, width)
            }
            17 => {
                let extra = self.rng.u32(0..40);
                self.expr(width + extra, depth).trunc(width)
            }
            18 | 19 => {
                let n = self.rng.u32(1..9);
                let i = self.small(depth);
                self.expr(n * width, depth).index(i, width)
            }
            20 => {
                let n = (1..=width).filter(|n| width.is_multiple_of(*n)).nth(1).unwrap_or(1);
                self.expr(width / n, depth).repeat(n)
            }
            21 => {
                let bit = self.expr(1, depth);
                bit.gate(self.expr(width, depth))
            }
            _ => self.leaf(width),
        }
    }

    fn amount(&mut self, depth: u32) -> Expr {
        let width = if self.rng.u32(0..8) == 0 { 32 } else { self.rng.u32(1..9) };
        self.expr(width, depth)
    }

    fn small(&mut self, depth: u32) -> Expr {
        let width = self.rng.u32(1..5);
        self.expr(width, depth)
    }

    fn bit(&mut self, depth: u32) -> Expr {
        let width = self.width();
        let a = self.expr(width, depth);
        let choice = self.rng.u32(0..12);
        if choice > 6 {
            return match choice {
                7 => a.any(),
                8 => a.all(),
                9 => a.parity(),
                10 => a.bit_at(self.small(depth)),
                _ => a.msb(),
            };
        }
        let b = self.expr(width, depth);
        match choice {
            0 => a.eq(b),
            1 => a.ne(b),
            2 => a.lt(b),
            3 => a.le(b),
            4 => a.gt(b),
            5 => a.ge(b),
            _ => a.slt(b),
        }
    }

    /// Statements on signals that already have a value and may be read.
    pub fn statements(&mut self, b: &mut Block, targets: &[Expr], depth: u32) {
        for _ in 0..self.rng.u32(1..4) {
            let target = &targets[self.rng.usize(0..targets.len())];
            match self.rng.u32(0..10) {
                0 | 1 if depth > 0 => {
                    let (first, second) = (self.expr(1, 2), self.expr(1, 2));
                    let chain = b.when(first, |b| self.statements(b, targets, depth - 1));
                    let chain = chain.elsif(second, |b| self.statements(b, targets, depth - 1));
                    chain.otherwise(|b| self.statements(b, targets, depth - 1));
                }
                2 if depth > 0 => {
                    let subject = self.expr(3, 2);
                    b.switch(subject, |s| {
                        s.case(Bits::new(3, 5), |b| self.statements(b, targets, depth - 1));
                        s.cases(&[&zero(3), &ones(3)], |b| self.statements(b, targets, depth - 1));
                        s.default(|b| self.statements(b, targets, depth - 1));
                    });
                }
                3 | 4 if depth > 0 => {
                    let to = self.rng.u32(1..5);
                    b.each(0..to, |b, i| {
                        self.indices.push(i.clone());
                        self.statements(b, targets, depth - 1);
                        if target.width() >= 8 {
                            let value = self.expr(1, 2);
                            b.set(&target.bit(i), value);
                        }
                        self.indices.pop();
                    });
                }
                5 => {
                    let width = self.rng.u32(1..=target.width());
                    let lo = self.rng.u32(0..=target.width() - width);
                    let value = self.expr(width, 2);
                    b.set_slice(target, lo, value);
                }
                6 => {
                    let n = (2..=target.width()).find(|n| target.width().is_multiple_of(*n));
                    let (i, value) = (self.small(2), self.expr(target.width() / n.unwrap_or(1), 2));
                    if i.value().is_none() {
                        b.set_at(target, i, value);
                    }
                }
                _ => {
                    let value = self.expr(target.width(), 3);
                    b.set(target, value);
                }
            }
        }
    }
}

fn inputs(m: &Module) -> Vec<Expr> {
    let inputs: Vec<Expr> = INPUTS.iter().map(|(name, width)| m.input(name, *width, "")).collect();
    inputs.iter().for_each(|input| m.unused(input));
    inputs
}

/// Expressions that others, or earlier versions of this crate, got wrong in some tool.
pub fn pitfalls() -> Component {
    let m = Module::new("pitfalls", "");
    let signals = inputs(&m);
    let [_, b, c, d, e, f, g, ..] = &signals[..] else { unreachable!() };
    let mut n = 0;
    let mut out = |value: Expr| {
        m.assign(&m.output(&format!("y{n}_o"), value.width(), ""), value);
        n += 1;
    };
    // Precedence, carries and widths in other emitters.
    out((d & e).eq(f.trunc(8)));
    out((d + lit(8, 1)).eq(e));
    out((d + e).zext(9));
    out((!d).zext(16));
    out(((d - e) >> lit(2, 2)).zext(16));
    out((d - e - lit(8, 1)).lt(f.trunc(8)));
    // A truncating cast, next to another operand in a concatenation.
    out((d.trunc(2) - (f.trunc(5).repeat(5) + g.trunc(25)).slice(3, 2)).zext(3));
    // Operators before a cast, and before each other.
    out(!(d & e).zext(12).trunc(10));
    out(-!d);
    out(!-b);
    // Signed only where intended.
    out(d.sra(c) + e);
    out((d + e).sext(16).lt((d - e).sext(16)));
    out(d.sext(16).slt(e.zext(16)));
    // Amounts that shift everything out, and positions past the end.
    out(d << g);
    out(d.bit_at(f));
    out(f.slice(0, 12).index(c, 4));
    m.finish()
}

/// A module of expressions.
pub fn expressions(rng: &mut Rng, name: &str, n: u32) -> Component {
    let m = Module::new(name, "");
    let signals = inputs(&m);
    let mut maker = Maker { rng, signals, indices: Vec::new() };
    for k in 0..n {
        let width = maker.width();
        let depth = 1 + maker.rng.u32(0..4);
        let output = m.output(&format!("y{k}_o"), width, "");
        m.assign(&output, maker.expr(width, depth));
    }
    m.finish()
}

/// A module of statements, registers and a memory.
pub fn statements(rng: &mut Rng, name: &str) -> Component {
    let m = Module::new(name, "").clocked();
    let mut signals = inputs(&m);
    let enable = signals[0].clone();
    let registers = [
        m.reg("first", literal(bits(rng, 8))),
        m.reg("second", literal(bits(rng, 16))),
        m.reg_en("third", literal(bits(rng, 40)), &enable),
    ];
    let memory = m.memory("words", 9, 8);
    let read = m.read(&memory, "word", &signals[2]);
    let late = m.read_clocked(&memory, "late", &signals[1], &signals[2]);
    m.write(&memory, &signals[0], signals[3].trunc(3), signals[5].trunc(9));
    signals.extend(registers.iter().map(|register| register.q.clone()));
    signals.extend([read, late]);
    for signal in &signals[INPUTS.len()..] {
        m.unused(signal);
    }
    let outputs = [m.output("y0_o", 1, ""), m.output("y1_o", 9, ""), m.output("y2_o", 66, "")];
    let mut maker = Maker { rng, signals, indices: Vec::new() };
    m.comb(|b| {
        for output in &outputs {
            b.set(output, maker.expr(output.width(), 3));
        }
        let mut targets = outputs.to_vec();
        targets.extend(registers.iter().map(|register| register.d.clone()));
        maker.signals.extend(targets.iter().cloned());
        maker.statements(b, &targets, 3);
        // Every next value is driven, even if chance has not chosen it.
        for register in &registers {
            b.set_at(&register.d, maker.signals[2].clone(), maker.signals[0].clone());
        }
    });
    m.finish()
}
