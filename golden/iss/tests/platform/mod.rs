//! The machines that the reference vectors were recorded on: a Spike simulator of 2021.

mod device_tree;

use hartrace_iss::{BootRom, Clock, Environment, HartConfig, Misaligned, Range, Xlen};

/// For bare-metal programs.
pub(crate) fn spike(rv32: bool) -> HartConfig {
    HartConfig {
        xlen: if rv32 { Xlen::Rv32 } else { Xlen::Rv64 },
        memory: vec![
            Range { base: 0x8000_0000, size: 0x40_0000 },
            Range { base: 0x2001_0000, size: 0x4_0000 },
        ],
        misaligned: Misaligned::Trap,
        clock: Clock::Rounds { instructions: 5000, ticks: 50 },
        boot_rom: Some(BootRom::default()),
        ..HartConfig::default()
    }
}

/// For a program under the proxy kernel.
pub(crate) fn proxy_kernel(program: Vec<u8>) -> HartConfig {
    // Only the length of the name is known, from the time it takes to copy it.
    let name = format!("{:/>33}", "new_hw.pk");
    HartConfig {
        memory: vec![Range { base: 0x8000_0000, size: 2 << 30 }],
        environment: Environment::ProxyKernel {
            arguments: vec!["pk".to_owned(), name.clone()],
            files: vec![(name, program)],
        },
        boot_rom: Some(BootRom { device_tree: device_tree::spike() }),
        ..spike(false)
    }
}
