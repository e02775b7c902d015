use super::*;

fn placed(path: &str, address: u64) -> Placed {
    Placed { path: path.into(), address }
}

#[test]
fn addresses() {
    assert_eq!(parse_address("0x1000"), Ok(0x1000));
    assert_eq!(parse_address("0xffff_ffbf_8000_0000"), Ok(0xffff_ffbf_8000_0000));
    assert_eq!(parse_address("4096"), Ok(4096));
    for bad in ["", "0x", "1000h", "0x1ffffffffffffffff", "-1"] {
        assert!(parse_address(bad).is_err(), "{bad}");
    }
}

#[test]
fn programs_and_images() {
    assert_eq!(parse_elf("a.elf"), Ok(placed("a.elf", 0)));
    assert_eq!(parse_elf("pk@0xffffffbf80000000"), Ok(placed("pk", 0xffff_ffbf_8000_0000)));
    assert_eq!(parse_elf("me@home/a.elf"), Ok(placed("me@home/a.elf", 0)));
    assert_eq!(parse_image("me@home/rom@0x1000"), Ok(placed("me@home/rom", 0x1000)));
    assert!(parse_image("rom").is_err());
    assert!(parse_elf("a@0xg").is_err());
    assert_eq!(parse_context_elf("0x1f=a=b@0x10"), Ok((31, placed("a=b", 0x10))));
    assert!(parse_context_elf("a.elf").is_err() && parse_context_elf("a=b").is_err());
}

#[test]
fn trap_vectors() {
    assert_eq!(parse_tvec("m=0x80000101"), Ok((Privilege::M, 0x8000_0101)));
    assert_eq!(parse_tvec("S=0"), Ok((Privilege::S, 0)));
    assert_eq!(parse_tvec("6=0x10"), Ok((Privilege::VS, 0x10)));
    assert!(parse_tvec("x=0").is_err());
    assert!(parse_tvec("m").is_err());
}
