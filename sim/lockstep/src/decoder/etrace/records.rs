use hartrace_decoder_hdl::etrace::{Config, ConfigError, Fault};
use hartrace_encap::{Deframer, Frame, FrameError, Framing, Item, Kind};
use hartrace_etrace::{
    AddressReport, BranchFmt, BranchMap, FieldName, Ioptions, Layout, ParseError, Payload,
    QualStatus, Trap,
};
use std::collections::BTreeMap;

/// The fields of a record by name; those that are not there are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EtraceRecord(BTreeMap<&'static str, u64>);

impl EtraceRecord {
    /// Sets a field.
    pub fn set(&mut self, name: &'static str, value: impl Into<u64>) {
        match value.into() {
            0 => self.0.remove(name),
            value => self.0.insert(name, value),
        };
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    fn field(&mut self, name: FieldName, value: impl Into<u64>) {
        self.set(name.as_str(), value);
    }

    /// Removes what has no meaning: outcomes that are not counted, an address that is not known, and the timestamp of
    /// a packet that is too short to have one.
    #[must_use]
    pub fn meaningful(mut self) -> Self {
        let branches = self.get("branches");
        let map = self.get("branch_map") & !(u64::MAX << branches);
        self.set("branch_map", map);
        if self.get("known") == 0 {
            self.set("address", 0u64);
        }
        if self.get("error") == Fault::TooShort as u64 {
            self.set("stamped", false);
            self.set("timestamp", 0u64);
        }
        self
    }
}

/// A record, and where its packet ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtraceEnded {
    /// The number of the last byte of the packet.
    pub at: u64,
    /// The record.
    pub record: EtraceRecord,
}

/// Reads packets in software.
#[derive(Debug)]
pub struct EtraceRecords {
    deframer: Deframer,
    packets: Packets,
}

impl EtraceRecords {
    /// Starts at the beginning of a stream, for the packets of one source.
    ///
    /// # Errors
    ///
    /// If there is no such encoder.
    pub fn new(config: &Config, source: u16) -> Result<Self, ConfigError> {
        let mut deframer = Deframer::new(Framing::Encap(config.encap));
        if !config.aligned {
            deframer.resync(&mut |_, _| {});
        }
        let params = &config.params;
        let packets = Packets {
            config: *config,
            layout: params.layout(config.unit)?,
            source,
            options: Ioptions::default(),
            address: None,
            cache: vec![None; if params.cache_size_p == 0 { 0 } else { 1 << params.cache_size_p }],
        };
        Ok(Self { deframer, packets })
    }

    /// Reads bytes and passes on the records of packets that end in them.
    pub fn push(&mut self, bytes: &[u8], mut see: impl FnMut(EtraceEnded)) {
        let packets = &mut self.packets;
        self.deframer.feed(bytes, &mut |offset, item| {
            let (used, record) = match item {
                Ok(Item::Frame(frame)) => packets.frame(&frame),
                Ok(Item::Null(_)) => return,
                Err(FrameError::TooShort { skip, .. }) => {
                    (skip as u64, Some(packets.fault(Fault::TooShort)))
                }
                Err(_) => return,
            };
            if let Some(record) = record {
                see(EtraceEnded { at: offset + used - 1, record: record.meaningful() });
            }
        });
    }
}

/// What is known between packets.
#[derive(Debug)]
struct Packets {
    config: Config,
    layout: Layout,
    source: u16,
    options: Ioptions,
    address: Option<u64>,
    cache: Vec<Option<u64>>,
}

impl Packets {
    /// The length of a frame, and its record if it is one of the instruction trace of the source.
    fn frame(&mut self, frame: &Frame<'_>) -> (u64, Option<EtraceRecord>) {
        let (header, encap) = (frame.header(), &self.config.encap);
        let stamp = header.timestamp.map_or(0, |_| u64::from(encap.timestamp_bytes()));
        let mut payload = frame.payload();
        let used = 1 + u64::from(encap.src_id_bits() / 8) + stamp + payload.bit_len() / 8;
        let wanted = header.source.is_none_or(|source| source == self.source);
        if !wanted || header.kind != Kind::Instruction {
            return (used, None);
        }
        let mut record = match Payload::parse(&self.layout, self.options, &mut payload) {
            Ok(payload) => self.payload(&payload),
            Err(ParseError::BranchFmt(_)) => self.fault(Fault::BranchFmt),
            Err(_) => self.fault(Fault::Format),
        };
        record.set("stamped", header.timestamp.is_some());
        record.set("timestamp", header.timestamp.unwrap_or(0));
        (used, Some(record))
    }

    fn fault(&self, fault: Fault) -> EtraceRecord {
        let mut record = self.address_now(EtraceRecord::default());
        record.set("error", fault as u64);
        record
    }

    fn address_now(&self, mut record: EtraceRecord) -> EtraceRecord {
        record.set("known", self.address.is_some());
        record.set("address", self.address.unwrap_or(0));
        record
    }

