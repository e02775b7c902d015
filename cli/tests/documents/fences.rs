//! Fenced blocks of a Markdown file.

use libtest_mimic::Failed;
use std::ops::Range;

/// A fenced block.
#[derive(Clone, Debug)]
pub(crate) struct Fence {
    /// First word after the fence.
    pub(crate) language: String,
    /// The words `needs=A,B` after it.
    pub(crate) needs: Vec<String>,
    /// The word `file=PATH` after it.
    pub(crate) file: Option<String>,
    /// Lines between the fences, counted from 0.
    pub(crate) lines: Range<usize>,
}

/// All fenced blocks of a document, which is given as its lines.
pub(crate) fn fences(name: &str, lines: &[String]) -> Result<Vec<Fence>, Failed> {
    let mut found = Vec::new();
    let mut open: Option<(String, Fence)> = None;
    for (number, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let ticks: String = text.chars().take_while(|&c| c == '`').collect();
        match &mut open {
            Some((fence, block)) if text.trim_end() == fence.as_str() => {
                block.lines.end = number;
                found.push(block.clone());
                open = None;
            }
            None if ticks.len() >= 3 => {
                let block = start(&text[ticks.len()..], number + 1)
                    .map_err(|error| format!("{name}:{}: {error}", number + 1))?;
                open = Some((ticks, block));
            }
            _ => {}
        }
    }
    match open {
        Some((_, block)) => {
            Err(format!("{name}:{}: the block does not end", block.lines.start).into())
        }
        None => Ok(found),
    }
}

/// A block whose first line is `first`, by the words after its fence.
fn start(words: &str, first: usize) -> Result<Fence, String> {
    let mut words = words.split_whitespace();
    let language = words.next().unwrap_or_default().to_owned();
    let mut block = Fence { language, needs: Vec::new(), file: None, lines: first..first };
    for word in words {
        match word.split_once('=') {
            Some(("needs", needs)) => block.needs = needs.split(',').map(str::to_owned).collect(),
            Some(("file", path)) => block.file = Some(path.to_owned()),
            _ => return Err(format!("unknown word `{word}` after the fence; try needs= or file=")),
        }
    }
    Ok(block)
}
