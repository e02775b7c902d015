//! Instances of finished modules.

use crate::component::{Component, Direction, Instance, Item};
use crate::target::{Target, check_owner};
use crate::{Expr, Module};
use std::ops::Index;

/// The outputs of an instance, by the name of the port: `outputs["valid_o"]`.
#[derive(Clone, Debug)]
pub struct Outputs {
    instance: String,
    outputs: Vec<(String, Expr)>,
}

impl Outputs {
    /// The output of this name, if there is one.
    #[must_use]
    pub fn get(&self, port: &str) -> Option<&Expr> {
        self.outputs.iter().find(|(name, _)| name == port).map(|(_, expr)| expr)
    }

    /// The only output.
    ///
    /// # Panics
    ///
    /// If there are others, or none.
    #[must_use]
    #[track_caller]
    pub fn only(&self) -> &Expr {
        match &self.outputs[..] {
            [(_, expr)] => expr,
            others => panic!("{} has {} outputs, not one", self.instance, others.len()),
        }
    }
}

impl Index<&str> for Outputs {
    type Output = Expr;

    /// # Panics
    ///
    /// If there is no such output.
    #[track_caller]
    fn index(&self, port: &str) -> &Expr {
        match self.get(port) {
            Some(expr) => expr,
            None => panic!("{} has no output {port}", self.instance),
        }
    }
}

impl Module {
    /// Adds an instance. Every input is connected by name; clock and reset are connected
    /// automatically. An output may be connected to a signal of this module; otherwise it becomes a
    /// new signal.
    ///
    /// # Panics
    ///
    /// If a port does not exist, an input is missing or widths differ.
    #[track_caller]
    pub fn inst(&self, name: &str, of: &Component, connections: &[(&str, &Expr)]) -> Outputs {
        for (i, (port, _)) in connections.iter().enumerate() {
            let known = of.ports().iter().any(|p| p.name == *port);
            assert!(known, "{} has no port {port}", of.name());
            let twice = connections[..i].iter().any(|(other, _)| other == port);
            assert!(!twice, "{name}: port {port} is connected twice");
        }
        self.claim(name);
        let (mut inputs, mut outputs, mut exprs) = (Vec::new(), Vec::new(), Vec::new());
        for port in of.ports() {
            let given = connections.iter().find(|(p, _)| *p == port.name).map(|(_, e)| *e);
            let width = given.map_or(port.width, Expr::width);
            assert!(
                width == port.width,
                "{name}: port {} has {} bits, {width} given",
                port.name,
                port.width
            );
            match (port.direction, given) {
                (Direction::Input, Some(expr)) => {
                    check_owner(expr, self.id);
                    inputs.push((port.name.clone(), expr.clone()));
                }
                (Direction::Input, None) if of.clocked() && port.is_clock_or_reset() => {
                    self.needs_clock(name);
                    let signal = self.find(&port.name);
                    inputs.push((port.name.clone(), signal.expr()));
                }
                (Direction::Input, None) => panic!("{name}: input {} is not connected", port.name),
                (Direction::Output, Some(expr)) => {
                    let target = Target::new(expr, self.id);
                    assert!(
                        target.width == target.signal.width,
                        "{name}: output {} drives a part of a signal only",
                        port.name
                    );
                    exprs.push((port.name.clone(), target.signal.expr()));
                    outputs.push((port.name.clone(), target));
                }
                (Direction::Output, None) => {
                    let stem = name.strip_prefix("i_").unwrap_or(name);
                    let end = port.name.strip_suffix("_o").unwrap_or(&port.name);
                    let wire = self.wire(&format!("{stem}_{end}"), port.width);
                    outputs.push((port.name.clone(), Target::new(&wire, self.id)));
                    exprs.push((port.name.clone(), wire));
                }
            }
        }
        let instance = Instance { name: name.to_owned(), of: of.clone(), inputs, outputs };
        self.push(Item::Instance(instance));
        self.content.borrow_mut().children.push(of.clone());
        Outputs { instance: name.to_owned(), outputs: exprs }
    }
}
