//! Every scheme recovers every instruction of random walks: RV32 and RV64, compressed instructions, traps,
//! indirect jumps, addresses across the whole address space.

#[path = "roundtrip/families.rs"]
mod families;
#[path = "roundtrip/tage/mod.rs"]
mod tage;

use hartrace_compressors::{Bits, Code, Compressed, Family, Scheme, SchemeSetup};
use hartrace_decoder::Image;
use hartrace_etrace::ingress::{IType, ITypeWidth, Retired};
use hartrace_golden::walk::{Shape, Walk, generate};
use hartrace_isa::{Isa, Xlen};
use std::num::NonZeroU64;

/// In addition to those of the families: tables so small that their entries are replaced all the time, and every
/// setting.
const SMALL: [&str; 34] = [
    "HWLZ-2",
    "HWLZ-16",
    "bDMTF(2,2)",
    "bDMTF(5,3)",
    "hDMTF(8,4)",
    "eDMTF(9,2)",
    "eDMTF(16,8)[run.w0=1,run.wmax=3,run.m0=2]",
    "eDMTF(16,8)[run.w0=1,run.wmax=3,run.m0=2,run.grows=full]",
    "bSDC-1x2",
    "bSDC-8x1",
    "eSDC-4x2",
    "eSDC-16[upper=28,shift=0]",
    "rSDC-1x8",
    "Tuples-2[entries=2,ways=1]",
    "Tuples-4[entries=8,ways=8]",
    "rSDC-16[run.wmin=2,run.w0=2,run.wmax=2]",
    "rSDC-32[shift=2,run.w0=1,run.grows=full]",
    "tTMBP[entries=4,ras=1]",
    "tTMBP[ras=0]",
    "sTMBP[ibtb=2,ways=1]",
    "bTMBP[entries=16,ibtb=4,ways=4,pc_shift=1,bhr_bits=3]",
    "bTMBP[branches.size=1,branches.step=1,targets.size=1,targets.step=1]",
    "bTMBP[branches.size=32,targets.size=32,instructions.size=32]",
    "bTMBP[ibtb=256,path_targets=true,trap_differences=true,whole_targets=false]",
    "tTMBP[bhr_bits=0,trap_differences=true,targets.size=32]",
    "TAGE[base=1,tables=1,entries=1,tag=2,history=1,targets=4,ras=0,records=1]",
    "TAGE[base=4,tables=8,entries=2,history=128,tag=4,ras=1,records=2]",
    "TAGE[tables=2,entries=4,history=6,targets=8,records=5]",
    "TAGE[records=1024,targets=1024,tag=16]",
    "TAGE[coder=range,base=1,tables=1,entries=1,tag=2,history=1,targets=4,ras=0]",
    "TAGE[coder=range,base=4,tables=8,entries=2,history=128,tag=4,ras=1]",
    "TAGE[coder=range,tables=3,entries=4,history=7,targets=8]",
    "E-Trace+full+ir+bp+jtc+sij[bpred_size_p=1,cache_size_p=1,return_stack_size_p=1]",
    "E-Trace+ir+jtc[cache_size_p=3]",
];

fn schemes() -> Vec<Scheme> {
    let families =
        Family::all().iter().flat_map(|family| family.names().iter().chain(family.small));
    let schemes = families.chain(&SMALL).map(|name| name.parse::<Scheme>().expect(name));
    // A walk has no trap vector registers.
    schemes.filter(|scheme| !scheme.needs_vectors()).collect()
}

fn code(walk: &Walk) -> Code {
    let mut image = Image::new(Isa::new(walk.program.xlen));
    for (address, bytes) in &walk.program.segments {
        image.add(*address, bytes);
    }
    Code::new(&image)
}

fn compressed(scheme: &Scheme, setup: &SchemeSetup<'_>, rows: &[Retired]) -> Compressed {
    let mut compressor = scheme.compressor(setup).expect("a compressor");
    for row in rows {
        compressor.retire(row).unwrap_or_else(|error| panic!("{scheme}: {error}"));
    }
    compressor.finish().unwrap_or_else(|error| panic!("{scheme}: {error}"))
}

/// Compresses and decompresses rows, and compares with the expected addresses.
fn round(scheme: &Scheme, setup: &SchemeSetup<'_>, rows: &[Retired], expected: &[u64], what: &str) {
    let compressed = compressed(scheme, setup, rows);
    let count = expected.len() as u64;
    assert_eq!(compressed.instructions, count, "{what}: {scheme}");
    let mut found = Vec::new();
    let decompressor = scheme.decompressor(setup);
    decompressor
        .decompress(&compressed.bits, count, &mut |pc| found.push(pc))
        .unwrap_or_else(|error| panic!("{what}: {scheme}: {error}"));
    let different = found.iter().zip(expected).position(|(a, b)| a != b);
    assert_eq!((different, found.len()), (None, expected.len()), "{what}: {scheme}");
    assert!(compressed.framed_bits >= compressed.payload_bits, "{what}: {scheme}");
}

/// Walks that E-Trace can follow too: it stops at triggers, and implicit returns need all codes of itype.
fn shape(seed: u64) -> Shape {
    Shape { itype_width: ITypeWidth::Four, ..Shape::random(seed).without_sideband() }
}

