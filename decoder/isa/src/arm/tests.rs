use crate::arm::*;

const ALL: Rules = Rules { arch: Arch::Later, barriers: true, wfx: true };
const FEW: Rules = Rules { arch: Arch::V8, barriers: false, wfx: false };

fn kind(isa: Isa, opcode: u32) -> Kind {
    decode(isa, &ALL, 0x1000, opcode).kind
}

#[test]
fn a64_is_told_by_architecture_and_configuration() {
    let both = |opcode| {
        let of = |rules| decode(Isa::A64, rules, 0, opcode).kind;
        (of(&FEW), of(&ALL))
    };
    assert_eq!(both(0xd65f_03c0), (Kind::Indirect, Kind::Indirect)); // ret
    assert_eq!(both(0xd65f_0bff), (Kind::Other, Kind::Indirect)); // retaa
    assert_eq!(both(0xd69f_0fff), (Kind::Other, Kind::Indirect)); // eretab
    assert_eq!(both(0xd503_3fdf), (Kind::Isb, Kind::Isb));
    assert_eq!(both(0xd503_3f9f), (Kind::Other, Kind::Barrier)); // dsb sy
    assert_eq!(both(0xd503_207f), (Kind::Other, Kind::Wfx)); // wfi
    assert_eq!(both(0xd523_3060), (Kind::Other, Kind::TransactionStart));
    assert_eq!(both(0xd503_245f), (Kind::Other, Kind::Other)); // bti c
    assert_eq!(both(0xd503_233f), (Kind::Other, Kind::Other)); // paciasp
    assert_eq!(decode(Isa::A64, &ALL, 0, 0xd65f_0bff).returns, Return::Ret);
    assert_eq!(decode(Isa::A64, &ALL, 0, 0xd69f_03e0).returns, Return::Eret);
    assert!(decode(Isa::A64, &ALL, 0, 0xd73f_0820).link); // blraa
}

#[test]
fn a64_targets_go_both_ways() {
    let to = |opcode| match kind(Isa::A64, opcode) {
        Kind::Direct { target, isa: Isa::A64 } => target,
        other => panic!("{other:?}"),
    };
    assert_eq!(to(0x17ff_ffff), 0xffc); // b -4
    assert_eq!(to(0x5400_0040), 0x1008); // b.eq +8
    assert_eq!(to(0xb4ff_ffe0), 0xffc); // cbz -4
    assert_eq!(to(0x3707_ffe0), 0xffc); // tbnz -4
}

#[test]
fn a32_and_t32_change_the_instruction_set() {
    let blx = decode(Isa::A32, &FEW, 0x1000, 0xfb00_0000);
    assert_eq!(blx.kind, Kind::Direct { target: 0x100a, isa: Isa::T32 });
    assert!(blx.link && !blx.conditional);
    let blx = decode(Isa::T32, &FEW, 0x1002, 0xf000_e800);
    assert_eq!(blx.kind, Kind::Direct { target: 0x1004, isa: Isa::A32 });
    assert_eq!(blx.size, 4);
}

#[test]
fn t32_has_two_sizes_and_it_blocks() {
    let it = |opcode: u32| decode(Isa::T32, &FEW, 0, opcode << 16).it;
    assert_eq!(it(0xbf08), 1); // it eq
    assert_eq!(it(0xbf04), 2);
    assert_eq!(it(0xbf01), 4);
    assert_eq!(it(0xbf00), 0); // nop
    assert!(!is_wide(0xe7fe));
    assert!(is_wide(0xe800) && is_wide(0xf000) && is_wide(0xffff));
    let cbz = decode(Isa::T32, &FEW, 0x1000, 0xb100_0000);
    assert_eq!(cbz.kind, Kind::Direct { target: 0x1004, isa: Isa::T32 });
    assert!(cbz.conditional);
    assert_eq!(kind(Isa::T32, 0xbd10_0000), Kind::Indirect); // pop {r4, pc}
    assert_eq!(kind(Isa::T32, 0x4770_0000), Kind::Indirect); // bx lr
}

#[test]
fn spaces_have_names() {
    let secure = Spaces::named("S").unwrap();
    assert!(secure.contains(Space::of(3, false, false)));
    assert!(!secure.contains(Space::of(1, true, false)));
    assert_eq!(Spaces::named("EL2"), Some(Spaces::of(Space::El2N)));
    assert_eq!(Space::of(0, true, false), Space::El1N);
    assert_eq!(Space::of(3, false, true), Space::Root);
    assert_eq!(Spaces::named("?"), None);
}
