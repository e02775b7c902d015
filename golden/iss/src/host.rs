//! State of the host at `tohost` and `fromhost`: mailboxes, replies, open files.

use crate::abi::errno;
use crate::config::Environment;
use crate::libraries::Libraries;
use std::collections::{BTreeMap, VecDeque};

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
    /// Where more files are found.
    pub(crate) libraries: Option<Libraries>,
    /// Standard input, and the position in it.
    input: (Vec<u8>, u64),
    /// System calls that do not exist here: how often each number was called.
    pub(crate) unknown: BTreeMap<u64, u64>,
    /// File and position of each open descriptor.
    pub(crate) open: Vec<Option<(usize, u64)>>,
    /// What a program uses instead, if it shares the files of this process.
    #[cfg(unix)]
    pub(crate) shared: Option<crate::shared::Shared>,
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

    /// Counts a system call that does not exist here.
    pub(crate) fn note_unknown(&mut self, number: u64) {
        *self.unknown.entry(number).or_default() += 1;
    }

    /// What can be read from a descriptor, and the position in it: that of a file, or standard input.
    pub(crate) fn readable(&mut self, descriptor: u64) -> Option<(&[u8], &mut u64)> {
        match descriptor {
            0 => Some((&self.input.0, &mut self.input.1)),
            _ => self.file(descriptor),
        }
    }

    /// The size of the file `name`.
    pub(crate) fn size_of(&mut self, name: &[u8]) -> Option<u64> {
        let file = self.find(name)?;
        Some(self.files.get(file)?.1.len() as u64)
    }

    /// What distinguishes the file `name` from others; not 0 if there is one.
    pub(crate) fn number_of(&mut self, name: &[u8]) -> u64 {
        self.find(name).map_or(0, |file| file as u64 + 1)
    }

    /// The same of a descriptor.
    pub(crate) fn number_at(&self, descriptor: u64) -> u64 {
        let index = usize::try_from(descriptor.wrapping_sub(FIRST_FILE)).ok();
        let file = index.and_then(|index| *self.open.get(index)?);
        file.map_or(0, |(file, _)| file as u64 + 1)
    }

    /// The contents of the file `name`.
    pub(crate) fn contents_of(&mut self, name: &[u8]) -> Option<&[u8]> {
        let file = self.find(name)?;
        Some(&self.files.get(file)?.1)
    }

    /// The number of a file that was given, or that the libraries have.
    fn find(&mut self, name: &[u8]) -> Option<usize> {
        let short = name.strip_prefix(b"./").unwrap_or(name);
        let given = self.files.iter().position(|(other, _)| other.as_bytes() == short);
        given.or_else(|| {
            let bytes = self.libraries.as_ref()?.read(name)?;
            self.files.push((String::from_utf8_lossy(short).into_owned(), bytes));
            Some(self.files.len() - 1)
        })
    }

    /// Name and contents of the file of a descriptor, from an offset on, as far as they fit.
    pub(crate) fn mapped(
        &self,
        descriptor: u64,
        offset: u64,
        size: u64,
    ) -> Option<(String, Vec<u8>)> {
        #[cfg(unix)]
        if let Some(shared) = &self.shared {
            return shared.mapped(descriptor, offset, size);
        }
        let index = usize::try_from(descriptor.checked_sub(FIRST_FILE)?).ok()?;
        let (file, _) = self.open.get(index)?.as_ref()?;
        let (name, bytes) = self.files.get(*file)?;
        let rest = bytes.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let part = rest.get(..usize::try_from(size).unwrap_or(usize::MAX)).unwrap_or(rest);
        Some((name.clone(), part.to_vec()))
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
