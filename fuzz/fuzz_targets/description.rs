//! Any text is a description of a capture, or is rejected with its place. What is accepted is the same
//! after it was written again.
#![no_main]

use hartrace_capture::description::Description;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let description = match Description::parse(&text, "file") {
        Ok(description) => description,
        Err(error) => return assert!(error.to_string().starts_with("file")),
    };
    for program in &description.programs {
        let _ = program.check(input);
    }
    let text = description.to_string();
    let again = Description::parse(&text, "again").expect(&text);
    assert_eq!(again.to_string(), text);
    assert_eq!(again.programs, description.programs);
    assert_eq!(again.command, description.command);
});
