use super::*;

fn spelled(line: &str) -> (String, usize) {
    let (words, notes) = current(line.split(' ').map(OsString::from).collect());
    let words = words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>();
    (words.join(" "), notes.len())
}

#[test]
fn old_spellings_work_with_a_note() {
    for (old, new, notes) in [
        ("hartrace delta a b --whole", "hartrace diff a b --whole", 1),
        ("hartrace convert run.log", "hartrace log run.log", 1),
        ("hartrace export a --to folded -o b", "hartrace export a --format folded -o b", 1),
        ("hartrace export a --to=callgrind", "hartrace export a --format=callgrind", 1),
        // Not formats, not a command, and what is current.
        ("hartrace export a --to 17", "hartrace export a --to 17", 0),
        ("hartrace decode a --to perfetto", "hartrace decode a --to perfetto", 0),
        ("hartrace run delta", "hartrace run delta", 0),
        ("hartrace diff a b", "hartrace diff a b", 0),
        ("hartrace", "hartrace", 0),
    ] {
        assert_eq!(spelled(old), (new.to_owned(), notes), "{old}");
    }
}
