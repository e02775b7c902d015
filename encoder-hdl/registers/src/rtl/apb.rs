//! The bus, and which register is meant.

use crate::table::Table;
use hartrace_rtl::{Expr, Module, zero};

/// The port, without what it is told.
pub(super) struct Apb {
    /// Set in the cycle before an access, when what is read is taken.
    pub(super) setup: Expr,
    /// A whole word is written in this cycle.
    pub(super) write: Expr,
    pub(super) data: Expr,
    pub(super) prdata: Expr,
    word: Expr,
}

impl Apb {
    pub(super) fn new(m: &Module) -> Self {
        let psel = m.input("psel_i", 1, "");
        let penable = m.input("penable_i", 1, "");
        let pwrite = m.input("pwrite_i", 1, "");
        let paddr = m.input("paddr_i", 12, "");
        let data = m.input("pwdata_i", 32, "");
        let pstrb = m.input("pstrb_i", 4, "registers are written as a whole");
        let pready = m.output("pready_o", 1, "");
        let prdata = m.output("prdata_o", 32, "");
        let pslverr = m.output("pslverr_o", 1, "not aligned, or not a whole word written");
        m.assign(&pready, true);
        let access = m.let_("access", &psel & &penable);
        let wrong = m.let_("wrong", paddr.trunc(2).any() | (&pwrite & !pstrb.all()));
        m.assign(&pslverr, &access & &wrong);
        let write = m.let_("write", &access & &pwrite & !&wrong);
        Self { setup: &psel & !&penable, write, data, prdata, word: paddr.slice(2, 10) }
    }
}

/// Which register is meant.
///
/// A tree over those bits of the address that tell registers apart. The others are looked at once, for
/// all registers: comparing the whole address with every offset costs more, and so does a multiplexer
/// that has to make zeros of everything in between.
pub(super) struct Decoder {
    word: Expr,
    /// There is a register.
    pub(super) mapped: Expr,
    tree: Tree,
}

enum Tree {
    /// A register, by number in the table.
    Leaf(usize),
    /// A bit of the address of a word, and what follows if it is 0 and if it is 1.
    Node(u32, Box<[Tree; 2]>),
}

impl Decoder {
    pub(super) fn new(m: &Module, apb: &Apb, table: &Table) -> Self {
        let words: Vec<(u32, usize)> =
            table.registers.iter().enumerate().map(|(i, r)| (r.offset / 4, i)).collect();
        let mapped = m.wire("mapped", 1);
        let labels: Vec<Expr> =
            words.iter().map(|(word, _)| hartrace_rtl::lit(10, (*word).into())).collect();
        m.comb(|b| {
            b.set(&mapped, false);
            b.switch(&apb.word, |s| {
                s.cases(&labels.iter().collect::<Vec<_>>(), |b| b.set(&mapped, true));
            });
        });
        Self { word: apb.word.clone(), mapped, tree: tree(&words) }
    }

    /// The value of the register that is meant; any of them if there is none.
    pub(super) fn choose(&self, m: &Module, values: &[Expr]) -> Expr {
        fn choose(m: &Module, word: &Expr, tree: &Tree, values: &[Expr], name: &str) -> Expr {
            match tree {
                Tree::Leaf(i) => values.get(*i).cloned().unwrap_or_else(|| zero(32)),
                Tree::Node(bit, parts) => {
                    let [low, high] = &**parts;
                    let [low, high] = [(low, 0), (high, 1)].map(|(part, digit)| {
                        choose(m, word, part, values, &format!("{name}{digit}"))
                    });
                    m.let_(name, word.bit(*bit).mux(high, low))
                }
            }
        }
        choose(m, &self.word, &self.tree, values, "word_")
    }

    /// Whether a register is meant, if one is.
    pub(super) fn is(&self, register: usize) -> Expr {
        let mut path = self.mapped.clone();
        let mut tree = &self.tree;
        while let Tree::Node(bit, parts) = tree {
            let high = parts[1].has(register);
            let bit = self.word.bit(*bit);
            path = path & if high { bit } else { !bit };
            tree = &parts[usize::from(high)];
        }
        path
    }
}

impl Tree {
    fn has(&self, register: usize) -> bool {
        match self {
            Tree::Leaf(i) => *i == register,
            Tree::Node(_, parts) => parts.iter().any(|part| part.has(register)),
        }
    }
}

/// From the highest bit in which the words differ.
fn tree(words: &[(u32, usize)]) -> Tree {
    let first = words.first().map_or(0, |word| word.0);
    let differs = words.iter().fold(0, |bits, (word, _)| bits | word ^ first);
    let Some(bit) = differs.checked_ilog2() else {
        return Tree::Leaf(words.first().map_or(0, |word| word.1));
    };
    let (high, low): (Vec<_>, Vec<_>) = words.iter().partition(|(word, _)| word >> bit & 1 == 1);
    Tree::Node(bit, Box::new([tree(&low), tree(&high)]))
}
