//! ATB: standard encapsulation in ATDATA, with the ATID in place of srcID and no type field.

use crate::{EmitError, EncapParams, FrameError, FrameHeader, Framing, ParamsError, Parsed, encap};

/// One trace source on an ATB.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct AtbParams {
    atid: u8,
    encap: EncapParams,
}

impl AtbParams {
    /// Creates a source from its ATID, which is sent out of band, and a timestamp of 0 to 8 bytes.
    pub const fn new(atid: u8, timestamp_bytes: u8) -> Result<Self, ParamsError> {
        if atid > 0x7f {
            return Err(ParamsError::Atid(atid));
        }
        match EncapParams::new(0, timestamp_bytes, 0) {
            Ok(encap) => Ok(Self { atid, encap }),
            Err(error) => Err(error),
        }
    }

    /// The source id of every frame.
    pub const fn atid(&self) -> u8 {
        self.atid
    }

    /// Width of the timestamp in frames that have one.
    pub const fn timestamp_bytes(&self) -> u8 {
        self.encap.timestamp_bytes()
    }

    pub(crate) fn null_run(&self) -> usize {
        self.encap.null_run()
    }
}

#[inline]
pub(crate) fn parse(params: AtbParams, bytes: &[u8]) -> Result<Parsed<'_>, FrameError> {
    encap::parse(Framing::Atb(params), params.encap, bytes)
}

/// The header of a parsed frame.
pub(crate) fn header(params: AtbParams, bytes: &[u8]) -> FrameHeader {
    FrameHeader { source: Some(params.atid.into()), ..encap::header(params.encap, bytes) }
}

pub(crate) fn emit(
    params: AtbParams,
    header: &FrameHeader,
    payload: &[u8],
    out: &mut [u8],
) -> Result<usize, EmitError> {
    if header.source != Some(params.atid.into()) {
        return Err(EmitError::Source(header.source));
    }
    encap::emit(params.encap, &FrameHeader { source: None, ..*header }, payload, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Item, MAX_FRAME};

    #[test]
    fn atid_is_the_source() {
        let params = AtbParams::new(0x11, 2).unwrap();
        let header = FrameHeader {
            source: Some(0x11),
            timestamp: Some(0x0102),
            flow: 2,
            ..Default::default()
        };
        let bytes = [0xc2, 0x02, 0x01, 0x1f, 0x04];
        let parsed = parse(params, &bytes).unwrap();
        assert_eq!(parsed.used, 5);
        let Item::Frame(frame) = parsed.item else { panic!("null") };
        assert_eq!(frame.header(), header);
        assert_eq!(frame.payload_bytes(), Some(&[0x1f, 0x04][..]));
        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(params, &header, &[0x1f, 0x04], &mut out), Ok(5));
        assert_eq!(out[..5], bytes);
    }

    #[test]
    fn another_source_is_refused() {
        let params = AtbParams::new(1, 0).unwrap();
        let header = FrameHeader { source: Some(2), ..Default::default() };
        let error = emit(params, &header, &[1], &mut [0; MAX_FRAME]);
        assert_eq!(error, Err(EmitError::Source(Some(2))));
        assert_eq!(AtbParams::new(0x80, 0), Err(ParamsError::Atid(0x80)));
        assert_eq!(AtbParams::new(1, 9), Err(ParamsError::TimestampBytes(9)));
    }
}
