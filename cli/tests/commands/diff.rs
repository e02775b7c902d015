//! `hartrace diff`.

use crate::place::{Place, stderr, stdout};
use serde_json::Value;

fn program(name: &str) -> String {
    format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"))
}

/// The modes of the encoder make no difference to what is executed.
#[test]
fn modes_make_no_difference() {
    let place = Place::new("delta-modes");
    let calls = program("calls");
    place.clean(&format!("run {calls} -o a.te"));
    place.clean(&format!("run {calls} --encode ir+bp+jtc -o b.te"));
    assert_eq!(place.clean("diff a.te b.te"), "both traces have the same 211317 instructions\n");
}

/// The first difference is where the lists of addresses differ first.
#[test]
fn the_first_difference_has_its_context() {
    let place = Place::new("delta-first");
    let linux = program("linux");
    let one = place.run(&format!("run {linux} -o a.te"));
    assert!(stderr(&one).contains("verified"), "{}", stderr(&one));
    // Another number of arguments, with which it gives up.
    let other = place.run(&format!("run {linux} -o b.te -- x"));
    assert!(stderr(&other).contains("verified"), "{}", stderr(&other));
    let [a, b] = ["a.te", "b.te"].map(|name| place.clean(&format!("decode {name}")));
    let same = a.lines().zip(b.lines()).take_while(|(a, b)| a == b).count();
    let output = place.run("diff a.te b.te --json");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let lines = |text: &str| text.lines().count();
    assert_eq!(json["instructions"], serde_json::json!([lines(&a), lines(&b)]));
    assert_eq!(json["first"][0][0]["instruction"], same);
    let next = |text: &str| format!("0x{}", text.lines().nth(same).unwrap());
    assert_eq!(json["first"][0][0]["first"]["iaddr"], *next(&a));
    assert_eq!(json["first"][0][1]["first"]["iaddr"], *next(&b));
    assert_eq!(json["stack"], serde_json::json!(["_start", "begin"]));
    let text = stdout(&place.run("diff a.te b.te --rows 3"));
    assert!(text.starts_with(&format!("the first {same} instructions are the same\n")), "{text}");
    assert!(text.contains("\nin begin, called by _start\n"), "{text}");
}

/// Sums of what only one trace has are the differences of what both have.
#[test]
fn what_one_has_more_of_adds_up() {
    let place = Place::new("delta-sums");
    let calls = program("calls");
    place.clean(&format!("run {calls} -o a.te"));
    place.run(&format!("run {calls} --limit 100000 -o b.te"));
    let output = place.run("diff a.te b.te --json --rows 1000");
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    for side in [0, 1] {
        let functions = json["functions"].as_array().unwrap().iter();
        let sum: u64 = functions.map(|function| number(&function["instructions"][side])).sum();
        assert_eq!(sum, number(&json["alone"][side]), "{side}");
    }
    let [a, b] = [0, 1].map(|side| number(&json["instructions"][side]));
    assert_eq!((a, b), (211_317, 100_000));
    assert_eq!(a - b, number(&json["alone"][0]) - number(&json["alone"][1]));
}

/// Different builds are compared by the names of functions, each with its own program.
#[test]
fn builds_are_compared_by_function() {
    let place = Place::new("delta-builds");
    let [first, second] = ["calls", "cva6/calls"].map(program);
    for (program, trace) in [(&first, "a.te"), (&second, "b.te")] {
        place.clean(&format!("run {program} -o {trace}"));
    }
    let output = place.run("diff a.te b.te --json");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["by"], "function");
    let functions = json["functions"].as_array().unwrap();
    // Each number is that of the folded stacks of the trace alone.
    for (side, trace) in ["a.te", "b.te"].into_iter().enumerate() {
        let folded = place.clean(&format!("export {trace} --format folded"));
        let mut own = std::collections::BTreeMap::<&str, u64>::new();
        for line in folded.lines() {
            let (stack, count) = line.rsplit_once(' ').unwrap();
            let name = stack.rsplit(';').next().unwrap();
            *own.entry(name).or_default() += count.parse::<u64>().unwrap();
        }
        assert_eq!(json["instructions"][side], own.values().sum::<u64>());
        let named = own.iter().filter(|(name, _)| !name.starts_with("0x"));
        for (name, count) in named.clone() {
            let row = functions.iter().find(|row| row["function"] == **name).unwrap();
            assert_eq!(row["instructions"][side], *count, "{name}");
        }
        let here = functions.iter().filter(|row| !row["instructions"][side].is_null());
        assert_eq!(here.count(), named.count());
    }
    let text = stdout(&place.run("diff a.te b.te --rows 3"));
    assert!(text.starts_with("different programs, compared by the names of functions: "), "{text}");
    assert!(text.contains("  function\n"), "{text}");
}
