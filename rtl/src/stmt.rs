//! Statements of a combinational block.

use crate::Expr;
use crate::index::{Index, Variable};
use crate::signal::ModuleId;
use crate::target::{Target, check_owner};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Set(Target, Expr),
    /// Conditions in order, and the statements if none holds.
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    Switch(Expr, Vec<(Vec<Expr>, Vec<Stmt>)>, Vec<Stmt>),
    For(Rc<Variable>, Vec<Stmt>),
    Note(String),
}

/// Names of loop variables, starting with the outermost.
pub(crate) const LOOP_VARIABLES: [&str; 4] = ["i", "j", "k", "l"];

/// The statements of a combinational block, in order: later assignments win, and reading a signal
/// of this block gives the value assigned last.
#[derive(Debug)]
pub struct Block {
    pub(crate) stmts: Vec<Stmt>,
    depth: usize,
    module: ModuleId,
}

impl Block {
    pub(crate) fn new(module: ModuleId) -> Self {
        Self { stmts: Vec::new(), depth: 0, module }
    }

    fn inner(&self, depth: usize, body: impl FnOnce(&mut Block)) -> Vec<Stmt> {
        let mut block = Block { stmts: Vec::new(), depth, module: self.module };
        body(&mut block);
        block.stmts
    }

    /// Assigns to a signal, or to a part of one: `x.slice(4, 2)`, `x.bit(i)`, `x.index(&n, 8)`.
    /// Values assigned past the end of a vector are lost.
    ///
    /// # Panics
    ///
    /// If widths differ or the target cannot be driven.
    #[track_caller]
    pub fn set(&mut self, target: &Expr, value: impl Into<Expr>) {
        let value = value.into();
        let target = Target::new(target, self.module);
        check_owner(&value, self.module);
        check_widths(&target, &value);
        self.stmts.push(Stmt::Set(target, value));
    }

    /// Assigns to as many bits of `target` as `value` has, starting at bit `lo`.
    ///
    /// # Panics
    ///
    /// As [`Block::set`], and if `target` does not have that many bits.
    #[track_caller]
    pub fn set_slice(&mut self, target: &Expr, lo: impl Into<Index>, value: impl Into<Expr>) {
        let value = value.into();
        self.set(&target.slice(lo, value.width()), value);
    }

    /// Assigns to element `i` of `target`; elements are as wide as `value`.
    ///
    /// # Panics
    ///
    /// As [`Block::set`], and if `target` does not consist of a whole number of elements, or a
    /// constant `i` is past the end.
    #[track_caller]
    pub fn set_at(&mut self, target: &Expr, i: impl Into<Expr>, value: impl Into<Expr>) {
        let (i, value) = (i.into(), value.into());
        let n = target.width() / value.width();
        if let Some(bits) = i.value() {
            let within = bits.to_u128().is_some_and(|i| i < n.into());
            assert!(within, "element {bits:?} of a vector of {n} elements");
        }
        self.set(&target.index(i, value.width()), value);
    }

    /// Adds statements that are executed if `condition` holds; continue with [`When::elsif`] and
    /// [`When::otherwise`].
    ///
    /// # Panics
    ///
    /// If `condition` is wider than one bit.
    #[track_caller]
    pub fn when(&mut self, condition: impl Into<Expr>, body: impl FnOnce(&mut Block)) -> When<'_> {
        let condition = condition.into();
        condition.is_bit("condition of when");
        check_owner(&condition, self.module);
        let body = self.inner(self.depth, body);
        self.stmts.push(Stmt::If(vec![(condition, body)], Vec::new()));
        When { block: self }
    }

    /// Chooses between statements by value: `s.case(&value, …)`, `s.default(…)`.
    ///
    /// # Panics
    ///
    /// If a value occurs twice, is not constant, or differs in width from `subject`.
    #[track_caller]
    pub fn switch(&mut self, subject: impl Into<Expr>, cases: impl FnOnce(&mut Switch<'_>)) {
        let subject = subject.into();
        check_owner(&subject, self.module);
        let mut switch = Switch { block: self, subject, cases: Vec::new(), default: None };
        cases(&mut switch);
        let Switch { subject, cases, default, .. } = switch;
        assert!(!cases.is_empty(), "a switch without cases");
        self.stmts.push(Stmt::Switch(subject, cases, default.unwrap_or_default()));
    }

    /// Adds a loop over `range` that is emitted as a loop. The body gets the index.
    ///
    /// # Panics
    ///
    /// If the range is empty or loops are nested too deeply.
    #[track_caller]
    pub fn each(&mut self, range: std::ops::Range<u32>, body: impl FnOnce(&mut Block, &Index)) {
        assert!(!range.is_empty(), "a loop over nothing: {range:?}");
        let Some(name) = LOOP_VARIABLES.get(self.depth) else {
            panic!("more than {} nested loops", LOOP_VARIABLES.len());
        };
        let variable =
            Rc::new(Variable { name: (*name).to_owned(), from: range.start, to: range.end });
        let index = Index::of(&variable);
        let body = self.inner(self.depth + 1, |b| body(b, &index));
        self.stmts.push(Stmt::For(variable, body));
    }

    /// Adds a comment.
    pub fn note(&mut self, text: &str) {
        self.stmts.push(Stmt::Note(text.to_owned()));
    }
}

