//! Writes the modules for typical parameters into a folder, one file each, including the modules it
//! instantiates.
//!
//!     cargo run -p hartrace-encoder-hdl --example transport -- FOLDER

use hartrace_encap::EncapParams;
use hartrace_encoder_hdl::transport::{
    Frame, MemorySink, Packer, atb_sink, axis_sink, drain, encapsulator, fifo, funnel, memory_sink,
    packer, spill,
};
use hartrace_rtl::Component;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("a folder to write to is missing; give it as the only argument");
        return ExitCode::FAILURE;
    };
    for block in blocks() {
        let path = folder.join(format!("{}.sv", block.name()));
        let text: String = block.files().into_iter().map(|(_, text)| text).collect();
        if let Err(error) = std::fs::write(&path, text) {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn blocks() -> Vec<Component> {
    let encap = |s, t, y| Frame::Encap(EncapParams::new(s, t, y).expect("widths in range"));
    let mut blocks = vec![fifo(253, 8), fifo(253, 16), fifo(342, 16), fifo(342, 12), spill(64)];
    blocks.extend([
        encapsulator(Frame::Reference, 31),
        encapsulator(encap(0, 0, 0), 31),
        encapsulator(encap(8, 0, 0), 31),
        encapsulator(encap(8, 8, 0), 31),
        encapsulator(encap(6, 0, 2), 30),
        encapsulator(encap(4, 0, 0), 30),
        encapsulator(encap(4, 8, 1), 30),
    ]);
    for word_bytes in [4, 8, 16] {
        for max_bytes in [32, 40] {
            blocks.push(packer(Packer { max_bytes, word_bytes, mark_end: true }));
        }
        blocks.push(axis_sink(word_bytes));
        blocks.push(atb_sink(word_bytes));
        for burst_words in [1, 4, 16] {
            blocks.push(memory_sink(MemorySink { word_bytes, addr_width: 64, burst_words }));
        }
    }
    blocks.push(memory_sink(MemorySink { word_bytes: 8, addr_width: 32, burst_words: 4 }));
    blocks.extend([funnel(2, 33), funnel(4, 33), drain(4)]);
    blocks
}
