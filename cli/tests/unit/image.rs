use super::*;

#[test]
fn what_cannot_be_loaded() {
    let status = |error| Failure::from(Unloadable { name: "a.elf".into(), error }).status();
    assert_eq!(status(ElfError::Xlen { found: Xlen::Rv64, expected: Xlen::Rv32 }), 2);
    assert_eq!(status(ElfError::Machine(62)), 3);
    assert_eq!(status(ElfError::NotElf(String::new())), 3);
}
