//! Captures, options and files that are not what they seem: no command believes them without a word.

use crate::place::{Place, stderr, stdout};
use crate::run::{last_return, program};
use std::fs;

const UNENDED: &str = "the trace does not end: tracing was on at the last packet";

/// A trace of a bundled program, with its description; and where its packets start.
fn traced(place: &Place) -> (Vec<u8>, Vec<usize>) {
    fs::copy(program("calls"), place.dir.join("calls.elf")).unwrap();
    place.clean("run calls.elf -o c.te --retired c.htr --limit 3000");
    let dump = place.clean("dump c.te");
    // A frame is a byte longer than its payload.
    let start = |line: &str| line.split('.').next()?.trim().parse::<usize>().ok()?.checked_sub(1);
    let starts: Vec<_> = dump.lines().map(|line| start(line).unwrap()).collect();
    (fs::read(place.dir.join("c.te")).unwrap(), starts)
}

/// Writes a capture with the description of `c.te`, without what it says of the content.
fn described(place: &Place, name: &str, bytes: &[u8]) {
    let text = fs::read_to_string(place.dir.join("c.te.toml")).unwrap();
    let mut parts = text.split("\n[").filter(|part| !part.starts_with("capture]"));
    let text = parts.by_ref().collect::<Vec<_>>().join("\n[");
    place.write(&format!("{name}.toml"), text.as_bytes());
    place.write(name, bytes);
}

