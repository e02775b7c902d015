//! Any rows, consistent or not: the golden encoder continues, and the production codec parses the
//! bits that it packs to the same payload.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_bits::BitReader;
use hartrace_etrace::ingress::{CType, IType, ITypeWidth, Privilege, Retired, Trigger};
use hartrace_etrace::{Ioptions, Layout, MAX_PAYLOAD_BYTES, Payload};
use hartrace_fuzz::{options, params, tail, unit};
use hartrace_golden::encoder::{Combine, Comparator, Condition, Filter, Function, Input, Resync};
use hartrace_golden::{Compat, Encoded, Encoder, EncoderConfig};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let config = EncoderConfig {
        params: params(&mut u)?,
        unit: unit(&mut u)?,
        options: options(&mut u)?,
        itype_width: *u.choose(&[ITypeWidth::Four, ITypeWidth::Three])?,
        resync: match u.int_in_range(0..=3u8)? {
            0 => Resync::Off,
            1 => Resync::Packets(u.int_in_range(0..=8)?),
            2 => Resync::Cycles(u.int_in_range(0..=8)?),
            _ => Resync::HalfWords(u.int_in_range(0..=8)?),
        },
        filter: filter(&mut u)?,
        sync_on_unretired: u.arbitrary()?,
        return_marks: u.int_in_range(0..=4)?,
        compat: *u.choose(&[Compat::None, Compat::PythonModel, Compat::CModel])?,
    };
    let Ok(layout) = config.params.layout(config.unit) else { return Ok(()) };
    let Ok(mut encoder) = Encoder::new(config) else { return Ok(()) };

    let mut options = Ioptions::default();
    let mut sink = |encoded: Encoded| check_payload(&layout, &mut options, &encoded);
    let mut rows = 0;
    while !u.is_empty() && rows < 512 {
        rows += 1;
        match u.int_in_range(0..=31u8)? {
            0 => encoder.lose(),
            1 => encoder.recover(),
            2 => {
                // Rejected if the parameters lack the mode.
                let _ = encoder.set_options(hartrace_fuzz::options(&mut u)?, &mut sink);
            }
            3 => encoder.finish(&mut sink),
            _ => encoder.retire(&row(&mut u)?, &mut sink),
        }
    }
    encoder.finish(&mut sink);
    Ok(())
}

fn check_payload(layout: &Layout, options: &mut Ioptions, encoded: &Encoded) {
    let Encoded { payload, bytes, .. } = encoded;
    assert!((1..=MAX_PAYLOAD_BYTES).contains(&bytes.len()), "{encoded:?}");
    let mut bits = BitReader::new(bytes, tail(layout.unit()));
    let parsed = Payload::parse(layout, *options, &mut bits);
    assert_eq!(parsed, Ok(*payload), "{encoded:?} under {options}");
    if let Payload::Support(support) = payload {
        *options = support.ioptions;
    }
}

fn filter(u: &mut Unstructured<'_>) -> Result<Filter> {
    if u.ratio(1, 2)? {
        return Ok(Filter::default());
    }
    let mut filter = Filter { initially_on: u.arbitrary()?, ..Filter::default() };
    for _ in 0..u.int_in_range(0..=2u8)? {
        filter.comparators.push(Comparator {
            input: *u.choose(&[Input::Iaddress, Input::Context, Input::Tval])?,
            primary: comparison(u)?,
            secondary: comparison(u)?,
            combine: *u.choose(&[
                Combine::Primary,
                Combine::Both,
                Combine::NotBoth,
                Combine::Latch,
            ])?,
        });
    }
    for _ in 0..u.int_in_range(0..=2u8)? {
        filter.conditions.push(Condition {
            comparators: vec![u.int_in_range(0..=2)?],
            privileges: u.arbitrary()?,
            causes: u.arbitrary()?,
            interrupt: u.arbitrary()?,
        });
    }
    Ok(filter)
}

fn comparison(u: &mut Unstructured<'_>) -> Result<(Function, u64)> {
    let function = *u.choose(&[
        Function::Equal,
        Function::NotEqual,
        Function::Less,
        Function::LessEqual,
        Function::Greater,
        Function::GreaterEqual,
        Function::Always,
    ])?;
    Ok((function, u.int_in_range(0..=64)?))
}

fn row(u: &mut Unstructured<'_>) -> Result<Retired> {
    let near = u64::from(u.arbitrary::<u8>()?);
    let any: u64 = u.arbitrary()?;
    let flags: u8 = u.arbitrary()?;
    let odd = u.ratio(1, 8)?;
    Ok(Retired {
        itype: IType::try_from(u.int_in_range(0..=15u8)?).unwrap_or_default(),
        iaddr: if odd { any } else { near },
        iretire: if odd { u.arbitrary::<u16>()?.into() } else { u.int_in_range(0..=4)? },
        ilastsize: if odd { u.arbitrary()? } else { u.int_in_range(0..=1)? },
        sijump: flags & 1 != 0,
        privilege: Privilege(if odd { u.arbitrary()? } else { flags >> 1 & 1 }),
        cause: if odd { any } else { near },
        tval: if odd { any } else { near },
        context: if odd { any } else { u64::from(flags >> 2 & 1) },
        ctype: CType::from_raw(flags >> 3),
        time: if odd { any } else { 0 },
        trigger: Trigger {
            on: flags & 0x20 != 0,
            off: flags & 0xe0 == 0xc0,
            notify: flags & 0xc0 == 0x40,
        },
        cycles: if odd { u.arbitrary()? } else { 1 },
        halted: odd && flags & 0x40 != 0,
        reset: odd && flags & 0x80 != 0,
    })
}
