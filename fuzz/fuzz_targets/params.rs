//! Any text is a file of parameters, or is rejected with its place. What is accepted describes the same
//! stream after it was written again, with and without comments.
#![no_main]

use hartrace_capture::params::{Draft, Given, Setup};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let draft = match Draft::parse(&text, "file") {
        Ok(draft) => draft,
        Err(error) => return assert!(error.to_string().starts_with("file")),
    };
    let setup = |draft| Setup::new(Some(draft), &Given::default());
    let Ok(first) = setup(draft.clone()) else { return };
    let whole = Draft::from(&first);
    for text in [whole.to_string(), whole.commented()] {
        let again = setup(Draft::parse(&text, "again").expect(&text)).expect(&text);
        assert_eq!(format!("{again:?}"), format!("{first:?}"), "{text}");
    }
});
