//! Numbers of bytes per cycle.

use std::str::FromStr;
use thiserror::Error;

/// Numbers of bytes per cycle to generate decoders with, one after the other.
///
/// ```
/// use hartrace_decoder_hdl::Unrolls;
///
/// assert_eq!("1,2,4-6".parse(), Ok(Unrolls(vec![1, 2, 4, 5, 6])));
/// assert!("9".parse::<Unrolls>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrolls(
    /// The numbers, from 1 to 8.
    pub Vec<u32>,
);

/// A text does not list numbers of bytes per cycle.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("write numbers from 1 to 8, for example 1,2,4-8")]
pub struct NoUnrolls;

/// Numbers and ranges, for example `1,2,4-8`.
impl FromStr for Unrolls {
    type Err = NoUnrolls;

    fn from_str(text: &str) -> Result<Self, NoUnrolls> {
        let number = |text: &str| text.parse().ok().filter(|unroll| (1..=8).contains(unroll));
        let range = |text: &str| match text.split_once('-') {
            Some((first, last)) => Some(number(first)?..=number(last)?),
            None => number(text).map(|unroll| unroll..=unroll),
        };
        let all: Option<Vec<_>> = text.split(',').map(range).collect();
        let all: Vec<u32> = all.into_iter().flatten().flatten().collect();
        if all.is_empty() { Err(NoUnrolls) } else { Ok(Self(all)) }
    }
}
