//! Where a program was when it crashed.

use crate::failure::Failure;
use crate::files;
use hartrace::Call;
use hartrace_capture::description::Description;
use hartrace_capture::input;
use hartrace_capture::limits::DOCUMENT_BYTES;
use hartrace_executions::executed::Program;
use hartrace_executions::executed::round::Line;
use std::path::Path;

/// Signals that a program gets for what it does itself.
const CRASHES: [i32; 6] = [4, 5, 6, 7, 8, 11];

/// Functions that are named, from the innermost.
const NAMED: usize = 8;

/// Adds the call stack to how a program ended, if it crashed or hangs, and to the description of its trace, which every
/// command shows that reads it.
pub(super) fn tell_stack(program: &Program, line: &mut Line) -> Result<(), Failure> {
    let crashed = program.signal(line.exit).is_some_and(|signal| CRASHES.contains(&signal));
    let (Some(ended), Some(trace), true) =
        (&line.ended, &line.trace, line.early && (crashed || line.is_stuck()))
    else {
        return Ok(());
    };
    let ended = with_stack(ended, &stack(trace, line.figures.decoded));
    let place = Description::place(trace);
    let text = files::start(&place, DOCUMENT_BYTES).unwrap_or_default();
    if let Ok(mut description) = Description::parse(&text, "") {
        description.capture.ended_early = Some(ended.clone());
        input::written(&place);
        description.write(trace)?;
    }
    line.ended = Some(ended);
    Ok(())
}

/// The functions that were active when the last of so many instructions had been executed, the innermost first. Without
/// symbols there are few; a trace that cannot be followed has none.
fn stack(trace: &Path, instructions: u64) -> Vec<String> {
    let mut stack = Vec::new();
    let Ok(capture) = hartrace::open(trace) else { return stack };
    for call in capture.calls() {
        match call {
            Ok(Call::Enter { function, .. } | Call::Resume { function, .. }) => {
                stack.push(function.name.clone());
            }
            // In the end, all functions are left.
            Ok(Call::Leave { at, .. } | Call::Suspend { at, .. }) if at >= instructions => break,
            Ok(Call::Leave { .. } | Call::Suspend { .. }) => drop(stack.pop()),
            _ => {}
        }
    }
    stack.reverse();
    stack
}

/// How a program ended, with its call stack.
fn with_stack(ended: &str, stack: &[String]) -> String {
    let mut text = ended.to_owned();
    let groups: Vec<&[String]> = stack.chunk_by(|one, next| one == next).collect();
    for (place, group) in groups.iter().take(NAMED).enumerate() {
        let [name, ..] = group else { continue };
        let known = format!(", in {name}");
        match place {
            0 if ended.ends_with(&known) => {}
            0 if ended.contains(':') => text.push_str(&known),
            0 => text.push_str(&format!(": in {name}")),
            _ => text.push_str(&format!(", called by {name}")),
        }
        if group.len() > 1 {
            text.push_str(&format!(" ({} times)", group.len()));
        }
    }
    match groups.len().saturating_sub(NAMED) {
        0 => text,
        1 => format!("{text}, called by 1 more function"),
        more => format!("{text}, called by {more} more functions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_read_from_the_inside() {
        let stack = |names: &str| -> Vec<String> { names.split(' ').map(str::to_owned).collect() };
        let told = |ended, names| with_stack(ended, &stack(names));
        assert_eq!(
            told("SIGABRT", "raise abort main"),
            "SIGABRT: in raise, called by abort, called by main"
        );
        let fault = "SIGSEGV: load fault, in f";
        assert_eq!(
            told(fault, "f f f main"),
            "SIGSEGV: load fault, in f (3 times), called by main"
        );
        assert_eq!(told("SIGSEGV: load fault", "g"), "SIGSEGV: load fault, in g");
        let deep = told("SIGBUS", "a b c d e f g h i j");
        assert!(deep.ends_with("called by h, called by 2 more functions"), "{deep}");
        assert_eq!(with_stack("SIGILL", &[]), "SIGILL");
    }
}