/// A page of a trace with another program has a banner, and one of the right program has none.
#[test]
fn a_page_of_another_program_says_so() {
    let place = Place::new("believed-page");
    let [calls, sort] = ["calls", "sort"]
        .map(|name| format!("{}/../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR")));
    place.clean(&format!("run {calls} --encode ir+bp -o c.te"));
    let doubts = |options: &str| {
        let output = place.run(&format!("report c.te -o c.html {options}"));
        assert!(output.status.code() < Some(2), "{}", stderr(&output));
        let page = std::fs::read_to_string(place.dir.join("c.html")).unwrap();
        let (_, data) = page.split_once("id=\"data\">").unwrap();
        let data: serde_json::Value =
            serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
        let doubts = data["about"]["doubts"].as_array().unwrap().clone();
        doubts.iter().map(|text| text.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(doubts(""), [""; 0]);
    let said = doubts(&format!("--elf {sort}")).join("\n");
    for what in
        ["this is not the program that was traced", "does not seem to be the one", " bytes ("]
    {
        assert!(said.contains(what), "{what}: {said}");
    }
    // Without a description, only the trace itself shows it.
    std::fs::copy(place.dir.join("c.te.toml"), place.dir.join("p.toml")).unwrap();
    std::fs::remove_file(place.dir.join("c.te.toml")).unwrap();
    let said = doubts(&format!("--params p.toml --elf {sort}")).join("\n");
    assert!(said.contains("does not seem to be the one"), "{said}");
}

#[test]
fn a_capture_that_was_cut_between_packets() {
    let place = Place::new("cut");
    let (bytes, starts) = traced(&place);
    let last = *starts.last().unwrap();
    described(&place, "cut.te", &bytes[..last]);
    let line = format!("cut.te: {UNENDED}, up to byte {last}\n");
    for (command, status) in [
        ("decode cut.te", 0),
        ("decode cut.te --emit edges", 0),
        ("decode cut.te --emit listing --threads 1", 0),
        ("stats cut.te", 0),
        ("export cut.te --format folded", 0),
        ("report cut.te -o page.html", 0),
        ("bundle cut.te -o cut.zip", 0),
        ("check cut.te --against c.htr", 0),
        ("diff cut.te cut.te", 0),
    ] {
        let output = place.run(command);
        let said = stderr(&output);
        let count = if command.starts_with("diff") { 2 } else { 1 };
        assert_eq!(said, line.repeat(count), "{command}");
        assert_eq!(output.status.code(), Some(status), "{command}");
        let written = command.split_once(" -o ").map(|(_, name)| place.dir.join(name));
        written.iter().for_each(|file| fs::remove_file(file).unwrap());
        let strict = place.run(&format!("{command} --strict"));
        assert!(!written.is_some_and(|file| file.exists()), "{command} --strict");
        assert_eq!(strict.status.code(), Some(1), "{command} --strict");
        assert_eq!(stderr(&strict), format!("error: {line}"), "{command} --strict");
    }
    let stats = |name: &str| -> serde_json::Value {
        serde_json::from_str(&stdout(&place.run(&format!("stats {name} --json")))).unwrap()
    };
    assert_eq!((&stats("cut.te")["ended"], &stats("c.te")["ended"]), (&false.into(), &true.into()));
    // Packets tell it without the program.
    fs::remove_file(place.dir.join("calls.elf")).unwrap();
    let said = stderr(&place.run("stats cut.te"));
    assert!(said.ends_with(&line), "{said}");
}

/// A description knows how many instructions were traced: fewer, or more, are not all followed.
#[test]
fn other_instructions_than_were_traced() {
    let place = Place::new("instructions");
    traced(&place);
    let text = fs::read_to_string(place.dir.join("c.te.toml")).unwrap();
    assert!(text.contains("instructions = 3000\n"), "{text}");
    place.write("c.te.toml", text.replace("instructions = 3000", "instructions = 3001").as_bytes());
    for command in ["stats c.te", "report c.te -o page.html"] {
        let output = place.run(command);
        let what = "c.te: 3000 instructions, but 3001 were traced";
        assert!(stderr(&output).starts_with(&format!("warning: {what}; try the program")));
        assert_eq!(output.status.code(), Some(1), "{command}");
        let strict = place.run(&format!("{command} --strict"));
        assert!(stderr(&strict).starts_with(&format!("error: {what}\n")), "{}", stderr(&strict));
        assert_eq!(strict.status.code(), Some(1), "{command}");
    }
    // Parameters may be of another capture.
    assert_eq!(place.run("stats c.te --params c.te.toml").status.code(), Some(0));
}

/// Wherever a capture is cut, and whatever follows.
#[test]
fn captures_that_were_joined() {
    let place = Place::new("joined");
    let (bytes, starts) = traced(&place);
    let run = |name: &str, bytes: &[u8], options: &str| {
        described(&place, name, bytes);
        place.run(&format!("stats {name} {options}"))
    };
    let twice = run("twice.te", &[&bytes[..], &bytes].concat(), "--strict");
    assert_eq!(twice.status.code(), Some(0), "an encoder may be disabled and enabled again");
    let second = format!("twice.te: a second trace starts at byte {}", bytes.len());
    assert!(stderr(&twice).starts_with(&second), "{}", stderr(&twice));
    assert_eq!(stderr(&twice).lines().count(), 1, "{}", stderr(&twice));
    // Two packets start a trace, and after the third something has retired.
    for start in starts.iter().skip(2).step_by(starts.len() / 40) {
        let joined = [&bytes[..*start], &bytes].concat();
        let output = run("joined.te", &joined, "");
        assert!(!stderr(&output).is_empty(), "cut at {start}");
        let strict = run("joined.te", &joined, "--strict");
        assert_eq!(strict.status.code(), Some(1), "cut at {start}: {}", stderr(&strict));
    }
}

#[test]
fn a_bundle_holds_the_program_that_was_traced() {
    let place = Place::new("other-program");
    traced(&place);
    fs::copy(program("sort"), place.dir.join("sort.elf")).unwrap();
    // What a run before has left.
    let _ = fs::remove_file(place.dir.join("b.zip"));
    let refused = place.run("bundle c.te --elf sort.elf -o b.zip");
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("sort.elf: not packed"), "{}", stderr(&refused));
    assert!(!place.dir.join("b.zip").exists());
    // With a symbol more, the code is the same.
    let whole = fs::read(program("calls")).unwrap();
    let mut similar = [&whole[..], &[0]].concat();
    place.write("similar.elf", &similar);
    place.clean("bundle c.te --elf similar.elf -o b.zip");
    // Another program may be meant.
    similar[last_return(&whole)] ^= 0x80;
    place.write("patched.elf", &similar);
    let packed = place.run("bundle c.te --elf patched.elf --other-program -o b.zip");
    assert_eq!(packed.status.code(), Some(0), "{}", stderr(&packed));
    place.run("bundle b.zip -o again.zip");
    for bundle in ["b.zip", "again.zip"] {
        for command in ["decode", "stats", "decode --elf patched.elf"] {
            let said = stderr(&place.run(&format!("{command} {bundle}")));
            assert!(said.starts_with("warning: ") && said.contains("not the program"), "{said}");
            assert!(said.contains("XXH3 of code"), "{command}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}

/// Whoever writes a description may name any file in it, and a bundle is sent around.
#[test]
fn a_bundle_holds_no_file_that_nothing_identifies() {
    let place = Place::new("strangers");
    traced(&place);
    let description = fs::read_to_string(place.dir.join("c.te.toml")).unwrap();
    let folder = place.dir.join("sent");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(place.dir.join("c.te"), folder.join("c.te")).unwrap();
    fs::copy(program("calls"), folder.join("calls.elf")).unwrap();
    place.write("secret", &[0; 8]);
    #[cfg(unix)]
    {
        let _ = fs::remove_file(folder.join("link"));
        std::os::unix::fs::symlink("../secret", folder.join("link")).unwrap();
    }
    let absolute = place.dir.join("secret").display().to_string();
    for file in ["../secret", &absolute, "link"] {
        let more = format!("\n[[programs]]\nfile = \"{file}\"\naddress = \"0x10000\"\n");
        fs::write(folder.join("c.te.toml"), format!("{description}{more}")).unwrap();
        let refused = place.run("bundle sent/c.te -o b.zip");
        assert_eq!(refused.status.code(), Some(3), "{file}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("not packed"), "{file}: {}", stderr(&refused));
        place.clean("bundle sent/c.te --elf sent/calls.elf -o b.zip");
    }
}

/// Code decides, not what is around it: symbols may be stripped, and a build ID stays when code is patched.
#[test]
fn the_code_that_was_traced() {
    let place = Place::new("code");
    traced(&place);
    let whole = fs::read(program("calls")).unwrap();
    let mut stripped = whole.clone();
    stripped[0x28..0x30].fill(0);
    stripped[0x3c..0x40].fill(0);
    place.write("calls.elf", &stripped);
    assert_eq!(stderr(&place.run("stats --strict c.te")), "");
    let mut patched = whole.clone();
    patched[last_return(&whole)] ^= 0x80;
    place.write("calls.elf", &patched);
    for command in ["stats", "decode", "bundle -o b.zip"] {
        let refused = place.run(&format!("{command} c.te"));
        assert_eq!(refused.status.code(), Some(3), "{command}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("XXH3 of code"), "{command}: {}", stderr(&refused));
    }
    // A bundle with it says so, until the traced one is given.
    place.run("bundle c.te --elf calls.elf --other-program -o b.zip");
    place.write("traced.elf", &whole);
    assert!(stderr(&place.run("stats b.zip")).contains("not the program"));
    assert_eq!(stderr(&place.run("stats b.zip --elf traced.elf")), "");
    place.clean("bundle b.zip --elf traced.elf -o again.zip");
    assert_eq!(stderr(&place.run("stats again.zip")), "");
}

#[test]
fn options_that_contradict_the_description() {
    let place = Place::new("contradictions");
    traced(&place);
    let text = fs::read_to_string(place.dir.join("c.te.toml")).unwrap();
    place.write("same.toml", text.as_bytes());
    assert_eq!(stderr(&place.run("decode c.te --params same.toml --xlen 64")), "");
    place.write("other.toml", text.replace("iaddress_lsb_p = 1", "iaddress_lsb_p = 0").as_bytes());
    for command in
        ["decode", "stats", "dump", "explain", "bundle -o b.zip", "check --against c.htr"]
    {
        let said = stderr(&place.run(&format!("{command} c.te --params other.toml")));
        let line = "warning: c.te.toml: iaddress_lsb_p is described as 1, but taken as 0\n";
        assert!(said.starts_with(line) && said.matches(line).count() == 1, "{command}: {said}");
    }
    let said = stderr(&place.run("decode c.te --framing smi"));
    assert!(said.contains("framing is described as reference, but taken as smi"), "{said}");
    let said = stderr(&place.run("decode c.te --tvec m=0x10"));
    assert_eq!(said, "", "no vector is described");
    place
        .write("c.te.toml", text.replace("\n[[pro", "\n[trap-vectors]\nm = 4\n\n[[pro").as_bytes());
    let said = stderr(&place.run("decode c.te --tvec m=0x10"));
    assert!(said.contains("privilege 3 is described as 0x4, but taken as 0x10"), "{said}");
}

#[test]
fn limits_without_anything_between_them() {
    let place = Place::new("past-the-end");
    traced(&place);
    let count = place.clean("decode c.te").lines().count();
    for emit in ["pcs", "listing", "edges", "json", "blocks"] {
        for (from, what) in [
            (
                format!("{count}"),
                format!("the trace has {count} instructions; --from {count} is past"),
            ),
            ("packet:999999".into(), "--from packet:999999 is past its end".into()),
            ("byte:999999".into(), "--from byte:999999 is past its end".into()),
            ("packet:200 --to 5".into(), "--to, which comes first".into()),
        ] {
            let output = place.run(&format!("decode c.te --emit {emit} --from {from}"));
            assert_eq!(output.status.code(), Some(1), "{emit} {from}");
            assert!(stderr(&output).contains(&what), "{emit} {from}: {}", stderr(&output));
        }
    }
    assert_eq!(place.clean(&format!("decode c.te --from {}", count - 1)).lines().count(), 1);
}

#[test]
fn a_description_has_a_place() {
    let place = Place::new("probe-standard");
    let (bytes, _) = traced(&place);
    let output = place.fed("probe - --elf calls.elf --write", &bytes);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("beside the capture"), "{}", stderr(&output));
}

#[test]
fn a_bundle_with_two_captures() {
    let place = Place::new("two-captures");
    let (bytes, _) = traced(&place);
    fs::create_dir_all(place.dir.join("b")).unwrap();
    let described = fs::read(place.dir.join("c.te.toml")).unwrap();
    for (name, content) in [("c.te", &bytes), ("d.te", &bytes), ("c.te.toml", &described)] {
        place.write(&format!("b/{name}"), content);
    }
    fs::copy(program("calls"), place.dir.join("b/calls.elf")).unwrap();
    let contents = "[trace]\nmetadata=c.te.toml\nbuffer0=c.te\n";
    place.write("b/contents.ini", contents.as_bytes());
    assert_eq!(place.clean("decode b"), place.clean("decode c.te"));
    place.write("b/contents.ini", format!("{contents}buffer1=d.te\n").as_bytes());
    for command in ["decode", "stats", "dump"] {
        let output = place.run(&format!("{command} b"));
        assert_eq!(output.status.code(), Some(3), "{command}");
        assert!(
            stderr(&output).contains("contents.ini: buffer1 in [trace]"),
            "{}",
            stderr(&output)
        );
    }
}
