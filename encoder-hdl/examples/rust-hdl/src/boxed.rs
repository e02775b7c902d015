//! Blocks whose contents are generated.

use hartrace_rtl::{Component, Direction};
use rust_hdl_core::prelude::*;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use thiserror::Error;

/// Declares a rust-hdl block that stands for a generated module. Its ports have the names, widths
/// and directions (`in` or `out`) of the component; `clk_i` is a `Clock`, a port of one bit a
/// `Bit`, all others `Bits`.
///
/// The block gets `new(&Component) -> Result<Self, PortError>`. rust-hdl cannot simulate its
/// contents, so its outputs never change: simulate the emitted Verilog instead. The module that
/// uses the macro needs `use rust_hdl_core::prelude::*`. A block may be instantiated several times.
#[macro_export]
macro_rules! black_box {
    (
        $(#[$about:meta])*
        $visible:vis struct $name:ident {
            $($(#[$doc:meta])* $direction:ident $port:ident: $kind:ty),* $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, LogicBlock)]
        $visible struct $name {
            $($(#[$doc])* pub $port: $crate::black_box!(@signal $direction $kind),)*
            // rust-hdl ignores names that start with an underscore.
            _contents: Verilog,
        }

        impl $name {
            /// Creates the block with the contents of a component.
            ///
            /// # Errors
            ///
            /// If the ports of the component differ from those of this block.
            #[allow(dead_code)]
            $visible fn new(
                component: &$crate::Component,
            ) -> ::std::result::Result<Self, $crate::PortError> {
                let block = Self {
                    $($port: Default::default(),)*
                    _contents: $crate::contents(component),
                };
                $crate::check_ports(&block, component)?;
                Ok(block)
            }
        }

        impl Logic for $name {
            fn update(&mut self) {}

            fn connect(&mut self) {
                $($crate::black_box!(@connect $direction self $port);)*
            }

            fn hdl(&self) -> Verilog {
                self._contents.clone()
            }
        }
    };
    (@signal in $kind:ty) => { Signal<In, $kind> };
    (@signal out $kind:ty) => { Signal<Out, $kind> };
    (@connect in $block:ident $port:ident) => {};
    (@connect out $block:ident $port:ident) => { $block.$port.connect() };
}

/// The contents of a black box: the text of a component and of all modules in it.
///
/// rust-hdl appends it for every instance of the block, so each module is guarded against
/// duplicates. The names of the guards also depend on the text of the module: if two modules of one
/// name differ, the tool that reads the text reports an error instead of taking one for the other.
#[must_use]
pub fn contents(component: &Component) -> Verilog {
    let mut code = String::new();
    for (name, text) in component.files() {
        let guard = format!("HARTRACE_{name}_{:08x}", crc32fast::hash(text.as_bytes()));
        code += &format!("`ifndef {guard}\n`define {guard}\n{text}`endif\n");
    }
    Verilog::Blackbox(BlackBox { code, name: component.name().to_owned() })
}

/// A block that does not fit the component.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{component} has other ports than the block that stands for it: {}; \
     try: the text that `declaration` writes for it",
    .differences.join(", ")
)]
pub struct PortError {
    /// The name of the component.
    pub component: String,
    /// The differences, port by port.
    pub differences: Vec<String>,
}

/// Compares the ports of a block with those of a component.
///
/// # Errors
///
/// If a name, direction or width differs.
pub fn check_ports(block: &dyn Block, component: &Component) -> Result<(), PortError> {
    let mut ports = Ports::default();
    block.accept("block", &mut ports);
    let mut differences = Vec::new();
    for port in component.ports() {
        let expected = Form {
            input: port.direction == Direction::Input,
            width: port.width as usize,
            clock: port.name == "clk_i",
        };
        match ports.found.remove(&port.name) {
            None => differences.push(format!("the block has no {} ({expected})", port.name)),
            Some(form) if form != expected => {
                differences.push(format!("{} is {form}, not {expected}", port.name));
            }
            Some(_) => {}
        }
    }
    differences.extend(ports.found.iter().map(|(name, form)| format!("no {name} ({form})")));
    if differences.is_empty() {
        return Ok(());
    }
    Err(PortError { component: component.name().to_owned(), differences })
}

/// Direction and width of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    input: bool,
    width: usize,
    clock: bool,
}

impl Display for Form {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let direction = if self.input { "in" } else { "out" };
        match (self.clock, self.width) {
            (true, _) => write!(f, "{direction}, a clock"),
            (false, 1) => write!(f, "{direction}, 1 bit"),
            (false, width) => write!(f, "{direction}, {width} bits"),
        }
    }
}

/// Collects the ports of the outermost block.
#[derive(Debug, Default)]
struct Ports {
    depth: u32,
    found: BTreeMap<String, Form>,
}

impl Probe for Ports {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        if self.depth == 1 && signal.kind().is_parameter() {
            let form = Form {
                input: signal.kind() == AtomKind::InputParameter,
                width: signal.bits(),
                clock: signal.descriptor().name == Clock::descriptor().name,
            };
            self.found.insert(name.to_owned(), form);
        }
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }
}
