use super::*;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, Round as Their, Status};

const ROUNDS: [(Round, Their); 5] = [
    (Round::Even, Their::NearestTiesToEven),
    (Round::Zero, Their::TowardZero),
    (Round::Down, Their::TowardNegative),
    (Round::Up, Their::TowardPositive),
    (Round::Away, Their::NearestTiesToAway),
];

/// Bit patterns with many special values and close exponents.
fn operand(random: &mut fastrand::Rng, format: Format) -> u64 {
    let mask = format.sign() | (format.sign() - 1);
    let special =
        [0, 1, format.infinity(), format.nan(), format.infinity() | 1, 1 << format.fraction];
    match random.u32(0..8) {
        0 => (special[random.usize(0..6)] | if random.bool() { format.sign() } else { 0 }) & mask,
        1 => {
            // Next to a special value.
            special[random.usize(0..6)].wrapping_add(random.u64(0..5)).wrapping_sub(2) & mask
        }
        2..5 => {
            // Around one, few fraction bits.
            let bias = (1u64 << (format.exponent - 1)) - 1;
            let exponent = bias.wrapping_add(random.u64(0..9)).wrapping_sub(4);
            let fraction = random.u64(..) & random.u64(..) & random.u64(..);
            let fraction = if random.bool() { fraction } else { !fraction };
            let sign = if random.bool() { format.sign() } else { 0 };
            sign | exponent << format.fraction | fraction & ((1 << format.fraction) - 1)
        }
        5 => {
            // Few bits set or few bits clear, any exponent.
            let few = random.u64(..) & random.u64(..) & random.u64(..);
            (if random.bool() { few } else { !few }) & mask
        }
        _ => random.u64(..) & mask,
    }
}

fn flags_of(status: Status) -> u8 {
    let table = [
        (Status::INVALID_OP, flag::NV),
        (Status::DIV_BY_ZERO, flag::DZ),
        (Status::OVERFLOW, flag::OF),
        (Status::UNDERFLOW, flag::UF),
        (Status::INEXACT, flag::NX),
    ];
    table.iter().filter(|(theirs, _)| status.contains(*theirs)).map(|(_, ours)| ours).sum()
}

/// Compares with another implementation. That one detects tininess differently, so underflow may
/// differ where the result is the smallest normal number, and it does not flag overflow if the
/// result is rounded to the largest finite number.
fn check<F: Float>(format: Format, runs: u32) {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..runs {
        let [a, b, c] = std::array::from_fn(|_| operand(&mut random, format));
        let (x, y, z) = (F::from_bits(a.into()), F::from_bits(b.into()), F::from_bits(c.into()));
        for (round, their) in ROUNDS {
            let mut flags = [0; 4];
            let ours = [
                add(format, a, b, round, &mut flags[0]),
                mul(format, a, b, round, &mut flags[1]),
                div(format, a, b, round, &mut flags[2]),
                mul_add(format, [a, b, c], round, &mut flags[3]),
            ];
            let theirs =
                [x.add_r(y, their), x.mul_r(y, their), x.div_r(y, their), x.mul_add_r(y, z, their)];
            for (index, (ours, theirs)) in ours.into_iter().zip(theirs).enumerate() {
                let bits = theirs.value.to_bits() as u64;
                let bits = if format.is_nan(bits) { format.nan() } else { bits };
                let at = format!("{index}: {a:x} {b:x} {c:x} {round:?}");
                assert_eq!(format!("{ours:x}"), format!("{bits:x}"), "{at}");
                let mut want = flags_of(theirs.status);
                if ours & !format.sign() == 1 << format.fraction {
                    want = want & !flag::UF | flags[index] & flag::UF;
                }
                if ours & !format.sign() == format.infinity() - 1 {
                    want = want & !flag::OF | flags[index] & flag::OF;
                }
                if index == 3 && format.is_nan(ours) {
                    // Signalling operands and infinity times zero plus NaN differ between the two.
                    continue;
                }
                assert_eq!(flags[index], want, "flags of {at}");
            }
        }
    }
}

#[test]
fn arithmetic_agrees_with_another_implementation() {
    check::<Single>(SINGLE, 60_000);
    check::<Double>(DOUBLE, 60_000);
}

