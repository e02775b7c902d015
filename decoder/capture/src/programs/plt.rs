//! Names of the stubs through which programs call shared libraries.
//!
//! No symbol names them. Each loads the address of its function from a place that a relocation fills, and that names the
//! function: the stub is `puts@plt`, as objdump has it.

use super::tables;
use elf::ElfBytes;
use elf::abi::{EM_AARCH64, EM_RISCV};
use elf::endian::LittleEndian;
use std::collections::HashMap;

/// Bytes of a stub. Those of AArch64 may be longer, but then start later.
const STUB: usize = 16;

/// A stub: its address and name.
pub(super) struct Stub {
    pub(super) start: u64,
    pub(super) name: String,
}

/// Bytes of a stub.
pub(super) const SIZE: u64 = STUB as u64;

/// The stubs of a file, by address, with names of at most `limit` bytes together.
pub(super) fn stubs(file: &ElfBytes<'_, LittleEndian>, limit: usize) -> Vec<Stub> {
    find(file, limit).unwrap_or_default()
}

fn find(file: &ElfBytes<'_, LittleEndian>, limit: usize) -> Option<Vec<Stub>> {
    let target = match file.ehdr.e_machine {
        EM_RISCV => riscv,
        EM_AARCH64 => aarch64,
        _ => return None,
    };
    let sections = tables::named(file, [".plt", ".rela.plt"].into_iter());
    let (plt, relocations) = (sections.get(".plt")?, sections.get(".rela.plt")?);
    let (table, strings) = file.dynamic_symbol_table().ok()??;
    let slots: HashMap<u64, (u32, i64)> = file
        .section_data_as_relas(relocations)
        .ok()?
        .map(|rela| (rela.r_offset, (rela.r_sym, rela.r_addend)))
        .collect();
    let (bytes, _) = file.section_data(plt).ok()?;
    let (mut stubs, mut left) = (Vec::new(), limit);
    for (index, stub) in bytes.chunks_exact(STUB).enumerate() {
        let start = plt.sh_addr.wrapping_add((index as u64).wrapping_mul(SIZE));
        let word = |at: usize| Some(u32::from_le_bytes(stub.get(at..)?.first_chunk().copied()?));
        let slot = word(0).zip(word(4)).and_then(|(first, second)| target(start, first, second));
        let Some((symbol, addend)) = slot.and_then(|slot| slots.get(&slot)) else { continue };
        let name = match symbol {
            0 => format!("*ABS*+{addend:#x}@plt"),
            symbol => {
                let Ok(symbol) = table.get(*symbol as usize) else { continue };
                let Ok(name) = strings.get_raw(symbol.st_name as usize) else { continue };
                format!("{}@plt", tables::cut(name))
            }
        };
        let Some(rest) = left.checked_sub(name.len()) else { break };
        left = rest;
        stubs.push(Stub { start, name });
    }
    Some(stubs)
}

/// `auipc t3, HIGH; ld t3, LOW(t3)`, or `lw`: where that loads from.
fn riscv(at: u64, first: u32, second: u32) -> Option<u64> {
    let is_stub = first & 0xfff == 0xe17 && matches!(second & 0xf_ffff, 0xe_3e03 | 0xe_2e03);
    let high = i64::from((first & 0xffff_f000) as i32);
    let low = i64::from((second as i32) >> 20);
    is_stub.then(|| at.wrapping_add_signed(high).wrapping_add_signed(low))
}

/// `adrp x16, PAGE; ldr x17, [x16, OFFSET]`: where that loads from.
fn aarch64(at: u64, first: u32, second: u32) -> Option<u64> {
    let is_stub = first & 0x9f00_001f == 0x9000_0010 && second & 0xffc0_03ff == 0xf940_0211;
    let page = (first >> 3 & 0x1f_fffc | first >> 29 & 3) << 11;
    let page = i64::from(page as i32 >> 11).wrapping_mul(0x1000);
    let offset = u64::from(second >> 10 & 0xfff).wrapping_mul(8);
    is_stub.then(|| (at & !0xfff).wrapping_add_signed(page).wrapping_add(offset))
}
