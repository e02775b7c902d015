//! A document with its blocks.

use crate::fences::{Fence, fences};
use crate::session::{Outcome, Place, Step, steps};
use crate::{names, needs};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A document with blocks to check.
#[derive(Debug)]
pub(crate) struct Document {
    root: PathBuf,
    name: String,
    lines: Vec<String>,
    blocks: Vec<Fence>,
    /// The console blocks, each of which is executed once, in order.
    progress: Mutex<Progress>,
}

/// How far the blocks of a document have been executed.
#[derive(Debug, Default)]
struct Progress {
    place: Option<Place>,
    /// For each block that was executed or skipped, its result.
    results: Vec<Result<(), String>>,
}

/// One test for each block of a document.
pub(crate) fn trials(document: &Arc<Document>) -> Vec<Trial> {
    let checked = document.blocks.iter().enumerate();
    let checked = checked.filter(|(_, block)| block.language == "console" || block.file.is_some());
    let mut trials: Vec<Trial> = checked
        .map(|(number, block)| {
            let missing = document.missing(block);
            let mut name = format!("{}:{}", document.name, block.lines.start);
            if !block.needs.is_empty() {
                name += &format!(" (needs {})", block.needs.join(", "));
            }
            let document = Arc::clone(document);
            Trial::test(name, move || document.check(number)).with_ignored_flag(missing)
        })
        .collect();
    let other = Arc::clone(document);
    let name = format!("{}: sessions are console blocks", document.name);
    trials.push(Trial::test(name, move || other.no_other_sessions()));
    // Fragments of the changelog describe the state when they were written.
    if !document.name.starts_with("changelog/") {
        let other = Arc::clone(document);
        let name = format!("{}: names", document.name);
        trials
            .push(Trial::test(name, move || names::check(&other.root, &other.name, &other.lines)));
    }
    trials
}

impl Document {
    pub(crate) fn read(root: &Path, path: &Path) -> Result<Self, Failed> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(root.join(path))?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let blocks = fences(&name, &lines)?;
        Ok(Self { root: root.to_path_buf(), name, lines, blocks, progress: Mutex::default() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether this machine lacks something that the block needs.
    fn missing(&self, block: &Fence) -> bool {
        !block.needs.iter().all(|need| needs::is_there(&self.root, need))
    }

    fn text(&self, block: &Fence) -> &[String] {
        &self.lines[block.lines.clone()]
    }

    /// Checks a block. Console blocks before it are executed first, if they have not been.
    fn check(&self, number: usize) -> Result<(), Failed> {
        // A block that panicked has left its result, or has none.
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        while progress.results.len() <= number {
            let block = &self.blocks[progress.results.len()];
            let result =
                if self.missing(block) { Ok(()) } else { self.examine(block, &mut progress) };
            progress
                .results
                .push(result.map_err(|error| error.message().unwrap_or("failed").to_owned()));
        }
        progress.results[number].clone().map_err(Failed::from)
    }

    fn examine(&self, block: &Fence, progress: &mut Progress) -> Result<(), Failed> {
        let place = format!("{}:{}", self.name, block.lines.start);
        if let Some(file) = &block.file
            && self.quoted(file)? != self.text(block)
        {
            let what = format!("{place}: {file} has another text; HARTRACE_BLESS=1 writes it");
            return Err(what.into());
        }
        if block.language == "console" {
            for (step, outcome) in self.execute(block, progress)? {
                outcome.check(&place, &step)?;
            }
        }
        Ok(())
    }

    /// The lines of a file that is quoted.
    fn quoted(&self, file: &str) -> Result<Vec<String>, Failed> {
        let text = std::fs::read_to_string(self.root.join(file))
            .map_err(|error| format!("{}: cannot quote {file}: {error}", self.name))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn execute(
        &self,
        block: &Fence,
        progress: &mut Progress,
    ) -> Result<Vec<(Step, Outcome)>, Failed> {
        let place = match &mut progress.place {
            Some(place) => place,
            none => none.insert(Place::fresh(&self.root, &self.name)?),
        };
        let steps = steps(self.text(block))
            .map_err(|error| format!("{}:{}: {error}", self.name, block.lines.start))?;
        let outcome = |step: Step| Ok((step.clone(), place.run(&step)?));
        steps.into_iter().map(outcome).collect()
    }

    /// What looks like a session is executed.
    fn no_other_sessions(&self) -> Result<(), Failed> {
        for block in self.blocks.iter().filter(|block| block.language != "console") {
            if let Some(line) = self.text(block).iter().find(|line| line.starts_with("$ ")) {
                return Err(format!(
                    "{}:{}: `{line}` is not executed; try a console block",
                    self.name, block.lines.start
                )
                .into());
            }
        }
        Ok(())
    }

    /// Writes the current output of commands, and the text of quoted files, into the document.
    pub(crate) fn bless(&self) -> Result<(), Failed> {
        let mut progress = Progress::default();
        let mut lines = Vec::new();
        let mut done = 0;
        let mut failed = Ok(());
        for block in self.blocks.iter().filter(|block| !self.missing(block)) {
            let mut text = match &block.file {
                Some(file) => self.quoted(file)?,
                None => self.text(block).to_vec(),
            };
            if block.language == "console" {
                text.clear();
                for (step, outcome) in self.execute(block, &mut progress)? {
                    failed = failed.and(outcome.succeeded(&self.name, &step));
                    text.extend(step.prompt);
                    text.extend(outcome.printed.lines().map(str::to_owned));
                }
            }
            lines.extend_from_slice(&self.lines[done..block.lines.start]);
            lines.append(&mut text);
            done = block.lines.end;
        }
        lines.extend_from_slice(&self.lines[done..]);
        if lines != self.lines {
            std::fs::write(self.root.join(&self.name), lines.join("\n") + "\n")?;
        }
        failed
    }
}
