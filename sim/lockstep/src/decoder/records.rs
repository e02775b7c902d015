use hartrace_decoder_hdl::etmv4::Config;
use hartrace_etmv4::{
    Address, Addresses, Atoms, Cancel, Context, CycleCount, Exception, Headers, Is, Packet, Parsed,
    Reader, Return,
};

/// What is known after a packet.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The bytes cannot be understood; nothing else is known.
    pub error: bool,
    /// The header of the packet; bit 8: an extension, with its last byte.
    pub header: u16,
    /// The newest address, with its instruction set in bit 0.
    pub address: u64,
    /// The packet follows an exception, so its address is where that returns to.
    pub returns: bool,
    /// Number of atoms in the packet.
    pub atoms: u8,
    /// The atoms, the oldest lowest; a set bit is E.
    pub outcomes: u32,
    /// The events of the packet.
    pub events: u8,
    /// NS, SF, NSE, exception level (2 bits).
    pub context: u8,
    /// Virtual context identifier.
    pub vmid: u32,
    /// Context identifier.
    pub context_id: u32,
    /// Time.
    pub timestamp: u64,
    /// Cycles counted so far.
    pub cycles: u64,
    /// What the address of the last exception means (2 bits), and its number (10 bits).
    pub exception: u16,
    /// Elements that the packet commits or cancels, or instructions of a Q element.
    pub count: u32,
}

/// A record, and where it ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The number of the last byte of the packet.
    pub at: u64,
    /// The record.
    pub record: Record,
}

/// Reads packets in software.
#[derive(Debug)]
pub struct Records {
    config: Config,
    reader: Reader,
    /// Bytes that are not used yet, and the number of the first one.
    bytes: Vec<u8>,
    used: u64,
    synchronised: bool,
    addresses: Addresses,
    context: Option<Context>,
    threshold: u32,
    raised: bool,
    /// The trace unit has packets that count, so that records have a field for it.
    counts: bool,
    now: Record,
}

impl Records {
    /// Starts at the beginning of a stream.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            config: *config,
            reader: Reader::new(Headers::new(&config.unit)),
            bytes: Vec::new(),
            used: 0,
            synchronised: false,
            addresses: Addresses::default(),
            context: None,
            threshold: 0,
            raised: false,
            counts: !config.unit.commopt || config.unit.max_speculation > 0 || config.unit.q,
            now: Record::default(),
        }
    }

    /// Reads bytes and passes on the records that end in them.
    pub fn push(&mut self, bytes: &[u8], mut see: impl FnMut(Ended)) {
        self.bytes.extend_from_slice(bytes);
        let mut start = 0;
        while let Some((parsed, len)) =
            self.reader.parse(self.bytes.get(start..).unwrap_or_default())
        {
            let header = self.bytes.get(start).copied().unwrap_or_default();
            start += len;
            let record = match parsed {
                Parsed::Packet(packet) => {
                    self.synchronised = true;
                    Some(self.packet(header, &packet))
                }
                Parsed::Bad(_) if self.synchronised => {
                    self.synchronised = false;
                    self.reader.resynchronise();
                    Some(self.error())
                }
                // What looks like half a synchronisation is no packet either.
                Parsed::Bad(_) | Parsed::Unsynchronised => None,
            };
            if let Some(record) = record {
                see(Ended { at: self.used + start as u64 - 1, record });
            }
        }
        self.bytes.drain(..start);
        self.used += start as u64;
    }

    /// What was known counts no longer, apart from the cycles.
    fn error(&mut self) -> Record {
        self.addresses = Addresses::default();
        self.context = None;
        self.threshold = 0;
        self.now = Record { cycles: self.now.cycles, ..Record::default() };
        Record { error: true, ..self.now }
    }

    fn packet(&mut self, header: u8, packet: &Packet) -> Record {
        self.now.header = match packet {
            Packet::Async => 0x180,
            Packet::Discard => 0x103,
            Packet::Overflow => 0x105,
            _ => header.into(),
        };
        self.now.returns = std::mem::take(&mut self.raised);
        let (mut atoms, mut events, mut counted) = (None, 0, 0);
        match packet {
            Packet::Address(address) | Packet::Source(address) => self.address(address),
            Packet::Q(q) => {
                q.address.iter().for_each(|address| self.address(address));
                counted = q.count.unwrap_or(0);
            }
            Packet::Commit(count) | Packet::Cancel(Cancel::F1 { count, .. }) => counted = *count,
            Packet::AddressContext(address, context) => {
                self.address(address);
                self.context(context);
            }
            Packet::Context(Some(context)) => self.context(context),
            Packet::TraceInfo(info) => {
                self.addresses = Addresses::default();
                self.now.address = 0;
                self.now.timestamp = 0;
                self.threshold = info.threshold.unwrap_or(0) & self.config.unit.cycle_count_mask();
            }
            Packet::Timestamp(time) => {
                let sent = ones(time.bits.into());
                let all = ones(self.config.timestamp_bits);
                self.now.timestamp = (self.now.timestamp & !sent | time.value) & all;
            }
            Packet::CycleCount(count) => {
                let cycles = count.cycles(self.threshold).unwrap_or(0);
                let all = ones(self.config.cycles_bits);
                self.now.cycles = self.now.cycles.wrapping_add(cycles.into()) & all;
                counted = match *count {
                    CycleCount::F1 { commit, .. } => commit.unwrap_or(0),
                    CycleCount::F2 { commit, .. } => commit.into(),
                    CycleCount::F3 { .. } => 0,
                };
            }
            Packet::Exception(exception)
            | Packet::Reset(exception, _)
            | Packet::TransactionFail(exception, _) => self.exception(exception),
            Packet::Atoms(sent) => atoms = Some(*sent),
            Packet::Mispredict(sent) | Packet::Cancel(Cancel::F2(sent)) => atoms = *sent,
            Packet::Cancel(Cancel::F3 { atom: true, .. }) => atoms = Atoms::new(1, 1),
            Packet::Event(sent) => events = *sent,
            _ => {}
        }
        let (len, bits) = atoms.map_or((0, 0), |atoms| (atoms.len(), atoms.bits()));
        let count = if self.counts { counted } else { 0 };
        Record { atoms: len, outcomes: bits, events, count, ..self.now }
    }

    fn address(&mut self, address: &Address) {
        let wide = self.context.is_some_and(|context| context.sf);
        let (value, is) = self.addresses.update(address, wide);
        let is = u64::from(is == Is::Is1);
        self.now.address = (value | is) & ones(self.config.address_bits);
    }

    fn context(&mut self, context: &Context) {
        self.context = Some(*context);
        let bit = |bit: bool, at: u32| u8::from(bit) << at;
        self.now.context =
            context.el | bit(context.nse, 2) | bit(context.sf, 3) | bit(context.ns, 4);
        self.now.vmid = context.vmid.unwrap_or(self.now.vmid);
        self.now.context_id = context.context_id.unwrap_or(self.now.context_id);
    }

    fn exception(&mut self, exception: &Exception) {
        self.raised = true;
        let meaning = match exception.returns {
            Return::None => 0,
            Return::Address => 1,
            Return::Target => 2,
            Return::Reserved => 3,
        };
        self.now.exception = exception.number | meaning << 10;
    }
}

/// A number with the lowest bits set.
fn ones(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}
