//! Encoders and what they are told, made from raw bytes.

use crate::{options, params, unit};
use arbitrary::{Result, Unstructured};
use hartrace_etrace::encoder::{
    Combine, Comparator, Condition, EncoderConfig, Filter, Function, Input, Resync,
};
use hartrace_etrace::ingress::{CType, IType, ITypeWidth, Privilege, Retired, Trigger};
use hartrace_etrace::{Compat, Ioptions};

/// What an encoder is told.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// This block retired.
    Retire(Retired),
    /// Payloads are lost from here on.
    Lose,
    /// There is room again.
    Recover,
    /// Blocks are missing here.
    Miss,
    /// The modes change; rejected if the parameters lack one.
    Options(Ioptions),
    /// The trace ends; another may follow.
    Finish,
}

/// Returns any configuration.
pub fn config(u: &mut Unstructured<'_>) -> Result<EncoderConfig> {
    Ok(EncoderConfig {
        params: params(u)?,
        unit: unit(u)?,
        options: options(u)?,
        itype_width: *u.choose(&[ITypeWidth::Four, ITypeWidth::Three])?,
        resync: match u.int_in_range(0..=3u8)? {
            0 => Resync::Off,
            1 => Resync::Packets(u.int_in_range(0..=8)?),
            2 => Resync::Cycles(u.int_in_range(0..=8)?),
            _ => Resync::HalfWords(u.int_in_range(0..=8)?),
        },
        filter: filter(u)?,
        sync_on_unretired: u.arbitrary()?,
        return_marks: u.int_in_range(0..=4)?,
        compat: *u.choose(&[Compat::None, Compat::PythonModel, Compat::CModel])?,
    })
}

/// Returns what happens next.
pub fn action(u: &mut Unstructured<'_>) -> Result<Action> {
    Ok(match u.int_in_range(0..=31u8)? {
        0 => Action::Lose,
        1 => Action::Recover,
        2 => Action::Options(options(u)?),
        3 => Action::Finish,
        4 => Action::Miss,
        _ => Action::Retire(row(u)?),
    })
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

/// Returns any block, consistent or not.
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
