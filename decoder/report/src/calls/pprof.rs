//! Profiles of pprof: a compressed protobuf message, as `profile.proto` describes it.

use super::protobuf::Message;
use super::tree::Tree;
use super::{CallForm, Callee, Names};
use flate2::Compression;
use flate2::write::GzEncoder;
use hartrace_decoder::calls::{CallStack, Transfers};
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

/// The profile so far.
struct Profile<'n, 's> {
    names: &'n Names<'s>,
    texts: Texts,
    /// Numbers of functions, by name, file and line.
    functions: HashMap<(u64, u64, u64), u64>,
    /// Numbers of locations, by function and the innermost function that is inlined there.
    locations: HashMap<(Callee, Callee), u64>,
    message: Message,
}

impl Profile<'_, '_> {
    /// The number of a function, which is described when it occurs first, and the line where it starts.
    fn function(&mut self, callee: Callee) -> (u64, u64) {
        let name = self.texts.number(&self.names.name(callee));
        let (file, line) = self.names.source(callee).unwrap_or_default();
        let (file, line) = (self.texts.number(&file), line.into());
        let next = (self.functions.len() as u64).wrapping_add(1);
        let number = *self.functions.entry((name, file, line)).or_insert(next);
        if number == next {
            let mut function = Message::default();
            function.number(1, number).number(2, name).number(3, name);
            function.number(4, file).number(5, line);
            self.message.message(FUNCTION, &function);
        }
        (number, line)
    }

    /// The number of a function together with what is inlined there, the outermost first.
    fn location(&mut self, frame: &[Callee]) -> Option<u64> {
        let (outermost, innermost) = (*frame.first()?, *frame.last()?);
        let place = (outermost, innermost);
        if let Some(number) = self.locations.get(&place) {
            return Some(*number);
        }
        let number = (self.locations.len() as u64).wrapping_add(1);
        self.locations.insert(place, number);
        let call = |callee| match callee {
            Callee::Function(function) => (function, None),
            Callee::Inlined(number) => {
                let (entry, line) = self.names.call(number).unwrap_or_default();
                (entry, Some(line.into()))
            }
        };
        let (address, _) = call(innermost);
        // In each function, the line is that of the call; in the innermost one, it is where that starts.
        let mut calls: Vec<_> = frame.iter().skip(1).map(|callee| call(*callee).1).collect();
        calls.push(None);
        let mut location = Message::default();
        location.number(1, number).number(2, ONLY).number(3, address);
        for (callee, call) in frame.iter().zip(calls).rev() {
            let (function, start) = self.function(*callee);
            let mut line = Message::default();
            line.number(1, function).number(2, call.unwrap_or(start));
            location.message(4, &line);
        }
        self.message.message(LOCATION, &location);
        Some(number)
    }

    fn sample(&mut self, stack: &[Callee], insns: u64, source: Option<u16>) {
        let mut sample = Message::default();
        let frames = stack.chunk_by(|_, next| matches!(next, Callee::Inlined(_)));
        let locations: Vec<u64> = frames.filter_map(|frame| self.location(frame)).collect();
        // The innermost comes first.
        for location in locations.iter().rev() {
            sample.number(1, *location);
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

    fn calls(&self, _: Option<u16>, _: &Names<'_>) -> Tree {
        Tree::default()
    }

    #[inline(never)]
    fn replay(stack: &mut CallStack<Tree>, part: &Transfers) {
        stack.replay(part);
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
            locations: HashMap::new(),
            message: Message::default(),
        };
        let (mut value, mut mapping) = (Message::default(), Message::default());
        let texts = &mut profile.texts;
        value.number(1, texts.number("instructions")).number(2, texts.number("count"));
        let range = names.range();
        mapping.number(1, ONLY).number(2, range.start).number(3, range.end);
        // It has functions, file names, line numbers and inlined functions, as far as these are known.
        mapping.number(5, texts.number(&self.file));
        mapping.number(7, 1).number(8, 1).number(9, 1).number(10, 1);
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
