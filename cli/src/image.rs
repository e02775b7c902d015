//! The traced program: ELF files and bare code.

use crate::args::Placed;
use crate::failure::Failure;
use crate::files;
use elf::ElfBytes;
use elf::abi::{EM_RISCV, PT_LOAD};
use elf::endian::LittleEndian;
use elf::file::Class;
use hartrace_decoder::Image;
use hartrace_isa::{Isa, Xlen};

/// Loads programs, then bare code; what comes later wins where they overlap.
pub(crate) fn load(elf: &[Placed], bare: &[Placed], xlen: Xlen) -> Result<Image, Failure> {
    if elf.is_empty() && bare.is_empty() {
        return Err(Failure::usage("a trace cannot be followed without the program")
            .hint("--elf PROG, or --image FILE@ADDR for bare code"));
    }
    let mut image = Image::new(Isa::new(xlen));
    for program in elf {
        let bytes = files::read(&program.path)?;
        add_elf(&mut image, &bytes, program.address)
            .map_err(|failure| failure.at(files::name(&program.path)))?;
    }
    for code in bare {
        image.add(wrap(code.address, xlen), &files::read(&code.path)?);
    }
    Ok(image)
}

fn wrap(address: u64, xlen: Xlen) -> u64 {
    match xlen {
        Xlen::Rv32 => u64::from(address as u32),
        Xlen::Rv64 => address,
    }
}

/// Adds the bytes of every loadable segment.
fn add_elf(image: &mut Image, bytes: &[u8], bias: u64) -> Result<(), Failure> {
    let broken = |error: elf::ParseError| {
        Failure::input(format_args!("not an ELF file: {error}"))
            .hint("--image FILE@ADDR, if this is bare code")
    };
    let file = ElfBytes::<LittleEndian>::minimal_parse(bytes).map_err(broken)?;
    if file.ehdr.e_machine != EM_RISCV {
        return Err(Failure::input(format_args!(
            "ELF file for machine {}, not RISC-V",
            file.ehdr.e_machine
        )));
    }
    let class = match file.ehdr.class {
        Class::ELF32 => Xlen::Rv32,
        Class::ELF64 => Xlen::Rv64,
    };
    let xlen = image.isa().xlen;
    if class != xlen {
        return Err(Failure::usage(format_args!(
            "this is an RV{} program, the trace is of RV{}",
            class.bits(),
            xlen.bits()
        ))
        .hint(format_args!("--xlen {}", class.bits())));
    }
    let segments = file.segments().ok_or_else(|| Failure::input("ELF file without segments"))?;
    for segment in segments.iter().filter(|segment| segment.p_type == PT_LOAD) {
        let code = file.segment_data(&segment).map_err(broken)?;
        image.add(wrap(segment.p_vaddr.wrapping_add(bias), xlen), code);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one segment: `c.j .` at 0x80000000.
    fn elf64(machine: u8) -> Vec<u8> {
        let mut file = vec![0; 64 + 56 + 2];
        file[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);
        let mut put = |at: usize, value: u64, len: usize| {
            file[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
        };
        put(16, 2, 2); // e_type
        put(18, machine.into(), 2);
        put(20, 1, 4); // e_version
        put(32, 64, 8); // e_phoff
        put(52, 64, 2); // e_ehsize
        put(54, 56, 2); // e_phentsize
        put(56, 1, 2); // e_phnum
        put(58, 64, 2); // e_shentsize
        put(64, 1, 4); // PT_LOAD
        put(68, 5, 4);
        put(72, 64 + 56, 8); // p_offset
        put(80, 0x8000_0000, 8); // p_vaddr
        put(96, 2, 8); // p_filesz
        put(104, 4096, 8); // p_memsz
        put(120, 0xa001, 2);
        file
    }

    fn image(bytes: &[u8], bias: u64, xlen: Xlen) -> Result<Image, Failure> {
        let mut image = Image::new(Isa::new(xlen));
        add_elf(&mut image, bytes, bias).map(|()| image)
    }

    #[test]
    fn segments_land_at_address_plus_bias() {
        let plain = image(&elf64(243), 0, Xlen::Rv64).unwrap();
        assert!(plain.insn(0x8000_0000).is_some());
        assert!(plain.insn(0x8000_0002).is_none());
        // Biases wrap.
        let biased = image(&elf64(243), 0xffff_ffbf_8000_0000, Xlen::Rv64).unwrap();
        assert!(biased.insn(0xffff_ffc0_0000_0000).is_some());
        let low = image(&elf64(243), 0xffff_ffff_8000_0000, Xlen::Rv64).unwrap();
        assert!(low.insn(0).is_some());
    }

    #[test]
    fn what_is_not_the_program_is_refused() {
        let status = |bytes: &[u8], xlen| image(bytes, 0, xlen).unwrap_err().status();
        assert_eq!(status(&elf64(243), Xlen::Rv32), 2);
        assert_eq!(status(&elf64(62), Xlen::Rv64), 3);
        assert_eq!(status(&elf64(243)[..120], Xlen::Rv64), 3);
        assert_eq!(status(b"", Xlen::Rv64), 3);
        assert_eq!(load(&[], &[], Xlen::Rv64).unwrap_err().status(), 2);
    }
}
