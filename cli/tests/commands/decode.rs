//! The exact output of `decode` for a small program with symbols and source lines.

use crate::place::{Place, stderr, stdout};

/// See program.s.
const PROGRAM: &[u8] = include_bytes!("program.elf");

const HEADER: &str =
    "itype_0,cause,tval,priv,iaddr_0,context,ctype,sijump_0,iretire_0,ilastsize_0\n";

/// Two turns of its loop, the trap and the return from it.
const RUN: &str = "\
0,0,0,3,80000000,0,0,0,1,0
9,0,0,3,80000002,0,0,0,1,1
0,0,0,3,8000000e,0,0,0,1,1
13,0,0,3,80000012,0,0,0,1,0
0,0,0,3,80000006,0,0,0,1,0
5,0,0,3,80000008,0,0,0,1,0
0,0,0,3,80000000,0,0,0,1,0
9,0,0,3,80000002,0,0,0,1,1
0,0,0,3,8000000e,0,0,0,1,1
13,0,0,3,80000012,0,0,0,1,0
0,0,0,3,80000006,0,0,0,1,0
4,0,0,3,80000008,0,0,0,1,0
1,11,0,3,8000000a,0,0,0,0,1
0,0,0,3,80000014,0,0,0,1,1
3,0,0,3,80000018,0,0,0,1,1
0,0,0,3,80000000,0,0,0,1,0
";

pub(crate) const LINE: &str = "decode trace --params p.toml --xlen 64 --elf program.elf";

pub(crate) fn place(name: &str) -> Place {
    let place = Place::new(name);
    place.write("run.csv", format!("{HEADER}{RUN}").as_bytes());
    place.write("program.elf", PROGRAM);
    place.encoded();
    place
}

const LISTING: &str = "\
-- packet 1, byte 3: on
-- packet 1, byte 3: privilege 3, context 0x0, time 0
<_start>:
/src/program.s:6
  0x0000000080000000  4509      li a0,2
/src/program.s:7
  0x0000000080000002  00c000ef  jal 0x8000000e <square>
<square>:
/src/program.s:12
  0x000000008000000e  02a50533  mul a0,a0,a0
/src/program.s:13
  0x0000000080000012  8082      ret
<_start+0x6>:
/src/program.s:8
  0x0000000080000006  1575      addi a0,a0,-3
/src/program.s:9
  0x0000000080000008  fd65      bnez a0,0x80000000 <_start>
/src/program.s:6
  0x0000000080000000  4509      li a0,2
/src/program.s:7
  0x0000000080000002  00c000ef  jal 0x8000000e <square>
<square>:
/src/program.s:12
  0x000000008000000e  02a50533  mul a0,a0,a0
/src/program.s:13
  0x0000000080000012  8082      ret
<_start+0x6>:
/src/program.s:8
  0x0000000080000006  1575      addi a0,a0,-3
/src/program.s:9
  0x0000000080000008  fd65      bnez a0,0x80000000 <_start>
-- packet 5, byte 27: exception 11 (environment call from machine mode), epc 0x000000008000000a, tval 0x0000000000000000
-- packet 5, byte 27: privilege 3, context 0x0, time 0
<handler>:
/src/program.s:16
  0x0000000080000014  342025f3  csrr a1,mcause
/src/program.s:17
  0x0000000080000018  30200073  mret
<_start>:
/src/program.s:6
  0x0000000080000000  4509      li a0,2
-- packet 7, byte 40: off, ended_ntr
";

const BLOCKS: &str = "\
0x0000000080000000 0x0000000080000006     2 jump     <_start>
0x000000008000000e 0x0000000080000014     2 indirect <square>
0x0000000080000006 0x000000008000000a     2 branch   <_start+0x6>
0x0000000080000000 0x0000000080000006     2 jump     <_start>
0x000000008000000e 0x0000000080000014     2 indirect <square>
0x0000000080000006 0x000000008000000a     2 branch   <_start+0x6>
0x0000000080000014 0x000000008000001c     2 indirect <handler>
0x0000000080000000 0x0000000080000002     1 -        <_start>
";

const EDGES: &str = "\
from               to                 kind            count
0x0000000080000002 0x000000008000000e jump                2  <_start+0x2> -> <square>
0x0000000080000012 0x0000000080000006 indirect            2  <square+0x4> -> <_start+0x6>
0x0000000080000008 0x0000000080000000 branch              1  <_start+0x8> -> <_start>
0x0000000080000018 0x0000000080000000 indirect            1  <handler+0x4> -> <_start>
";

