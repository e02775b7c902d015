//! `hartrace export`.

use crate::place::{Place, stderr};
use crate::run::program;
use serde_json::Value;

/// Captures of bundled programs, and how many instructions they have.
fn captures(place: &Place) -> Vec<(String, u64)> {
    let capture = |name: &&str| {
        let (program, capture) = (program(name), format!("{name}.te"));
        let line = place.clean(&format!("run {program} --encode ir+bp -o {capture} --json"));
        let line: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        (capture, line["instructions"].as_u64().unwrap())
    };
    ["calls", "interrupts", "linux"].iter().map(capture).collect()
}

#[test]
fn folded_stacks_add_up() {
    let place = Place::new("export-folded");
    for (capture, instructions) in captures(&place) {
        let text = place.clean(&format!("export {capture} --to folded"));
        let counts = text.lines().map(|line| line.rsplit_once(' ').unwrap().1);
        let sum: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
        assert_eq!(sum, instructions, "{capture}");
        assert!(text.lines().all(|line| !line.starts_with("0x")), "functions have names: {text}");
        // Small parts, and several threads, give the same.
        let threads = place.clean(&format!("export {capture} --to folded --threads 3"));
        assert_eq!(threads, text, "{capture}");
    }
}

/// A profile as speedscope reads it: frames are closed in the opposite order, and times do not decrease.
#[test]
fn speedscope_profiles_nest() {
    let place = Place::new("export-speedscope");
    for (capture, instructions) in captures(&place) {
        place.clean(&format!("export {capture} --to speedscope -o profile.json"));
        let file = std::fs::read(place.dir.join("profile.json")).unwrap();
        let file: Value = serde_json::from_slice(&file).unwrap();
        let profile = &file["profiles"][0];
        let frames = file["shared"]["frames"].as_array().unwrap();
        let (mut open, mut now, mut busy) = (Vec::new(), 0, 0);
        for event in profile["events"].as_array().unwrap() {
            let (at, frame) = (event["at"].as_u64().unwrap(), event["frame"].as_u64().unwrap());
            assert!(at >= now && (frame as usize) < frames.len(), "{event}");
            busy += if open.is_empty() { 0 } else { at - now };
            now = at;
            match event["type"].as_str() {
                Some("O") => open.push(frame),
                Some("C") => assert_eq!(open.pop(), Some(frame), "{event}"),
                _ => panic!("{event}"),
            }
        }
        assert!(open.is_empty() && profile["endValue"] == instructions, "{capture}");
        assert_eq!(busy, instructions, "{capture}");
    }
}

/// Damage is a gap, and everything is closed before it.
#[test]
fn a_gap_ends_all_calls() {
    let place = Place::new("export-gap");
    let (capture, instructions) = captures(&place).swap_remove(0);
    let mut bytes = std::fs::read(place.dir.join(&capture)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4].fill(0xff);
    place.write(&capture, &bytes);
    let output = place.run(&format!("export {capture} --to folded -o folded.txt"));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("gap"), "{}", stderr(&output));
    let text = std::fs::read_to_string(place.dir.join("folded.txt")).unwrap();
    let sum: u64 =
        text.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    assert!(sum > 0 && sum < instructions, "{sum} of {instructions}");
}
