//! The golden decoder.
/// x
#[derive(Debug)]
pub struct Decoder;
/// x
#[derive(Debug)]
pub struct DecoderConfig;