const EVENTS: &str = r#"
{"packet":4,"byte":21,"event":"retired","iaddr":"0x0000000080000008"}
{"packet":5,"byte":27,"event":"trap","ecause":11,"interrupt":false,"tval":"0x0000000000000000","epc":"0x000000008000000a"}
{"packet":5,"byte":27,"event":"context","privilege":3,"context":0,"time":0}
{"packet":5,"byte":27,"event":"retired","iaddr":"0x0000000080000014"}
{"packet":6,"byte":34,"event":"retired","iaddr":"0x0000000080000018"}
{"packet":6,"byte":34,"event":"retired","iaddr":"0x0000000080000000"}
{"packet":7,"byte":40,"event":"off","qual_status":"ended_ntr"}
"#;

#[test]
fn forms() {
    let place = place("forms");
    assert_eq!(place.clean(&format!("{LINE} --emit listing")), LISTING);
    assert_eq!(place.clean(&format!("{LINE} --emit blocks")), BLOCKS);
    assert_eq!(place.clean(&format!("{LINE} --emit edges")), EDGES);
    let json = place.clean(&format!("{LINE} --emit json"));
    assert!(json.starts_with("{\"packet\":1,\"byte\":3,\"event\":\"on\"}\n"), "{json}");
    assert!(json.ends_with(EVENTS), "{json}");
    assert_eq!(place.clean(&format!("{LINE} --emit events")), json);
}

#[test]
fn blocks_and_edges_as_json() {
    let place = place("forms-json");
    let blocks = place.clean(&format!("{LINE} --emit blocks --json"));
    assert_eq!(blocks.lines().count(), BLOCKS.lines().count());
    assert_eq!(
        blocks.lines().last().unwrap(),
        r#"{"start":"0x0000000080000000","end":"0x0000000080000002","insns":1,"leaves":null,"symbol":"_start"}"#
    );
    let edges = place.clean(&format!("{LINE} --emit edges --json"));
    assert_eq!(edges.lines().count() + 1, EDGES.lines().count());
    assert_eq!(
        edges.lines().next().unwrap(),
        r#"{"from":"0x0000000080000002","to":"0x000000008000000e","kind":"jump","count":2,"from_symbol":"_start+0x2","to_symbol":"square"}"#
    );
}

/// Bare code, and a file without symbols, have no names.
#[test]
fn code_without_names() {
    let place = Place::new("nameless");
    place.encoded();
    let line = "decode trace --params p.toml --xlen 64 --image code@0x80000000 --emit";
    assert_eq!(
        place.clean(&format!("{line} listing --from 4 --to 6")),
        "  0x0000000080000008  00028067  jr t0\n  0x0000000080000010  00000013  nop\n"
    );
    let blocks = place.clean(&format!("{line} blocks --to 2"));
    assert_eq!(blocks, "0x0000000080000000 0x0000000080000008     2 branch\n");
    let edges = place.clean(&format!("{line} edges"));
    assert!(edges.ends_with(" indirect            1\n"), "{edges}");
}

