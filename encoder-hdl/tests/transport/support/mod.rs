//! Blocks at the corners of their parameters, for all tests of hardware.

#![allow(dead_code, reason = "every test uses a part of it")]

use hartrace_encap::EncapParams;
use hartrace_encoder_hdl::transport::{
    Aligner, Frame, MemorySink, Packer, aligner, atb_sink, axis_sink, drain, encapsulator, fifo,
    frame_generator, funnel, memory_sink, packer, spill,
};
use hartrace_rtl::Component;

/// Frames with every odd and even part of srcID and type, with and without time.
pub(crate) fn frames() -> Vec<Frame> {
    let mut frames = vec![Frame::Reference];
    for src_id in [0, 1, 4, 6, 7, 8, 9, 16] {
        for timestamp in [0, 1, 3, 8] {
            for kind in [0, 1, 2, 7, 8] {
                frames.push(Frame::Encap(EncapParams::new(src_id, timestamp, kind).unwrap()));
            }
        }
    }
    frames
}

pub(crate) fn packers() -> Vec<Packer> {
    let mut packers = Vec::new();
    for word_bytes in [2, 4, 8, 16] {
        for max_bytes in [1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 40, 42] {
            for mark_end in [false, true] {
                packers.push(Packer { max_bytes, word_bytes, mark_end });
            }
        }
    }
    packers
}

pub(crate) fn memory_sinks() -> Vec<MemorySink> {
    let mut sinks = Vec::new();
    for word_bytes in [4, 8, 16] {
        for addr_width in [12, 32, 64] {
            for burst_words in [1, 2, 4, 8, 16] {
                sinks.push(MemorySink { word_bytes, addr_width, burst_words });
            }
        }
    }
    sinks
}

/// Every block at the corners of its parameters.
pub(crate) fn corners() -> Vec<Component> {
    let mut blocks = Vec::new();
    for width in [1, 2, 64, 261, 342] {
        blocks.push(spill(width));
        for depth in [2, 3, 4, 5, 7, 8, 16, 17, 32, 100] {
            blocks.push(fifo(width, depth));
        }
    }
    for frame in frames() {
        for max_bytes in [1, 2, 15, 16, frame.max_payload()] {
            blocks.push(encapsulator(frame, max_bytes));
        }
    }
    blocks.extend(packers().into_iter().map(packer));
    for word_bytes in [4, 8, 16] {
        for (max_bytes, run_bytes) in [(2, 32), (16, 32), (31, 32), (32, 32), (42, 42), (20, 42)] {
            blocks.push(aligner(Aligner { max_bytes, run_bytes, word_bytes }));
        }
    }
    for word_bytes in [2, 4, 8, 16] {
        blocks.push(axis_sink(word_bytes));
        blocks.push(atb_sink(word_bytes));
    }
    blocks.extend(memory_sinks().into_iter().map(memory_sink));
    for sources in [2, 3, 4, 5, 8] {
        for max_bytes in [1, 31, 42] {
            blocks.push(funnel(sources, max_bytes));
        }
    }
    blocks.extend([1, 2, 6].map(drain));
    blocks.extend([1, 2, 64, 0xffff].map(frame_generator));
    blocks
}