#[test]
fn random_walks_come_back() {
    let runs = std::env::var("HARTRACE_RUNS").ok().and_then(|runs| runs.parse::<u64>().ok());
    // Each walk is traced about sixty times.
    let runs = runs.map_or(150, |runs| (runs / 25).max(1));
    let schemes = schemes();
    for seed in 0..runs {
        let walk = generate(seed, &shape(seed));
        let code = code(&walk);
        let expected: Vec<u64> = walk.expected_pcs().collect();
        let blocks = walk.blocks(seed, 1);
        for scheme in &schemes {
            let setup = SchemeSetup { code: &code, sync_every: None, tvec: &[] };
            round(scheme, &setup, &walk.rows, &expected, &format!("walk {seed}"));
            if !scheme.to_string().starts_with("E-Trace") || seed % 4 == 0 {
                round(scheme, &setup, &blocks, &expected, &format!("blocks of walk {seed}"));
            }
            let sync_every = NonZeroU64::new(1 + seed % 7 * 31);
            let setup = SchemeSetup { sync_every, ..setup };
            round(scheme, &setup, &walk.rows, &expected, &format!("walk {seed}, {sync_every:?}"));
        }
    }
}

/// Resets, halts and triggers have no special meaning to schemes that know only instructions.
#[test]
fn anything_may_follow_anything() {
    for seed in 0..40 {
        let walk = Walk::random(seed);
        let code = code(&walk);
        let expected: Vec<u64> = walk.expected_pcs().collect();
        let setup = SchemeSetup { code: &code, sync_every: None, tvec: &[] };
        for scheme in schemes().iter().filter(|s| s.family().name != "etrace") {
            round(scheme, &setup, &walk.rows, &expected, &format!("walk {seed}"));
        }
    }
}

/// Straight code that is longer than the longest stream, with a branch at every place around its end, taken
/// or not, and a trap after it.
#[test]
fn streams_are_cut_where_they_are_too_long() {
    for length in 250..260_u64 {
        for (taken, trap) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut image = Image::new(Isa::new(Xlen::Rv64));
            // nop ...; beqz x0, .+8; nop; nop ...
            let mut words = vec![0x13_u32; 600];
            words[length as usize - 1] = 0x0000_0463;
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            image.add(0x1000, &bytes);
            image.add(0x8000, &bytes);
            let code = Code::new(&image);
            let after = 0x1000 + 4 * (length + u64::from(taken));
            let mut expected: Vec<u64> = (0..length).map(|i| 0x1000 + 4 * i).collect();
            let mut rows: Vec<_> = expected.iter().map(|pc| Retired::plain(*pc)).collect();
            if trap {
                let itype = IType::Interrupt;
                rows.push(Retired { itype, iretire: 0, ..Retired::plain(after) });
            }
            let to = if trap { 0x8000 } else { after };
            expected.extend((0..300).map(|i| to + 4 * i));
            rows.extend(expected[length as usize..].iter().map(|pc| Retired::plain(*pc)));
            let rows: Vec<_> = rows.into_iter().map(|row| itype(row, length, taken)).collect();
            let setup = SchemeSetup { code: &code, sync_every: None, tvec: &[] };
            for scheme in schemes() {
                let what = format!("{length} instructions, {taken} {trap}");
                round(&scheme, &setup, &rows, &expected, &what);
            }
        }
    }
}

/// The port's itype for the branch.
fn itype(row: Retired, length: u64, taken: bool) -> Retired {
    let branch = [0x1000, 0x8000].map(|base| base + 4 * (length - 1));
    match row.iretire > 0 && branch.contains(&row.iaddr) {
        true if row.iaddr < 0x8000 && taken => Retired { itype: IType::Taken, ..row },
        true => Retired { itype: IType::NotTaken, ..row },
        false => row,
    }
}

/// Damage is detected, or yields other instructions; it never panics and always ends.
#[test]
fn damage_is_survived() {
    let (mut found, mut cases) = (0, 0);
    for seed in 0..12_u64 {
        let walk = generate(seed, &Shape { steps: 300, ..shape(seed) });
        let other = generate(seed + 1000, &Shape { steps: 10, ..shape(seed) });
        let [right, wrong] = [code(&walk), code(&other)];
        let expected: Vec<u64> = walk.expected_pcs().collect();
        for scheme in schemes() {
            let setup = SchemeSetup { code: &right, sync_every: None, tvec: &[] };
            let bits = compressed(&scheme, &setup, &walk.rows).bits;
            let setups = [setup, SchemeSetup { code: &wrong, ..setup }];
            let step = bits.len() / 24 + 1;
            for at in (0..bits.len()).step_by(step as usize) {
                let mut bytes = bits.bytes().to_vec();
                bytes[at as usize / 8] ^= 0x80 >> (at % 8);
                let flipped = Bits::new(bytes, bits.len());
                let cut = Bits::new(bits.bytes().to_vec(), at);
                for (setup, damaged) in [(0, &flipped), (0, &cut), (1, &bits)] {
                    let decompressor = scheme.decompressor(&setups[setup]);
                    let mut pcs = Vec::new();
                    let count = expected.len() as u64;
                    let result = decompressor.decompress(damaged, count, &mut |pc| pcs.push(pc));
                    assert!(pcs.len() <= expected.len(), "{scheme}");
                    if let Err(error) = &result {
                        assert!(error.bit <= bits.len(), "{scheme}: {error}");
                    }
                    cases += 1;
                    found += u32::from(result.is_err());
                }
            }
        }
    }
    assert!(found > cases / 2, "{found} of {cases}");
}

#[test]
fn nothing_at_all() {
    let walk = generate(1, &shape(1).without_traps());
    let code = code(&walk);
    let setup = SchemeSetup { code: &code, sync_every: None, tvec: &[] };
    for scheme in schemes().iter().filter(|s| s.family().name != "etrace") {
        round(scheme, &setup, &[], &[], "nothing");
        round(scheme, &setup, &walk.rows[..1], &[walk.rows[0].iaddr], "one");
    }
}
