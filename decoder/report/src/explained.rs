//! Packets with the reason for each.

use crate::dump::{Because, Dump, Listed};
use crate::packets::{Packets, Reader, sources};
use hartrace_capture::params::Setup;
use hartrace_decoder::stream::Transport;
use hartrace_etrace::Payload;
use hartrace_etrace::encoder::Reason;
use std::io::{self, Write};

/// Lists packets, each with its reason.
#[derive(Debug)]
pub struct Explained {
    dump: Dump,
    reader: Reader,
    transport: Transport,
    number: u64,
    offset: u64,
    sound: bool,
}

/// Where a packet comes from: the number of a row, with its line and address.
pub type RowPlace = (u64, Option<(Option<u64>, u64)>);

impl Explained {
    /// Starts a list of the packets of such a stream, as text or JSON.
    pub fn new(setup: &Setup, json: bool) -> Self {
        let dump = Dump { json, with_source: false, xlen: setup.xlen };
        let reader = Reader::new(setup.layout, setup.options);
        let transport = setup.transport.finding_sync(false).stream();
        Self { dump, reader, transport, number: 0, offset: 0, sound: true }
    }

    /// Whether all packets could be read.
    pub fn is_sound(&self) -> bool {
        self.sound
    }

    /// Lists the packet in a frame, which is read back as `dump` would read it.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn frame(
        &mut self,
        frame: &[u8],
        reason: Reason,
        (row, place): RowPlace,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for packet in Packets::new(frame, self.transport) {
            let packet = packet.moved(self.number, self.offset);
            let listed = Listed::new(packet, &mut self.reader);
            let listed = listed.because(because(reason, Some(row), place));
            self.sound &= listed.is_sound();
            self.dump.write(out, &listed)?;
            self.number = self.number.saturating_add(1);
        }
        self.offset = self.offset.saturating_add(frame.len() as u64);
        Ok(())
    }

    /// Lists the packets of a capture. All are read first: what follows a packet reveals more about its reason, which
    /// `infer` finds, than the packet itself.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn capture(
        mut self,
        bytes: &[u8],
        setup: &Setup,
        infer: impl Fn(&[(Option<u16>, Option<Payload>)]) -> Vec<Option<Reason>>,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let transport = setup.transport.stream();
        self.dump.with_source = sources(bytes, transport).len() > 1;
        let packets = Packets::new(bytes, transport);
        let listed: Vec<Listed<'_>> =
            packets.map(|packet| Listed::new(packet, &mut self.reader)).collect();
        let payloads = listed.iter().map(|packet| (packet.source(), packet.payload().copied()));
        let reasons = infer(&payloads.collect::<Vec<_>>());
        for (packet, reason) in listed.into_iter().zip(reasons) {
            self.sound &= packet.is_sound();
            let packet = match reason {
                Some(reason) => packet.because(because(reason, None, None)),
                None => packet,
            };
            self.dump.write(out, &packet)?;
        }
        Ok(self.sound)
    }
}

fn because(reason: Reason, row: Option<u64>, place: Option<(Option<u64>, u64)>) -> Because {
    Because { reason: reason.name(), why: reason.text(), row, place }
}
