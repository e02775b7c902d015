//! Decodes the capture of a run again.

use crate::soc::{Job, Outcome, Soc, SocError, Survey};
use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config, Event, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{Deframer, Item};
use hartrace_etrace::Unit;

impl Soc {
    /// Decodes the trace of one hart of a run, for callers that need more than the verdict, and passes the address of every
    /// instruction and its context to `retired`. Damage is already reported in the outcome, and is skipped.
    ///
    /// # Errors
    ///
    /// If the trace cannot be decoded with the parameters of the encoder.
    pub fn decode(
        &self,
        job: &Job,
        survey: &Survey,
        outcome: &Outcome,
        hart: u32,
        retired: &mut dyn FnMut(u64, u64),
    ) -> Result<(), SocError> {
        let top = &self.config.top;
        let (params, unit) = (top.encoder.etrace, top.encoder.unit());
        let config =
            Config { params, unit, tvec: survey.tvec(&job.setting.options)?, ..Config::default() };
        let mut tracer = Tracer::new(config, &survey.image)?;
        let tail = if unit == Unit::RvTracer { Tail::Zero } else { Tail::Sign };
        let mut deframer = Deframer::new(top.framing()?);
        let mut sink = Decoded { retired, context: 0 };
        let mut at = StreamPos { packet: 0, byte: 0 };
        deframer.feed(&outcome.bytes, &mut |offset, item| {
            if let Ok(Item::Frame(frame)) = item
                && u32::from(frame.header().source.unwrap_or(0)) == top.first_source + hart
            {
                at.byte = offset;
                let payload = frame.payload_bytes().unwrap_or_default();
                tracer.feed_bits(at, BitReader::new(payload, tail), &mut sink);
                at.packet += 1;
            }
        });
        tracer.finish(&mut sink);
        Ok(())
    }
}

/// Passes on addresses, and contexts as they were reported last.
struct Decoded<'a> {
    retired: &'a mut dyn FnMut(u64, u64),
    context: u64,
}

impl Sink for Decoded<'_> {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| (self.retired)(address, self.context));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        if let Event::Context { context, .. } = event {
            self.context = context;
        }
    }
}
