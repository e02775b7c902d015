//! What a program shares with the process that executes it.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

/// What a program uses of this process: a Linux program its standard streams, its files, its current folder and its
/// environment variables; a bare-metal program a place to print to.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Environment variables of a Linux program.
    pub variables: Variables,
    /// Whether what a Linux program writes to standard output goes to standard error.
    pub to_stderr: bool,
    /// Receives what a bare-metal program prints.
    pub print: Print,
}

/// Environment variables.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// Whether those of this process are among them.
    pub inherited: bool,
    /// Others, by name; they replace those of this process.
    pub set: Vec<(String, String)>,
}

impl Variables {
    /// All of them, `NAME=value`, in the order in which this process has them. A variable that is no UTF-8 is left out: see
    /// [`Variables::left_out`].
    pub(super) fn all(&self) -> Vec<String> {
        let inherited = self.of_process().filter_map(|(name, value)| {
            Some(format!("{}={}", name.into_string().ok()?, value.into_string().ok()?))
        });
        let set = self.set.iter().map(|(name, value)| format!("{name}={value}"));
        inherited.chain(set).collect()
    }

    /// Names of variables of this process that our hart cannot pass on, since they are no UTF-8.
    pub fn left_out(&self) -> Vec<String> {
        let is_text = |(name, value): &(OsString, OsString)| {
            name.to_str().is_some() && value.to_str().is_some()
        };
        let wrong = self.of_process().filter(|variable| !is_text(variable));
        wrong.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    /// Those of this process that are not replaced.
    fn of_process(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let is_set = |name: &OsString| self.set.iter().any(|(other, _)| name == other.as_str());
        let inherited = self.inherited.then(std::env::vars_os).into_iter().flatten();
        inherited.filter(move |(name, _)| !is_set(name))
    }
}

type Receiver = dyn Fn(&[u8]) + Send + Sync;

/// Receives what a program prints.
#[derive(Clone)]
pub struct Print(Arc<Receiver>);

impl Print {
    /// Passes everything to a function.
    pub fn new(print: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(print))
    }
}

impl fmt::Debug for Print {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Print").finish_non_exhaustive()
    }
}

impl Write for Print {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
