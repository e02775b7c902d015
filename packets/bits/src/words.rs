//! Operations on all bytes of a word, or on all flags of a block, at once.

/// Bit 7 of all bytes.
const MORE: u64 = 0x8080_8080_8080_8080;

/// Length in bytes of a number that starts at the lowest byte and continues as long as bit 7 is set;
/// 9 if it continues past the word.
#[inline]
pub const fn septet_bytes(word: u64) -> u8 {
    ((!word & MORE).trailing_zeros() as u8 / 8).wrapping_add(1)
}

/// The lower seven bits of each byte, side by side.
#[inline]
pub const fn septets(word: u64) -> u64 {
    let two = word & 0x007f_007f_007f_007f | word >> 1 & 0x3f80_3f80_3f80_3f80;
    let four = two & 0x0000_3fff_0000_3fff | two >> 2 & 0x0fff_c000_0fff_c000;
    four & 0x0fff_ffff | four >> 4 & 0x00ff_ffff_f000_0000
}

/// The lower seven bits of each of four bytes, side by side.
#[inline]
pub const fn septets4(word: u32) -> u32 {
    let two = word & 0x007f_007f | word >> 1 & 0x3f80_3f80;
    two & 0x3fff | two >> 2 & 0x0fff_c000
}

/// Masks of the lowest bytes of a word.
const LOW: [u64; 16] = {
    let all = u64::MAX;
    let [a, b, c, d] = [0xff, 0xffff, 0xff_ffff, 0xffff_ffff];
    [0, a, b, c, d, d << 8 | a, d << 16 | b, d << 24 | c, all, all, all, all, all, all, all, all]
};

/// The given number of lowest bytes of a word.
// A table, since a shift by a variable amount is slower on some machines.
#[inline]
pub fn low_bytes(word: u64, count: u8) -> u64 {
    let [.., last] = LOW;
    word & LOW.get(usize::from(count) & 0xf).copied().unwrap_or(last)
}

/// One bit per byte: set if the condition holds for that byte.
#[inline(always)]
pub fn which(bytes: &[u8; 64], holds: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0u8; 64];
    for (flag, byte) in flags.iter_mut().zip(bytes) {
        *flag = holds(*byte).into();
    }
    bit_of_each(&flags, 0)
}

/// The given bit, 0 to 7, of every byte, side by side.
#[inline(always)]
pub fn bit_of_each(bytes: &[u8; 64], bit: u32) -> u64 {
    let mut all = [0; 8];
    for (all, eight) in all.iter_mut().zip(bytes.as_chunks().0) {
        let lowest = u64::from_le_bytes(*eight).wrapping_shr(bit) & 0x0101_0101_0101_0101;
        // The multiplication places the lowest bits of all bytes side by side in the top byte.
        [.., *all] = lowest.wrapping_mul(0x0102_0408_1020_4080).to_le_bytes();
    }
    u64::from_le_bytes(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    proptest! {
        #[test]
        fn as_one_by_one(bytes in prop::collection::vec(any::<u8>(), 64), word: u64, bits in 0u32..64) {
            let mut expected = 0u64;
            for (at, byte) in bytes.iter().enumerate() {
                expected |= u64::from(*byte % 3 == 0) << at;
            }
            let block = *bytes.first_chunk().unwrap();
            prop_assert_eq!(which(&block, |byte| byte % 3 == 0), expected);
            for bit in 0..8 {
                let expected = which(&block, |byte| byte >> bit & 1 == 1);
                prop_assert_eq!(bit_of_each(&block, bit), expected);
            }

            let number = word >> bits & (u64::MAX >> 8);
            let mut sent = vec![];
            let mut left = number;
            while left > 0x7f {
                sent.push(left as u8 | 0x80);
                left >>= 7;
            }
            sent.push(left as u8);
            let len = sent.len() as u8;
            // The bytes after the number do not matter.
            sent.resize(8, bits as u8);
            let word = u64::from_le_bytes(*sent.first_chunk().unwrap());
            prop_assert_eq!(septet_bytes(word), len);
            prop_assert_eq!(septets(low_bytes(word, len)), number);
            prop_assert_eq!(u64::from(septets4(word as u32)), septets(low_bytes(word, 4)));
        }
    }

    #[test]
    fn numbers_that_go_on() {
        assert_eq!(septet_bytes(u64::MAX), 9);
        assert_eq!(septets(u64::MAX), u64::MAX >> 8);
        for count in 0..8 {
            assert_eq!(low_bytes(u64::MAX, count), (1 << (8 * count)) - 1);
        }
        assert_eq!(low_bytes(u64::MAX, 8), u64::MAX);
    }
}
