use super::*;

#[test]
fn what_cannot_be_loaded() {
    let width = ElfError::Xlen { found: Xlen::Rv64, expected: Xlen::Rv32 };
    assert_eq!(unloadable(width).status(), 2);
    assert_eq!(unloadable(ElfError::Machine(62)).status(), 3);
    assert_eq!(unloadable(ElfError::NotElf(String::new())).status(), 3);
}
