//! State of the host at `tohost` and `fromhost`: mailboxes, replies, open files.

use crate::abi::errno;
use crate::config::Environment;
use std::collections::{BTreeSet, VecDeque};

/// First descriptor of a file; those below are the console.
pub(crate) const FIRST_FILE: u64 = 3;

/// State of the host.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// Addresses of the two double-words.
    pub(crate) mailboxes: Option<(u64, u64)>,
    pub(crate) replies: VecDeque<u64>,
    pub(crate) arguments: Vec<String>,
    files: Vec<(String, Vec<u8>)>,
    /// Standard input, and the position in it.
    input: (Vec<u8>, u64),
    /// Numbers of system calls that do not exist here.
    pub(crate) unknown: BTreeSet<u64>,
    /// File and position of each open descriptor.
    pub(crate) open: Vec<Option<(usize, u64)>>,
}

impl Host {
    pub(crate) fn new(environment: &Environment) -> Self {
        match environment {
            Environment::ProxyKernel { arguments, files } => {
                Self { arguments: arguments.clone(), files: files.clone(), ..Self::default() }
            }
            Environment::Linux { input, files, .. } => {
                Self { files: files.clone(), input: (input.clone(), 0), ..Self::default() }
            }
            _ => Self::default(),
        }
    }

    /// What can be read from a descriptor, and the position in it: that of a file, or standard input.
    pub(crate) fn readable(&mut self, descriptor: u64) -> Option<(&[u8], &mut u64)> {
        match descriptor {
            0 => Some((&self.input.0, &mut self.input.1)),
            _ => self.file(descriptor),
        }
    }

    /// The size of the file `name`.
    pub(crate) fn size_of(&self, name: &[u8]) -> Option<u64> {
        Some(self.files.get(self.find(name)?)?.1.len() as u64)
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        let name = name.strip_prefix(b"./").unwrap_or(name);
        self.files.iter().position(|(other, _)| other.as_bytes() == name)
    }

    /// The file of a descriptor, and the position in it.
    pub(crate) fn file(&mut self, descriptor: u64) -> Option<(&[u8], &mut u64)> {
        let index = usize::try_from(descriptor.checked_sub(FIRST_FILE)?).ok()?;
        let (file, position) = self.open.get_mut(index)?.as_mut()?;
        Some((&self.files.get(*file)?.1, position))
    }

    /// The descriptor of the file `name`, or an error number.
    pub(crate) fn open(&mut self, name: &[u8]) -> u64 {
        match self.find(name) {
            Some(file) => {
                self.open.push(Some((file, 0)));
                FIRST_FILE + self.open.len() as u64 - 1
            }
            None => errno(2),
        }
    }
}