    fn payload(&mut self, payload: &Payload) -> EtraceRecord {
        use FieldName as N;
        let mut r = EtraceRecord::default();
        r.set("format", payload.format() as u64);
        let state = |r: &mut EtraceRecord, privilege: u8, time: u64, context: u64| {
            r.field(N::Privilege, privilege);
            r.field(N::Time, time);
            r.field(N::Context, context);
        };
        match payload {
            Payload::BranchCount(p) => {
                r.field(N::BranchCount, p.branch_count);
                let (code, report) = match &p.branch_fmt {
                    BranchFmt::NoAddress => (0u8, None),
                    BranchFmt::Address(report) => (2, Some(report)),
                    BranchFmt::MispredictedAddress(report) => (3, Some(report)),
                };
                r.field(N::BranchFmt, code);
                report.iter().for_each(|report| self.report(&mut r, report));
            }
            Payload::JumpTarget(p) => {
                r.field(N::Index, p.index);
                map(&mut r, &p.map);
                depth(&mut r, p.irdepth);
                self.address = self.cache.get(p.index as usize).copied().flatten();
                r.set("addressed", true);
            }
            Payload::Branch(p) => {
                map(&mut r, &p.map);
                p.address.iter().for_each(|report| self.report(&mut r, report));
            }
            Payload::Address(report) => self.report(&mut r, report),
            Payload::Start(p) => {
                r.field(N::Branch, p.branch);
                state(&mut r, p.privilege, p.time, p.context);
                r.set("addressed", true);
                self.address = Some(self.shift(p.address));
                self.cache.fill(None);
            }
            Payload::Trap(p) => {
                r.field(N::Branch, p.branch);
                state(&mut r, p.privilege, p.time, p.context);
                self.trap(&mut r, p);
            }
            Payload::Context(p) => state(&mut r, p.privilege, p.time, p.context),
            // No parameters of a hardware decoder have it.
            Payload::History(_) => {}
            Payload::Support(p) => {
                r.field(N::Ienable, p.ienable);
                r.field(N::EncoderMode, p.encoder_mode);
                r.field(N::QualStatus, p.qual_status as u64);
                let modes = self.config.unit.ioptions().iter().enumerate();
                let ioptions = modes.map(|(bit, mode)| u64::from(p.ioptions.get(*mode)) << bit);
                r.field(N::Ioptions, ioptions.sum::<u64>());
                r.field(N::Denable, p.data.denable);
                r.field(N::Dloss, p.data.dloss);
                r.field(N::Doptions, p.data.doptions);
                self.options = p.ioptions;
                if p.qual_status != QualStatus::NoChange || !p.ienable {
                    self.address = None;
                    self.cache.fill(None);
                }
            }
        }
        self.address_now(r)
    }

    fn shift(&self, sent: u64) -> u64 {
        sent << self.config.params.iaddress_lsb_p
    }

    /// An address with its flags, absolute or as a difference.
    fn report(&mut self, r: &mut EtraceRecord, report: &AddressReport) {
        r.set("addressed", true);
        r.field(FieldName::Notify, report.notify);
        r.field(FieldName::Updiscon, report.updiscon);
        depth(r, report.irdepth);
        let sent = self.shift(report.address);
        let bits = u32::from(self.config.params.iaddress_width_p);
        let all = u64::MAX >> (64 - bits);
        self.address = if self.options.full_address {
            Some(sent)
        } else {
            self.address.map(|address| address.wrapping_add(sent) & all)
        };
        // No instruction is at an odd address.
        let target = self.address.filter(|address| address & 1 == 0 && !report.notify);
        if let (Some(address), true) = (target, self.options.jump_target_cache) {
            let index = address >> self.config.params.iaddress_lsb_p.max(1);
            let entries = self.cache.len().max(1) as u64;
            if let Some(entry) = self.cache.get_mut((index % entries) as usize) {
                *entry = Some(address);
            }
        }
    }

    fn trap(&mut self, r: &mut EtraceRecord, p: &Trap) {
        r.field(FieldName::Ecause, p.ecause);
        r.field(FieldName::Interrupt, p.interrupt);
        r.field(FieldName::Thaddr, p.thaddr);
        r.field(FieldName::Tval, p.tval.unwrap_or(0));
        r.set("addressed", p.address.is_some());
        self.address = p.address.map(|address| self.shift(address));
        self.cache.fill(None);
    }
}

fn map(r: &mut EtraceRecord, map: &BranchMap) {
    r.field(FieldName::Branches, map.branches());
    r.field(FieldName::BranchMap, map.raw());
}

fn depth(r: &mut EtraceRecord, irdepth: Option<u32>) {
    r.field(FieldName::Irreport, irdepth.is_some());
    r.field(FieldName::Irdepth, irdepth.unwrap_or(0));
}
