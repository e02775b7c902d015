//! The design to simulate.

use hartrace_rtl::{Component, Direction};
use std::path::PathBuf;

/// A design: SystemVerilog, the name of its top module, and the names of its clock and reset.
///
/// `Design::from` creates it from a [`Component`], [`Design::files`] from files; [`Design::file`],
/// [`Design::text`] and [`Design::component`] add to either.
#[derive(Clone, Debug)]
pub struct Design {
    pub(crate) top: String,
    /// In the order in which Verilator reads them.
    pub(crate) sources: Vec<Source>,
    pub(crate) arguments: Vec<String>,
    pub(crate) clock: Option<String>,
    pub(crate) reset: Option<Reset>,
    /// Direction, name and width according to the builder.
    pub(crate) ports: Option<Vec<(Direction, String, u32)>>,
    /// Whether nothing depends on the falling edge or the level of the clock.
    pub(crate) rising_only: bool,
}

/// SystemVerilog in a file, or the text itself under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Text { name: String, text: String },
    File(PathBuf),
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
    /// Creates a design from files, which are passed to Verilator in this order. Its ports are those that
    /// Verilator finds. It has no clock and no reset until [`Design::clock`] and [`Design::reset`] name them.
    #[must_use]
    pub fn files(top: &str, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            top: top.to_owned(),
            sources: files.into_iter().map(|file| Source::File(file.into())).collect(),
            arguments: Vec::new(),
            clock: None,
            reset: None,
            ports: None,
            rising_only: false,
        }
    }

    /// Names the clock; each rising edge counts as one cycle.
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

    /// Adds SystemVerilog that is not in a file; messages name it `name.sv`.
    #[must_use]
    pub fn text(mut self, name: &str, text: &str) -> Self {
        self.sources.push(Source::Text { name: name.to_owned(), text: text.to_owned() });
        self.rising_only = false;
        self
    }

    /// Adds a file.
    #[must_use]
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.sources.push(Source::File(file.into()));
        self.rising_only = false;
        self
    }

    /// Adds a generated module and its submodules, for others to instantiate. A module that is already
    /// present, as a part of another, is not added twice.
    #[must_use]
    pub fn component(mut self, component: &Component) -> Self {
        for text in texts(component) {
            if !self.sources.contains(&text) {
                self.sources.push(text);
            }
        }
        self
    }

    /// Whether the whole design is text.
    pub(crate) fn is_text(&self) -> bool {
        self.sources.iter().all(|source| matches!(source, Source::Text { .. }))
    }

    /// Adds an argument of Verilator, such as `-GWidth=8`, `+incdir+include` or `-Wno-WIDTH`. Warnings are
    /// errors unless `-Wno-fatal` is given.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }
}

fn texts(component: &Component) -> impl Iterator<Item = Source> {
    component.files().into_iter().map(|(name, text)| Source::Text { name, text })
}

impl From<&Component> for Design {
    fn from(component: &Component) -> Self {
        let port = |port: &hartrace_rtl::Port| (port.direction, port.name.clone(), port.width);
        let clocked = component.clocked();
        Self {
            top: component.name().to_owned(),
            sources: texts(component).collect(),
            arguments: Vec::new(),
            clock: clocked.then(|| "clk_i".to_owned()),
            reset: component
                .has_reset()
                .then(|| Reset { input: "rst_ni".to_owned(), active: false }),
            ports: Some(component.ports().iter().map(port).collect()),
            // The builder uses a clock in no other way.
            rising_only: true,
        }
    }
}

impl From<&Design> for Design {
    fn from(design: &Design) -> Self {
        design.clone()
    }
}
