use super::packets;
use crate::{Decoder, DecoderError, analysis};
use hartrace_encoder_hdl::registers::{self, DecoderParams, RamSinkParams, WalkerParams, ram_sink};
use hartrace_encoder_hdl::top::{PAGE, Page};
use hartrace_encoder_hdl::transport::MemorySink;

/// Lanes of the stage that splits frames.
const FRAME_LANES: u32 = crate::frame::WORD;

/// A decoder with everything behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The decoder, and the walker if there is one.
    pub decoder: Decoder,
    /// The bytes come in the CoreSight frames of a trace port, four in a cycle.
    pub frames: bool,
    /// What is counted and watched.
    pub analysis: analysis::Config,
    /// Where spilled entries of the profile go.
    pub memory: MemorySink,
}

impl Config {
    /// Bytes without frames, the usual analysis, and memory with words of 8 bytes.
    #[must_use]
    pub fn new(decoder: Decoder) -> Self {
        let usual = analysis::Config::default();
        let blocks = matches!(decoder, Decoder::Follower(_) | Decoder::Etmv4Follower(_));
        let analysis = analysis::Config {
            // Without blocks, there are no addresses.
            address_bits: if blocks { decoder.address_bits() } else { usual.address_bits },
            lanes: decoder.unroll(),
            kinds: packets::kinds(&decoder).len() as u32,
            sync_bytes: packets::sync_bytes(&decoder),
            blocks,
            ..usual
        };
        let memory = MemorySink { word_bytes: 8, addr_width: 64, burst_words: 4 };
        Self { decoder, frames: false, analysis, memory }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// If there is no such decoder.
    pub fn check(&self) -> Result<(), DecoderError> {
        match self.decoder.unroll() {
            FRAME_LANES => {}
            unroll if self.frames => return Err(DecoderError::Frames(unroll)),
            _ => {}
        }
        Ok(self.analysis.check()?)
    }

    /// The parameters of the registers of the decoder.
    #[must_use]
    pub fn registers(&self) -> DecoderParams {
        let (source_bits, walker) = match &self.decoder {
            Decoder::Etmv4(_) => (0, None),
            Decoder::Etrace(config) => (config.encap.src_id_bits(), None),
            Decoder::Follower(config) => {
                let params = &config.decoder.params;
                let walker = WalkerParams {
                    address_width: params.iaddress_width_p.into(),
                    index_bits: config.table.index_bits,
                    word_bits: config.table.width(),
                    vectors: 1 << params.privilege_width_p,
                };
                (config.decoder.encap.src_id_bits(), Some(walker))
            }
            Decoder::Etmv4Follower(config) => {
                let walker = WalkerParams {
                    address_width: config.decoder.address_bits,
                    index_bits: config.table.index_bits,
                    word_bits: config.table.width(),
                    vectors: 0,
                };
                (0, Some(walker))
            }
        };
        let (unroll, frames) = (self.decoder.unroll(), self.frames);
        DecoderParams { unroll, source_bits: source_bits.into(), frames, walker }
    }

    /// The pages of registers at the port, in order, with their names for C.
    ///
    /// # Errors
    ///
    /// If there is no such decoder.
    pub fn pages(&self) -> Result<Vec<(&'static str, Page)>, DecoderError> {
        self.check()?;
        let mut tables = vec![
            ("DECODER", registers::decoder(&self.registers())?),
            ("ANALYSIS", registers::analysis(&self.analysis.registers())?),
        ];
        if self.analysis.blocks {
            let MemorySink { word_bytes, addr_width, .. } = self.memory;
            let params = RamSinkParams { address_width: addr_width, word_bytes, null_runs: false };
            tables.push(("SINK", ram_sink(&params)?));
        }
        let pages = (0..).zip(tables);
        let page = |(number, (name, table)): (u32, (&'static str, registers::Table))| {
            (name, Page { title: table.title.into(), address: number * PAGE, table })
        };
        Ok(pages.map(page).collect())
    }
}