#[track_caller]
pub(crate) fn check_widths(target: &Target, value: &Expr) {
    let (name, left, right) = (&target.signal.name, target.width, value.width());
    assert!(left == right, "{name}: assignment widths differ, left {left}, right {right}");
}

/// Continuation of a [`Block::when`].
#[derive(Debug)]
pub struct When<'a> {
    block: &'a mut Block,
}

impl When<'_> {
    /// Adds statements that are executed if this condition holds, and none before it.
    ///
    /// # Panics
    ///
    /// If `condition` is wider than one bit.
    #[track_caller]
    pub fn elsif(self, condition: impl Into<Expr>, body: impl FnOnce(&mut Block)) -> Self {
        let condition = condition.into();
        condition.is_bit("condition of elsif");
        check_owner(&condition, self.block.module);
        let body = self.block.inner(self.block.depth, body);
        if let Some(Stmt::If(branches, _)) = self.block.stmts.last_mut() {
            branches.push((condition, body));
        }
        self
    }

    /// Adds statements that are executed if no condition holds.
    pub fn otherwise(self, body: impl FnOnce(&mut Block)) {
        let body = self.block.inner(self.block.depth, body);
        if let Some(Stmt::If(_, otherwise)) = self.block.stmts.last_mut() {
            *otherwise = body;
        }
    }
}

/// The cases of a [`Block::switch`].
#[derive(Debug)]
pub struct Switch<'a> {
    block: &'a Block,
    subject: Expr,
    cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
    default: Option<Vec<Stmt>>,
}

impl Switch<'_> {
    /// Adds statements for one value, a literal or a named constant.
    ///
    /// # Panics
    ///
    /// If the value is not constant, differs in width from the subject, or occurred before.
    #[track_caller]
    pub fn case(&mut self, value: impl Into<Expr>, body: impl FnOnce(&mut Block)) {
        self.cases(&[&value.into()], body);
    }

    /// Adds statements for several values.
    ///
    /// # Panics
    ///
    /// As [`Switch::case`], and if there are none.
    #[track_caller]
    pub fn cases(&mut self, values: &[&Expr], body: impl FnOnce(&mut Block)) {
        assert!(!values.is_empty(), "a case without values");
        let mut labels: Vec<Expr> = Vec::new();
        for value in values {
            let width = self.subject.width();
            assert!(value.width() == width, "case of {} bits, switch of {width}", value.width());
            check_owner(value, self.block.module);
            let Some(bits) = value.value() else { panic!("the value of a case is not constant") };
            let before = self.cases.iter().flat_map(|(labels, _)| labels).chain(&labels);
            let twice = before.filter_map(Expr::value).any(|other| other == bits);
            assert!(!twice, "case {bits:?} occurs twice");
            labels.push((*value).clone());
        }
        let body = self.block.inner(self.block.depth, body);
        self.cases.push((labels, body));
    }

    /// Adds statements for all other values.
    ///
    /// # Panics
    ///
    /// If there was a default before.
    #[track_caller]
    pub fn default(&mut self, body: impl FnOnce(&mut Block)) {
        assert!(self.default.is_none(), "two defaults in a switch");
        self.default = Some(self.block.inner(self.block.depth, body));
    }
}
