//! Decoding on several threads: a stream is cut at synchronisations, which need nothing of what
//! comes before them.

use crate::{Compat, Config, Fault, Images, Sink, StreamPos, Tracer};
use hartrace_etrace::{Ioptions, ParamsError, Payload};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A payload, or why there is none, and where it was.
pub type Packet = (StreamPos, Result<Payload, Fault>);

/// Part of a stream that one thread decodes.
#[derive(Clone, Debug)]
struct Part<'p> {
    packets: &'p [Packet],
    /// Modes in force at its start.
    options: Ioptions,
    /// There is a part before it.
    continued: bool,
    /// The synchronisation that the next part starts with.
    until: Option<&'p Packet>,
}

/// Decodes `packets` on `threads` threads, each part into a sink of its own.
///
/// Returns the sinks in the order of the stream: one after the other they have received exactly what
/// a single [`Tracer`] would have delivered. Nothing is carried over: the packets are a whole stream.
pub fn decode<'a, S, F>(
    config: &Config,
    images: impl Into<Images<'a>>,
    packets: &[Packet],
    threads: NonZeroUsize,
    sink: F,
) -> Result<Vec<S>, ParamsError>
where
    S: Sink + Send,
    F: Fn() -> S + Sync,
{
    config.params.layout(config.unit)?;
    let images = images.into();
    let parts = split(config, &images, packets, threads);
    let done: Vec<Mutex<Option<S>>> = parts.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (Some(part), Some(slot)) = (parts.get(index), done.get(index)) else { break };
            // The configuration was checked above.
            let Ok(tracer) = Tracer::new(config.clone(), images.clone()) else { break };
            let result = decode_part(tracer, part, sink());
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get() {
            scope.spawn(work);
        }
        work();
    });
    let sinks = done.into_iter();
    Ok(sinks.filter_map(|s| s.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

fn decode_part<S: Sink>(mut tracer: Tracer<'_>, part: &Part<'_>, mut sink: S) -> S {
    tracer.set_options(part.options);
    if part.continued {
        tracer.take_over();
    }
    for (at, packet) in part.packets {
        match packet {
            Ok(payload) => tracer.feed(*at, payload, &mut sink),
            Err(fault) => tracer.damage(*at, *fault, &mut sink),
        }
    }
    match part.until {
        Some((at, Ok(Payload::Start(start)))) => tracer.approach(*at, start, &mut sink),
        _ => tracer.finish(&mut sink),
    }
    sink
}

/// Cuts a stream into parts of similar size, several per thread so that none waits long.
fn split<'p>(
    config: &Config,
    images: &Images<'_>,
    packets: &'p [Packet],
    threads: NonZeroUsize,
) -> Vec<Part<'p>> {
    let whole = || vec![Part { packets, options: Ioptions::default(), continued: false, until: None }];
    // The C model's predictor lives on across synchronisations (C5).
    if threads.get() == 1 || config.compat == Compat::CModel {
        return whole();
    }
    let least = packets.len().checked_div(threads.get().saturating_mul(4)).unwrap_or(0).max(64);
    let mut options = Ioptions::default();
    let mut start = (0, options);
    let mut parts = Vec::new();
    for (index, (_, packet)) in packets.iter().enumerate() {
        match packet {
            Ok(Payload::Support(support)) => options = support.ioptions,
            // A synchronisation where there is no code is a fault, and those depend on the past.
            Ok(Payload::Start(p))
                if index.saturating_sub(start.0) >= least && images.code_at(config, p.context, p.address) =>
            {
                parts.push(Part {
                    packets: packets.get(start.0..index).unwrap_or_default(),
                    options: start.1,
                    continued: start.0 > 0,
                    until: packets.get(index),
                });
                start = (index, options);
            }
            _ => {}
        }
    }
    parts.push(Part {
        packets: packets.get(start.0..).unwrap_or_default(),
        options: start.1,
        continued: start.0 > 0,
        until: None,
    });
    parts
}
