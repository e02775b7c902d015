//! Captures from which nothing can be decoded: no command is silent about them, or calls them clean.

use crate::place::{Place, stderr, stdout};

const LINE: &str = "--params p.toml --xlen 64";
const PROGRAM: &str = "--image code@0x80000000";

/// The status and the messages of a command.
fn run(place: &Place, line: &str) -> (Option<i32>, String) {
    let output = place.run(line);
    (output.status.code(), stderr(&output))
}

/// Each kind of capture: its name, its framing, and what the message says about it.
const CAPTURES: [(&str, &str, &str); 4] = [
    ("empty", "", "the capture is empty; try a capture that is not empty"),
    ("nulls", "--framing encap", "no packet in 4096 bytes; try another --framing"),
    ("support", "", "2 packets in 6 bytes, none of them a synchronisation; try a longer capture"),
    ("one", "", "one packet in 3 bytes, which is not a synchronisation; try a longer capture"),
];

fn place(name: &str) -> Place {
    let place = Place::new(name);
    place.write("empty", &[]);
    place.write("nulls", &[0; 4096]);
    place.write("support", &[0x42, 0x1f, 0x04, 0x42, 0x1f, 0x04]);
    place.write("one", &[0x42, 0x1f, 0x04]);
    place.write("nothing", &[]);
    place
}

#[test]
fn nothing_is_decoded_silently() {
    let place = place("silence");
    for (capture, framing, found) in CAPTURES {
        for command in [
            format!("decode {capture} {LINE} {framing} {PROGRAM}"),
            format!("decode {capture} {LINE} {framing} {PROGRAM} --emit edges"),
            format!("decode {capture} {LINE} {framing} {PROGRAM} --emit json --from 3"),
            format!("stats {capture} {LINE} {framing}"),
            format!("stats {capture} {LINE} {framing} {PROGRAM}"),
            format!("dump {capture} {LINE} {framing}"),
            format!("check {capture} {LINE} {framing} {PROGRAM} --against nothing"),
        ] {
            let (status, message) = run(&place, &command);
            assert_eq!(status, Some(1), "{command}: {message}");
            let line = format!("{capture}: nothing to decode: {found}");
            assert!(message.starts_with(&line), "{command}: {message}");
            assert_eq!(message.lines().count(), 1, "{command}: {message}");
        }
    }
    // With this framing, zeros are damage, which is a gap.
    let (status, message) = run(&place, &format!("decode nulls {LINE} {PROGRAM}"));
    assert_eq!(status, Some(1));
    assert!(message.contains("gap at byte 0"), "{message}");
    let (status, message) = run(&place, &format!("diff --packets empty nothing {LINE}"));
    assert_eq!(status, Some(1));
    assert!(message.starts_with("empty: nothing to decode: the capture is empty"), "{message}");
}

#[test]
fn a_check_of_nothing_is_no_success() {
    let place = place("check-nothing");
    let output = place.run(&format!("check empty {LINE} {PROGRAM} --against nothing"));
    assert_eq!(output.status.code(), Some(1));
    let text = "nothing to compare: neither empty nor nothing has an instruction\n";
    assert_eq!(stdout(&output), text);
    // Something was expected.
    place.write("pcs", b"80000000\n");
    let output = place.run(&format!("check support {LINE} {PROGRAM} --against pcs"));
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).contains("nothing to decode"), "{}", stderr(&output));
}

#[test]
fn check_prints_json() {
    let place = place("check-json");
    place.encoded();
    place.write("pcs", crate::PCS.as_bytes());
    let json = |line: &str, status| -> serde_json::Value {
        let output = place.run(&format!("check trace {LINE} {PROGRAM} --json {line}"));
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let equal = json("--against pcs", 0);
    assert_eq!((&equal["equal"], &equal["verified"]), (&true.into(), &6.into()));
    assert!(equal["difference"].is_null());
    place.write("other", crate::PCS.replace("80000008", "8000000c").as_bytes());
    let differs = json("--against other", 4);
    let difference = &differs["difference"];
    assert_eq!((&difference["instruction"], &difference["line"]), (&4.into(), &5.into()));
    assert_eq!(difference["decoded"], "0x0000000080000008");
    assert_eq!(difference["expected"], "0x000000008000000c");
}

/// Compressed captures that would fill the memory.
#[test]
fn a_few_compressed_bytes_are_not_read_as_a_whole() {
    let place = place("bomb");
    let bomb = zstd::encode_all(std::io::Read::take(std::io::repeat(0), 300 << 20), 1).unwrap();
    assert!(bomb.len() < 1 << 16);
    place.write("bomb.zst", &bomb);
    for line in [
        format!("dump bomb.zst {LINE}"),
        format!("diff --packets bomb.zst bomb.zst {LINE}"),
        format!("decode empty {LINE} --elf bomb.zst"),
    ] {
        let (status, message) = run(&place, &line);
        assert_eq!(status, Some(3), "{line}: {message}");
        let text = "error: bomb.zst: more than 256 MiB when decompressed\n  try: ";
        assert!(message.starts_with(text), "{line}: {message}");
    }
    // As it arrives, a capture may have any length.
    let (status, message) =
        run(&place, &format!("decode bomb.zst {LINE} --framing encap {PROGRAM}"));
    assert_eq!(status, Some(1));
    assert!(message.contains("no packet in 314572800 bytes"), "{message}");
}

/// Another program at the same addresses.
#[test]
fn a_wrong_program_is_noticed() {
    let place = place("wrong");
    place.encoded();
    let gap = |code: &[u32]| {
        place.write("code", &code.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        let (status, message) = run(&place, &format!("decode trace {LINE} {PROGRAM}"));
        assert_eq!(status, Some(1), "{message}");
        message
    };
    // The address of the jump is in the middle of an instruction.
    let message = gap(&[0x0001_0001, 0x0000_0013, 0x0013_0001, 0x0000_0000, 0x0000_0013]);
    assert!(message.contains("gap at byte"), "{message}");
}

/// `cm.popret` is a return with Zcmp, and a store without.
#[test]
fn extensions_come_from_the_program_or_the_command_line() {
    let place = place("isa");
    // cm.popret {ra}, 16; nop
    let code = [0xbe42_u16, 0x0001, 0x0001, 0x0001];
    place.write("code", &code.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<_>>());
    // It returns to itself + 4.
    let run = "itype_0,cause,tval,priv,iaddr_0,context,ctype,sijump_0,iretire_0,ilastsize_0\n\
               13,0,0,3,80000000,0,0,0,1,0\n0,0,0,3,80000004,0,0,0,1,0\n";
    place.write("run.csv", run.as_bytes());
    place.clean("encode run.csv --params p.toml --xlen 32 -o trace");
    let decode = |options: &str| {
        let line = "decode trace --params p.toml --xlen 32 --image code@0x80000000";
        place.run(&format!("{line} {options}"))
    };
    let (with, without) = (decode("--isa rv32imc_zcmp"), decode(""));
    assert_eq!(stdout(&with), "0000000080000000\n0000000080000004\n", "{}", stderr(&with));
    assert_eq!(with.status.code(), Some(0));
    assert_ne!(stdout(&without), stdout(&with));
    for (options, what) in [
        ("--isa rv64imc_zcmp", "--isa of RV64, but the trace is of RV32"),
        ("--isa zcmp", "write the base and extensions, for example rv32imac_zcmp"),
    ] {
        let output = decode(options);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(what), "{}", stderr(&output));
    }
}
