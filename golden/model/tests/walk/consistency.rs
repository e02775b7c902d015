//! Every walk keeps its promises, whatever the shape.

use crate::common::check;
use hartrace_golden::walk::{Shape, Walk, Xlen, generate};

#[test]
fn random_shapes() {
    for seed in 0..3000 {
        check(&Walk::random(seed));
    }
}

#[test]
fn default_shape() {
    for seed in 0..500 {
        check(&generate(seed, &Shape::default()));
    }
}

#[test]
fn well_behaved_with_everything_else() {
    for seed in 0..500 {
        let shape = Shape { well_behaved: true, swaps: 500, ..Shape::random(seed) };
        check(&generate(seed, &shape));
    }
}

#[test]
fn absurd_shapes() {
    for seed in 0..400u64 {
        let mut shape = Shape::random(seed);
        for (bit, rate) in [
            &mut shape.branches,
            &mut shape.calls,
            &mut shape.recursion,
            &mut shape.leaf_runs,
            &mut shape.indirect,
            &mut shape.swaps,
            &mut shape.tail_calls,
            &mut shape.sijumps,
            &mut shape.absolute,
            &mut shape.mismatched_returns,
            &mut shape.exceptions,
            &mut shape.interrupts,
            &mut shape.nested_traps,
            &mut shape.environment_calls,
            &mut shape.reschedules,
            &mut shape.context_changes,
            &mut shape.notifies,
            &mut shape.trace_toggles,
            &mut shape.halts,
            &mut shape.resets,
            &mut shape.stalls,
            &mut shape.functions,
            &mut shape.density,
            &mut shape.loop_limit,
            &mut shape.max_depth,
        ]
        .into_iter()
        .enumerate()
        {
            let hash = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> bit;
            *rate = if hash & 0x400 == 0 { 0 } else { u16::MAX };
        }
        shape.address_bits = (seed * 7) as u8;
        shape.context_bits = (seed * 11) as u8;
        shape.max_trap_depth = (seed * 5) as u8;
        shape.bases = match seed % 4 {
            0 => vec![],
            1 => vec![u64::MAX; 40],
            2 => vec![0, 1, 2, 3],
            _ => vec![0xffff_fffe, 0xffff_fffc],
        };
        shape.steps = [0, 1, 2, 500][seed as usize / 4 % 4];
        check(&generate(seed, &shape));
    }
}

#[test]
fn same_seed_same_walk() {
    for seed in 0..50 {
        assert_eq!(Walk::random(seed), Walk::random(seed));
        assert_ne!(generate(seed, &Shape::default()).rows, generate(!seed, &Shape::default()).rows);
    }
}

#[test]
fn without_takes_away() {
    for seed in 0..100 {
        let shape = Shape::random(seed).without_traps().without_sideband();
        let walk = generate(seed, &shape);
        check(&walk);
        let first = walk.rows[0];
        for row in &walk.rows {
            assert!(!row.itype.is_trap());
            assert_eq!(
                (row.context, row.time, row.trigger, row.cycles, row.halted, row.reset),
                (first.context, 0, Default::default(), 1, false, false)
            );
        }
    }
}

#[test]
fn code_is_where_it_was_asked_for() {
    let shape = |xlen, base, bits| Shape {
        xlen,
        address_bits: bits,
        bases: vec![base],
        absolute: 0,
        ..Shape::default()
    };
    for (xlen, base, bits) in [
        (Xlen::Rv32, 0x8000_0000, 32),
        (Xlen::Rv32, 0xffff_0000, 32),
        (Xlen::Rv64, 0xffff_ffff_8000_0000, 64),
        (Xlen::Rv64, 0xffff_fc00, 64),
        (Xlen::Rv64, 0x12_3456, 24),
    ] {
        let walk = generate(1, &shape(xlen, base, bits));
        check(&walk);
        let start = walk.program.segments[0].0;
        assert!((base..base + 0x1000).contains(&start), "{start:#x}");
    }
    // At the very end: moved down until it fits.
    let walk = generate(1, &shape(Xlen::Rv32, 0xffff_fffc, 32));
    let (start, bytes) = walk.program.segments.last().expect("code");
    assert!(start + bytes.len() as u64 > 0xffff_8000);
}
