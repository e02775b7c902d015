//! The reader against a list of bits; everything that was read is written again.
#![no_main]

use hartrace_bits::{BitReader, BitWriter, Incomplete, Tail, mask};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, Option<u16>, u8, Vec<u8>)| {
    let (bytes, cut, tail, widths) = input;
    let tail = [Tail::Sign, Tail::Zero, Tail::End][usize::from(tail % 3)];
    let mut bits = hartrace_fuzz::bits(&bytes);
    let mut reader = BitReader::new(&bytes, tail);
    if let Some(cut) = cut {
        bits.truncate(cut.into());
        reader = BitReader::with_bit_len(&bytes, cut.into(), tail);
    }
    assert_eq!(reader.bit_len(), bits.len() as u64);

    let mut out = vec![0xaa; widths.len() * 16];
    let mut writer = BitWriter::new(&mut out);
    let mut pos = 0;
    for width in widths {
        let wide = width > 64;
        let width = usize::from(width.min(128));
        let past = match tail {
            Tail::Sign => bits.last().copied(),
            Tail::Zero => Some(false),
            Tail::End => None,
        };
        let bit = |i| bits.get(i).copied().or(past);
        let expected = (0..width)
            .map(|i| bit(pos + i).map(|b| u128::from(b) << i))
            .try_fold(0, |sum, bit| Some(sum | bit?));
        let got = if wide {
            reader.read_wide(width as u32)
        } else {
            reader.read(width as u32).map(u128::from)
        };
        match got {
            Ok(value) => {
                assert_eq!(Some(value), expected);
                pos += width;
                writer.write_wide(value, width as u32).expect("16 bytes for each");
            }
            Err(Incomplete { missing }) => {
                assert_eq!(expected, None);
                assert!(missing >= 1 && missing as usize <= width);
            }
        }
        assert_eq!(reader.position().0, pos as u64, "errors do not move the reader");
        assert_eq!(reader.remaining(), bits.len().saturating_sub(pos) as u64);
    }

    // The writer contains what was read, and compression loses nothing.
    let written = writer.position().0;
    assert_eq!(written, pos as u64);
    if out.is_empty() {
        return;
    }
    let whole = out.clone();
    let mut writer = BitWriter::new(&mut out);
    let mut copy = BitReader::new(&whole, Tail::End);
    for at in (0..written).step_by(64) {
        let width = (written - at).min(64) as u32;
        let value = copy.read(width).expect("within what was written");
        assert_eq!(value & !mask(width), 0);
        writer.write(value, width).expect("same size");
    }
    let len = writer.finish_compressed();
    let mut short = BitReader::new(&out[..len], Tail::Sign);
    let mut long = BitReader::with_bit_len(&whole, written as usize, Tail::Sign);
    for _ in 0..written {
        assert_eq!(short.read_bool(), long.read_bool());
    }
});
