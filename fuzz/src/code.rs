//! Programs that are mostly control flow, so that walks make progress.

use arbitrary::{Result, Unstructured};

/// Creates up to about `max` half-words of code.
pub fn program(u: &mut Unstructured<'_>, max: usize) -> Result<Vec<u8>> {
    let mut code = Vec::new();
    for _ in 0..u.int_in_range(1..=max)? {
        instruction(u, &mut code)?;
    }
    Ok(code)
}

fn instruction(u: &mut Unstructured<'_>, code: &mut Vec<u8>) -> Result<()> {
    let half = |code: &mut Vec<u8>, raw: u16| code.extend(raw.to_le_bytes());
    let word = |code: &mut Vec<u8>, raw: u32| code.extend(raw.to_le_bytes());
    // Near offsets, in half-words.
    let near = i32::from(u.int_in_range(-16i8..=16)?) * 2;
    let link = *u.choose(&[0u32, 1, 5])?;
    match u.int_in_range(0..=11u8)? {
        0 => half(code, 0x0001),                                // c.nop
        1 => word(code, 0x0000_0013),                           // nop
        2 | 3 => word(code, branch(near)),                      // beq zero, zero
        4 => word(code, jal(link, near)),                       // jal
        5 => half(code, 0x8082),                                // c.jr ra
        6 => word(code, 0x0000_8067 | link << 7),               // jalr link, 0(ra)
        7 => half(code, 0xc001 | (near as u16 & 6)),            // c.beqz s0, a little further
        8 => half(code, *u.choose(&[0x9002, 0x9282, 0xa001])?), // c.ebreak, c.jalr t0, c.j .
        9 => word(code, *u.choose(&[0x3020_0073, 0x0000_0073, 0x1020_0073])?), // mret, ecall, sret
        10 => word(code, u32::from(u.arbitrary::<u8>()?) << 12 | 0x97), // auipc ra
        _ => half(code, u.arbitrary()?),
    }
    Ok(())
}

/// `beq zero, zero, offset`.
fn branch(offset: i32) -> u32 {
    let o = offset as u32;
    (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | (o >> 1 & 0xf) << 8 | (o >> 11 & 1) << 7 | 0x63
}

/// `jal rd, offset`.
fn jal(rd: u32, offset: i32) -> u32 {
    let o = offset as u32;
    (o >> 20 & 1) << 31
        | (o >> 1 & 0x3ff) << 21
        | (o >> 11 & 1) << 20
        | (o >> 12 & 0xff) << 12
        | rd << 7
        | 0x6f
}
