//! Spellings of before that still work, with a note: what scripts and habits have.

use hartrace_report::Form;
use std::ffi::OsString;

/// Commands that have another name now.
const COMMANDS: [(&str, &str); 2] = [("delta", "diff"), ("convert", "log")];

/// Returns the words of a command line as they are spelled now, and what has changed.
pub(crate) fn current(words: Vec<OsString>) -> (Vec<OsString>, Vec<String>) {
    let mut words = words;
    let mut notes = Vec::new();
    let Some(command) = words.get_mut(1) else { return (words, notes) };
    if let Some((old, new)) = COMMANDS.iter().find(|(old, _)| command == old) {
        notes.push(format!("`{old}` is now `{new}`"));
        *command = new.into();
    }
    if command == "export" {
        formats(&mut words, &mut notes);
    }
    (words, notes)
}

/// `--to` is the end of a window; `--to perfetto` was the format.
fn formats(words: &mut [OsString], notes: &mut Vec<String>) {
    let is_format = |word: &str| word.parse::<Form>().is_ok_and(Form::is_export);
    for at in 2..words.len() {
        let [word, next @ ..] = &mut words[at..] else { continue };
        let text = word.to_str().unwrap_or_default();
        let joined = text.strip_prefix("--to=").filter(|name| is_format(name));
        let (name, spelled) = match (joined, next.first().and_then(|next| next.to_str())) {
            (Some(name), _) => (name.to_owned(), format!("--format={name}")),
            (None, Some(name)) if text == "--to" && is_format(name) => {
                (name.into(), "--format".into())
            }
            _ => continue,
        };
        notes.push(format!("`--to {name}` is now `--format {name}`"));
        *word = spelled.into();
    }
}

#[cfg(test)]
#[path = "../tests/unit/spelling.rs"]
mod tests;
