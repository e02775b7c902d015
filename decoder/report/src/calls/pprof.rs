//! Profiles of pprof: a compressed protobuf message, as `profile.proto` describes it.

use super::protobuf::Message;
use super::tree::Tree;
use super::{CallForm, Names};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashMap;
use std::io::{self, Write};

/// A profile for `go tool pprof` and what else reads its format: the instructions that each call stack executed.
#[derive(Clone, Debug, Default)]
pub struct Pprof {
    /// The file that the trace is from.
    file: String,
}

impl Pprof {
    /// The profile of a file.
    pub fn new(file: &str) -> Self {
        Self { file: file.to_owned() }
    }
}

/// Fields of a profile.
const SAMPLE_TYPE: u64 = 1;
const SAMPLE: u64 = 2;
const MAPPING: u64 = 3;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const STRING: u64 = 6;
const PERIOD_TYPE: u64 = 11;
const PERIOD: u64 = 12;

/// Everything is in one mapping.
const ONLY: u64 = 1;

/// Texts, which messages refer to by number. The first is empty.
#[derive(Debug)]
struct Texts {
    numbers: HashMap<String, u64>,
    list: Vec<String>,
}

impl Texts {
    fn new() -> Self {
        let mut texts = Self { numbers: HashMap::new(), list: Vec::new() };
        texts.number("");
        texts
    }

    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.list.len() as u64;
        self.numbers.insert(text.to_owned(), number);
        self.list.push(text.to_owned());
        number
    }
}

/// The profile so far. A function and its only location have the same number.
struct Profile<'n, 's> {
    names: &'n Names<'s>,
    texts: Texts,
    functions: HashMap<u64, u64>,
    message: Message,
}

impl Profile<'_, '_> {
    /// The number of a function, which is described when it occurs first.
    fn function(&mut self, address: u64) -> u64 {
        if let Some(number) = self.functions.get(&address) {
            return *number;
        }
        let number = (self.functions.len() as u64).wrapping_add(1);
        self.functions.insert(address, number);
        let name = self.texts.number(&self.names.name(address));
        let source = self.names.source(address);
        let place = source.as_deref().and_then(|source| source.rsplit_once(':'));
        let (file, at) = place.unwrap_or_default();
        let (file, at) = (self.texts.number(file), at.parse().unwrap_or_default());
        let (mut function, mut line, mut location) = Default::default();
        Message::number(&mut function, 1, number).number(2, name).number(3, name);
        function.number(4, file).number(5, at);
        Message::number(&mut line, 1, number).number(2, at);
        Message::number(&mut location, 1, number).number(2, ONLY).number(3, address);
        location.message(4, &line);
        self.message.message(FUNCTION, &function).message(LOCATION, &location);
        number
    }

    fn sample(&mut self, stack: &[u64], insns: u64, source: Option<u16>) {
        let mut sample = Message::default();
        // The innermost comes first.
        for function in stack.iter().rev() {
            sample.number(1, self.function(*function));
        }
        sample.number(2, insns);
        if let Some(source) = source {
            let mut label = Message::default();
            label.number(1, self.texts.number("source")).number(3, source.into());
            sample.message(3, &label);
        }
        self.message.message(SAMPLE, &sample);
    }
}

impl CallForm for Pprof {
    type Calls = Tree;

    fn calls(&self) -> Tree {
        Tree::default()
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Tree, u64)>,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut profile = Profile {
            names,
            texts: Texts::new(),
            functions: HashMap::new(),
            message: Message::default(),
        };
        let (mut value, mut mapping) = (Message::default(), Message::default());
        let texts = &mut profile.texts;
        value.number(1, texts.number("instructions")).number(2, texts.number("count"));
        let range = names.range();
        mapping.number(1, ONLY).number(2, range.start).number(3, range.end);
        // It has functions, file names and line numbers, as far as these are known.
        mapping.number(5, texts.number(&self.file)).number(7, 1).number(8, 1).number(9, 1);
        profile.message.message(SAMPLE_TYPE, &value).message(MAPPING, &mapping);
        profile.message.message(PERIOD_TYPE, &value).number(PERIOD, 1);
        for (source, mut tree, instructions) in all {
            for (stack, insns) in tree.stacks(instructions) {
                profile.sample(&stack, insns, source);
            }
        }
        let Profile { texts, mut message, .. } = profile;
        for text in &texts.list {
            message.text(STRING, text);
        }
        let mut packed = GzEncoder::new(out, Compression::default());
        packed.write_all(&message.0)?;
        packed.finish()?;
        Ok(())
    }
}
