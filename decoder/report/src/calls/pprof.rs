//! Profiles of pprof: a compressed protobuf message, as `profile.proto` describes it.

use super::protobuf::Message;
use super::tree::{Busy, Tree};
use super::{CallForm, Callee, Names};
use flate2::Compression;
use flate2::write::GzEncoder;
use hartrace_decoder::calls::{CallStack, Transfers};
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

/// A profile for `go tool pprof` and what else reads its format: the instructions that each call stack executed, line by line.
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

/// The first mapping, which everything is in unless several files have code.
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
    /// Numbers of locations, by function, the innermost function that is inlined there, and the line there.
    locations: HashMap<(Callee, Callee, Option<u32>), u64>,
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
            let linkage = self.texts.number(&self.names.linkage(callee));
            function.number(1, number).number(2, name).number(3, linkage);
            function.number(4, file).number(5, line);
            self.message.message(FUNCTION, &function);
        }
        (number, line)
    }

    /// The number of the mapping that an address is in.
    fn mapping(&self, address: u64) -> Option<u64> {
        let objects = self.names.objects();
        if objects.is_empty() {
            return Some(ONLY);
        }
        let index = objects.iter().position(|object| object.range.contains(&address))?;
        Some((index as u64).saturating_add(ONLY))
    }

    /// The number of a line of a function, or of a function, together with what is inlined there, the outermost first.
    fn location(&mut self, frame: &[Callee]) -> Option<u64> {
        let lines_from = self.names.lines_from();
        let (frame, line) = match frame.split_last()? {
            (Callee::Inlined(line), frame) if *line >= lines_from => (frame, Some(*line)),
            _ => (frame, None),
        };
        let (outermost, innermost) = (*frame.first()?, *frame.last()?);
        let place = (outermost, innermost, line);
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
        let address = match line {
            Some(line) => self.names.entry(Callee::Inlined(line)),
            None => call(innermost).0,
        };
        // In each function, the line is that of the call; in the innermost one, it is the present one. That is a line of the
        // function's file, so one of another file is not named.
        let mut calls: Vec<_> = frame.iter().skip(1).map(|callee| call(*callee).1).collect();
        let of = self.names.source(innermost);
        let present = line.and_then(|line| self.names.line(line));
        let present = present.filter(|(file, _)| of.as_ref().is_some_and(|(own, _)| own == file));
        calls.push(present.map(|(_, line)| line.into()));
        let mut location = Message::default();
        location.number(1, number);
        if let Some(mapping) = self.mapping(address) {
            location.number(2, mapping);
        }
        location.number(3, address);
        for (callee, call) in frame.iter().zip(calls).rev() {
            let (function, start) = self.function(*callee);
            let mut line = Message::default();
            line.number(1, function).number(2, call.unwrap_or(start));
            location.message(4, &line);
        }
        self.message.message(LOCATION, &location);
        Some(number)
    }

    fn sample(&mut self, Busy { context, functions, insns }: &Busy, source: Option<u16>) {
        let mut sample = Message::default();
        let frames = functions.chunk_by(|_, next| matches!(next, Callee::Inlined(_)));
        let locations: Vec<u64> = frames.filter_map(|frame| self.location(frame)).collect();
        // The innermost comes first.
        for location in locations.iter().rev() {
            sample.number(1, *location);
        }
        sample.number(2, *insns);
        for (key, number) in [("source", source.map(u64::from)), ("context", *context)] {
            if let Some(number) = number {
                let mut label = Message::default();
                label.number(1, self.texts.number(key)).number(3, number);
                sample.message(3, &label);
            }
        }
        self.message.message(SAMPLE, &sample);
    }
}

impl CallForm for Pprof {
    type Calls = Tree;

    fn calls(&self, _: Option<u16>, _: &Names<'_>) -> Tree {
        Tree::of_contexts()
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
        let mut value = Message::default();
        value
            .number(1, profile.texts.number("instructions"))
            .number(2, profile.texts.number("count"));
        profile.message.message(SAMPLE_TYPE, &value);
        let objects = names.objects().iter().map(|object| (object.range.clone(), &*object.file));
        let mut mappings: Vec<(Range<u64>, &str)> = objects.collect();
        if mappings.is_empty() {
            mappings.push((names.range(), &self.file));
        }
        for ((range, file), number) in mappings.into_iter().zip(ONLY..) {
            let mut mapping = Message::default();
            mapping.number(1, number).number(2, range.start).number(3, range.end);
            mapping.number(5, profile.texts.number(file));
            // It has functions, file names, line numbers and inlined functions, as far as these are known.
            mapping.number(7, 1).number(8, 1).number(9, 1).number(10, 1);
            profile.message.message(MAPPING, &mapping);
        }
        profile.message.message(PERIOD_TYPE, &value).number(PERIOD, 1);
        for (source, mut tree, instructions) in all {
            for stack in tree.stacks(instructions) {
                profile.sample(&stack, source);
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