#[test]
fn a_stretch_of_it() {
    let place = place("stretch");
    let pcs = place.clean(LINE);
    let lines: Vec<_> = pcs.lines().collect();
    let part = |limits: &str| {
        let text = place.clean(&format!("{LINE} {limits}"));
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(part("--from 3 --to insn:6"), lines[3..6]);
    assert_eq!(part("--from 14"), lines[14..]);
    assert_eq!(part("--from packet:3 --to packet:5"), lines[5..12]);
    assert_eq!(part("--from byte:16 --to byte:27"), lines[11..12]);
    assert_eq!(place.run(&format!("{LINE} --from 100")).status.code(), Some(1));

    // A run that is cut ends where it is cut.
    let cut = place.clean(&format!("{LINE} --emit blocks --from 1 --to 3"));
    assert_eq!(
        cut,
        "0x0000000080000002 0x0000000080000006     1 jump     <_start+0x2>\n\
         0x000000008000000e 0x0000000080000012     1 -        <square>\n"
    );
    let edges = place.clean(&format!("{LINE} --emit edges --from 1 --to 3"));
    assert_eq!(edges.lines().count(), 2, "{edges}");
    let listing = place.clean(&format!("{LINE} --emit listing --from packet:5"));
    assert!(listing.starts_with("-- packet 5, byte 27: exception 11"), "{listing}");
    assert!(LISTING.ends_with(&listing));
}

/// The trace twice, with bytes in between that are not a frame.
fn damaged(place: &Place) {
    let trace = std::fs::read(place.dir.join("trace")).unwrap();
    place.write("damaged", &[&trace[..], &[0xff, 0xff], &trace].concat());
    place.write("cut", &[&trace[..], &[0xff, 0xff]].concat());
}

const GAP: &str = "gap at byte 43, packet 8: no frame starts with header 0xff";
const TRY: &str = "try another --framing, or a capture without damage\n";

#[test]
fn gaps_say_where_decoding_went_on() {
    let place = place("resumed");
    damaged(&place);
    let line = LINE.replace("trace", "damaged");
    let output = place.run(&format!("{line} --emit json"));
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    let gap = format!("damaged: {GAP}; resumed at byte 48, packet 9; {TRY}");
    assert!(said.starts_with(&gap), "{said}");
    let again = "damaged: a second trace starts at byte 45, packet 8";
    assert!(said[gap.len()..].starts_with(again), "{said}");
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().filter(|line| !line.contains("retired")).collect();
    let gap = lines.iter().position(|line| line.contains("gap")).unwrap();
    assert_eq!(
        lines[gap..gap + 3],
        [
            r#"{"packet":8,"byte":43,"event":"gap","cause":"no frame starts with header 0xff"}"#,
            r#"{"packet":8,"byte":45,"event":"restart"}"#,
            r#"{"packet":9,"byte":48,"event":"on"}"#,
        ]
    );
    let output = place.run(&format!("{line} --emit listing"));
    let note = "-- packet 8, byte 43: gap: no frame starts with header 0xff\n";
    assert!(stdout(&output).starts_with(&format!("{LISTING}{note}")), "{}", stdout(&output));

    let output = place.run(&LINE.replace("trace", "cut"));
    assert_eq!(stderr(&output), format!("cut: {GAP}; never resumed; {TRY}"));
    // The rest was not read, so it is not known whether decoding resumes.
    let output = place.run(&format!("{line} --to 15"));
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn strict_ends_at_the_first_gap() {
    let place = place("strict");
    damaged(&place);
    let options = "--params p.toml --xlen 64 --elf program.elf --strict";
    let pcs = place.clean(LINE);
    for (line, printed) in [
        (format!("decode damaged {options}"), pcs.as_str()),
        (format!("check damaged {options} --against run.csv"), ""),
        (format!("stats damaged {options}"), ""),
        ("stats damaged --params p.toml --xlen 64 --strict".to_owned(), ""),
    ] {
        let output = place.run(&line);
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert_eq!(stderr(&output), format!("error: damaged: {GAP}; {TRY}"), "{line}");
        assert_eq!(stdout(&output), printed, "{line}");
    }
    for command in ["decode trace", "stats trace", "check trace --against run.csv"] {
        place.clean(&format!("{command} {options}"));
    }
}

/// Two contexts have different code at the same addresses.
#[test]
fn programs_of_contexts() {
    let place = place("contexts");
    let jal = [0xef, 0x00, 0xc0, 0x00];
    let at = PROGRAM.windows(4).position(|bytes| bytes == jal).unwrap();
    let mut other = PROGRAM.to_vec();
    other[at..at + 4].copy_from_slice(&[0x13, 0, 0, 0]); // nop
    place.write("other.elf", &other);
    let rows = "\
0,0,0,3,80000000,1,0,0,1,0
9,0,0,3,80000002,1,0,0,1,1
0,0,0,3,8000000e,1,0,0,1,1
13,0,0,3,80000012,1,0,0,1,0
0,0,0,3,80000000,2,2,0,1,0
0,0,0,3,80000002,2,0,0,1,1
0,0,0,3,80000006,2,0,0,1,0
5,0,0,3,80000008,2,0,0,1,0
0,0,0,3,80000000,2,0,0,1,0
";
    place.write("run.csv", format!("{HEADER}{rows}").as_bytes());
    let params = "nocontext_p = false\ncontext_width_p = 4\n";
    place.write("p.toml", format!("{params}{}", crate::PARAMS).as_bytes());
    place.encoded();
    let options = "--params p.toml --xlen 64";
    let contexts = "--context-elf 1=program.elf --context-elf 0x2=other.elf";
    let check = place.clean(&format!("check trace {options} {contexts} --against run.csv"));
    assert_eq!(check, "verified 9 of 9\n");
    let listing = place.clean(&format!("decode trace {options} {contexts} --emit listing"));
    let second = listing.lines().filter(|line| line.contains("0x0000000080000002  "));
    let texts: Vec<_> = second.map(|line| line.split("  ").last().unwrap()).collect();
    assert_eq!(texts, ["jal 0x8000000e <square>", "nop"], "{listing}");
    // The context counts, even where it was set before what is printed.
    let line = format!("decode trace {options} {contexts} --emit listing --from 5 --to 6");
    assert!(place.clean(&line).ends_with("00000013  nop\n"));

    // One program for both is not enough; nor may one hide that it replaces the other.
    let one = format!("check trace {options} --elf program.elf --against run.csv");
    assert_ne!(place.run(&one).status.code(), Some(0));
    let both = format!("decode trace {options} --elf program.elf --context-elf 2=other.elf");
    let output = place.run(&both);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stderr(&output),
        "warning: other.elf: replaces other code from 0x0000000080000000 to 0x000000008000001c; \
         try another address or bias\n"
    );
}