#[test]
fn roots_and_conversions_agree_with_the_host() {
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..200_000 {
        let (a, b) = (operand(&mut random, DOUBLE), operand(&mut random, SINGLE));
        let (x, y) = (f64::from_bits(a), f32::from_bits(b as u32));
        let mut flags = 0;
        if x >= 0.0 {
            assert_eq!(sqrt(DOUBLE, a, Round::Even, &mut flags), x.sqrt().to_bits(), "{a:x}");
        }
        if y >= 0.0 {
            assert_eq!(sqrt(SINGLE, b, Round::Even, &mut flags), y.sqrt().to_bits().into());
        }
        if !x.is_nan() {
            let single = resize(DOUBLE, SINGLE, a, Round::Even, &mut flags);
            assert_eq!(single, (x as f32).to_bits().into(), "{a:x}");
            let signed = Int { bits: 64, signed: true };
            assert_eq!(to_int(DOUBLE, a, signed, Round::Zero, &mut flags), x as i64 as u64);
            let unsigned = Int { bits: 32, signed: false };
            let word = to_int(DOUBLE, a, unsigned, Round::Zero, &mut flags);
            assert_eq!(word, x as u32 as i32 as u64);
        }
        if !y.is_nan() {
            let double = resize(SINGLE, DOUBLE, b, Round::Even, &mut flags);
            assert_eq!(double, f64::from(y).to_bits());
        }
        let n = random.u64(..) >> random.u32(0..64);
        let signed = Int { bits: 64, signed: true };
        assert_eq!(from_int(SINGLE, n, signed, Round::Even, &mut flags), {
            u64::from((n as i64 as f32).to_bits())
        });
        let unsigned = Int { bits: 64, signed: false };
        assert_eq!(from_int(DOUBLE, n, unsigned, Round::Even, &mut flags), (n as f64).to_bits());
    }
}

#[test]
fn tininess_is_detected_after_rounding() {
    // Just below the smallest normal number, where rounding to 24 bits with an exponent of any size
    // already gives that number: 2^-126 * (1 - 2^-24) * (1 + 2^-25) and similar values.
    let one = 0x3f80_0000;
    let min_normal = 0x0080_0000;
    let below_one = 0x3f7f_ffff; // 1 - 2^-24
    let mut flags = 0;
    // Exact product 2^-126 * (1 - 2^-24): a tie at the subnormal quantum, rounds to the normal number,
    // but is representable with a larger exponent range, so it is tiny.
    assert_eq!(mul(SINGLE, min_normal, below_one, Round::Even, &mut flags), min_normal);
    assert_eq!(flags, flag::NX | flag::UF);
    // 2^-126 - 2^-180: rounds to 2^-126 with any exponent range when rounding to nearest.
    flags = 0;
    let tiny = [0x2500_0000 | 0x8000_0000, 0x0d80_0000, min_normal];
    assert_eq!(mul_add(SINGLE, tiny, Round::Even, &mut flags), min_normal);
    assert_eq!(flags, flag::NX);
    flags = 0;
    assert_eq!(mul_add(SINGLE, tiny, Round::Zero, &mut flags), min_normal - 1);
    assert_eq!(flags, flag::NX | flag::UF);
    assert_eq!(mul(SINGLE, one, 1, Round::Even, &mut flags), 1);
}

#[test]
fn integers_saturate_and_say_so() {
    let word = Int { bits: 32, signed: true };
    let unsigned = Int { bits: 32, signed: false };
    let convert = |bits: f64, int, round| {
        let mut flags = 0;
        (to_int(DOUBLE, bits.to_bits(), int, round, &mut flags), flags)
    };
    assert_eq!(convert(f64::NAN, word, Round::Even), (0x7fff_ffff, flag::NV));
    assert_eq!(convert(-3e9, word, Round::Even), (-0x8000_0000i64 as u64, flag::NV));
    assert_eq!(convert(-0.5, unsigned, Round::Even), (0, flag::NX));
    assert_eq!(convert(-0.5, unsigned, Round::Down), (0, flag::NV));
    assert_eq!(convert(-1.0, unsigned, Round::Even), (0, flag::NV));
    assert_eq!(convert(4e9, unsigned, Round::Even), (4_000_000_000u32 as i32 as u64, 0));
    assert_eq!(convert(f64::INFINITY, unsigned, Round::Even), (u64::MAX, flag::NV));
    assert_eq!(convert(2.5, word, Round::Even), (2, flag::NX));
    assert_eq!(convert(2.5, word, Round::Away), (3, flag::NX));
    assert_eq!(convert(-2.5, word, Round::Up), (-2i64 as u64, flag::NX));
}
