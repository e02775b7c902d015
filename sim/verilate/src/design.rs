//! What is simulated.

use hartrace_rtl::{Component, Direction};
use std::path::PathBuf;

/// A design: SystemVerilog, the name of the module at its top, and which of its inputs are special.
///
/// Of a [`Component`] it is made by `Design::from`, of files by [`Design::files`].
#[derive(Clone, Debug)]
pub struct Design {
    pub(crate) top: String,
    pub(crate) sources: Sources,
    pub(crate) arguments: Vec<String>,
    pub(crate) clock: Option<String>,
    pub(crate) reset: Option<Reset>,
    /// Direction, name and width as the builder knows them.
    pub(crate) ports: Option<Vec<(Direction, String, u32)>>,
    /// Nothing in it depends on the falling edge or the level of the clock.
    pub(crate) rising_only: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Sources {
    /// Names and texts of modules.
    Texts(Vec<(String, String)>),
    Files(Vec<PathBuf>),
}

/// The reset of a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset {
    /// The input.
    pub input: String,
    /// Its value during reset.
    pub active: bool,
}

impl Design {
    /// A design in files, which are given to Verilator in this order. Ports are those that Verilator
    /// finds. It has no clock and no reset until [`Design::clock`] and [`Design::reset`] name them.
    #[must_use]
    pub fn files(top: &str, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            top: top.to_owned(),
            sources: Sources::Files(files.into_iter().map(Into::into).collect()),
            arguments: Vec::new(),
            clock: None,
            reset: None,
            ports: None,
            rising_only: false,
        }
    }

    /// Names the clock, whose rising edge counts as one cycle.
    #[must_use]
    pub fn clock(mut self, input: &str) -> Self {
        self.clock = Some(input.to_owned());
        self
    }

    /// Names the reset and its value during reset.
    #[must_use]
    pub fn reset(mut self, input: &str, active: bool) -> Self {
        self.reset = Some(Reset { input: input.to_owned(), active });
        self
    }

    /// Adds an argument of Verilator, such as `-GWidth=8`, `+incdir+include` or `-Wno-WIDTH`.
    /// Its warnings are errors; `-Wno-fatal` makes them none.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }
}

impl From<&Component> for Design {
    fn from(component: &Component) -> Self {
        let port = |port: &hartrace_rtl::Port| (port.direction, port.name.clone(), port.width);
        let clocked = component.clocked();
        Self {
            top: component.name().to_owned(),
            sources: Sources::Texts(component.files()),
            arguments: Vec::new(),
            clock: clocked.then(|| "clk_i".to_owned()),
            reset: clocked.then(|| Reset { input: "rst_ni".to_owned(), active: false }),
            ports: Some(component.ports().iter().map(port).collect()),
            // All that the builder can make of a clock.
            rising_only: true,
        }
    }
}

impl From<&Design> for Design {
    fn from(design: &Design) -> Self {
        design.clone()
    }
}
