//! Input and output of programs.

use crate::executed::Print;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

/// What standard input, output and error of a program are.
#[derive(Clone, Debug)]
pub enum Streams {
    /// Nothing.
    None,
    /// Those of this process.
    Shared {
        /// Whether standard output goes to standard error.
        to_stderr: bool,
    },
    /// What a machine prints is passed on, and it can read nothing.
    Printed(Print),
}

impl Streams {
    pub(crate) fn connect(&self, command: &mut Command) -> io::Result<()> {
        match self {
            Self::None => {
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            }
            Self::Shared { to_stderr: false } => {}
            Self::Shared { to_stderr: true } => {
                command.stdout(io::stderr().as_fd().try_clone_to_owned()?);
            }
            Self::Printed(_) => {
                command.stdin(Stdio::null()).stdout(Stdio::piped());
            }
        }
        Ok(())
    }

    /// Passes on what a machine prints, until it ends.
    pub(crate) fn relay(&self, child: &mut Child) -> Option<JoinHandle<()>> {
        let (Self::Printed(print), Some(mut output)) = (self, child.stdout.take()) else {
            return None;
        };
        let mut print = print.clone();
        Some(thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                // Nobody can be told of an error.
                let _ = print.write_all(&bytes[..count]);
            }
        }))
    }
}
