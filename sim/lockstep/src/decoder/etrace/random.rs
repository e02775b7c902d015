//! Random streams of packets.

use fastrand::Rng;
use hartrace_bits::BitWriter;
use hartrace_decoder_hdl::etrace::{Config, ConfigError};
use hartrace_encap::{EncapParams, FrameHeader, Framing, Kind, MAX_FRAME};
use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Context, DataSupport, Format,
    Ioptions, JumpTarget, Layout, MAX_PAYLOAD_BYTES, Mode, Params, Payload, QualStatus, Start,
    Support, Trap, Unit,
};

/// Parameters of a decoder with any fields, for this many bytes per cycle.
#[must_use]
pub fn config(unroll: u32, seed: u64) -> Config {
    let mut random = Rng::with_seed(seed);
    std::iter::repeat_with(|| any_config(unroll, &mut random))
        .find(|config| config.check().is_ok())
        .unwrap_or_else(|| unreachable!("some parameters are possible"))
}

fn any_config(unroll: u32, random: &mut Rng) -> Config {
    let (cache, predictor) = (random.u8(..3) > 0, random.bool());
    let returns = random.u8(..3);
    let params = Params {
        iaddress_width_p: if random.bool() { 64 } else { random.u8(8..=64) },
        iaddress_lsb_p: random.u8(0..=2),
        privilege_width_p: random.u8(1..=3),
        ecause_width_p: random.u8(1..=8),
        context_width_p: random.u8(1..=32),
        nocontext_p: random.bool(),
        time_width_p: random.u8(1..=40),
        notime_p: random.bool(),
        f0s_width_p: random.u8(u8::from(cache && predictor)..=3),
        bpred_size_p: if predictor { 4 } else { 0 },
        cache_size_p: if cache { random.u8(1..=6) } else { 0 },
        return_stack_size_p: if returns == 1 { random.u8(1..=4) } else { 0 },
        call_counter_size_p: if returns == 2 { random.u8(1..=5) } else { 0 },
        sijump_p: false,
        hpred_size_p: 0,
    };
    let type_bits = random.u8(..4);
    let source_bits = if random.bool() { 0 } else { random.u8(..=16) };
    let encap = EncapParams::new(source_bits, random.u8(..=8), type_bits)
        .and_then(|encap| encap.with_instruction_type(random.u8(..) & !(0xff << type_bits)))
        .unwrap_or_else(|_| unreachable!("all of these widths are possible"));
    let unit = if random.bool() { Unit::Hartrace } else { Unit::Reference };
    Config { unroll, params, unit, encap, aligned: random.bool() }
}

/// Packets for a decoder.
#[derive(Debug)]
pub struct Stream {
    random: Rng,
    config: Config,
    layout: Layout,
    options: Ioptions,
    /// The source of most packets.
    source: u16,
    bytes: Vec<u8>,
}

impl Stream {
    /// A stream of this source. Unless it starts with a packet, it has something else before a run of null packets.
    ///
    /// # Errors
    ///
    /// If there is no such encoder.
    pub fn new(config: &Config, source: u16, seed: u64) -> Result<Self, ConfigError> {
        let layout = config.params.layout(config.unit)?;
        let (random, options) = (Rng::with_seed(seed), Ioptions::default());
        let mut stream =
            Self { random, config: *config, layout, options, source, bytes: Vec::new() };
        let (source, stamp) = (config.encap.src_id_bits() / 8, config.encap.timestamp_bytes());
        let longest = usize::from(31 + source + stamp);
        if !config.aligned {
            let rest = stream.random.usize(1..60);
            stream.any_bytes(rest);
            // A run that may lie within a packet, and what would be a packet after it.
            stream.bytes.push(0x1f);
            stream.nulls(longest);
            stream.shortest(stream.bytes.len() + 20);
        }
        stream.nulls(longest + 1);
        Ok(stream)
    }

    /// The bytes of the stream.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds packets of all formats, each equally often, up to a number of bytes.
    pub fn packets(&mut self, len: usize) {
        while self.bytes.len() < len {
            match self.random.u8(..16) {
                0 => {
                    let count = self.random.usize(1..4);
                    self.nulls(count);
                }
                1 => self.frame_of_any_bytes(),
                _ => {
                    let format = self.random.choice(Format::STANDARD).unwrap_or(Format::Start);
                    self.packet(format);
                }
            }
        }
    }

    /// Adds only packets of two bytes where there are such, up to a number of bytes.
    pub fn shortest(&mut self, len: usize) {
        let own = FrameHeader {
            source: (self.config.encap.src_id_bits() > 0).then_some(self.source),
            ..FrameHeader::default()
        };
        // An absolute address, so that the differences are of something.
        self.frame(&own, &[0b0011, 0, 0, 0]);
        while self.bytes.len() < len {
            let format = if self.random.u8(..8) > 0 { 2 } else { self.random.u8(..4) };
            let byte = self.random.u8(..64) << 2 | format;
            self.frame(&own, &[byte]);
        }
    }

    /// Adds packets with damage: bytes are added and removed, and boundaries are lost for a while.
    pub fn damaged(&mut self, len: usize) {
        while self.bytes.len() < len {
            let size = self.bytes.len() + self.random.usize(1..200);
            self.packets(size);
            match self.random.u8(..4) {
                0 => self.bytes.truncate(self.bytes.len() - self.random.usize(..20)),
                1 => {
                    let count = self.random.usize(..60);
                    self.nulls(count);
                }
                2 => {
                    let count = self.random.usize(..50);
                    self.any_bytes(count);
                }
                _ => {}
            }
        }
    }

    fn any_bytes(&mut self, count: usize) {
        for _ in 0..count {
            self.bytes.push(self.random.u8(..));
        }
    }

    /// Null packets of all kinds.
    fn nulls(&mut self, count: usize) {
        for _ in 0..count {
            self.bytes.push(self.random.u8(..8) << 5);
        }
    }

    fn packet(&mut self, format: Format) {
        let payload = self.payload(format);
        let mut bytes = [0; MAX_PAYLOAD_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        // Formats whose mode is off cannot be sent.
        if payload.emit(&self.layout, self.options, &mut out).is_err() {
            return;
        }
        let mut len =
            if self.random.u8(..4) > 0 { out.finish_compressed() } else { out.finish_padded() };
        // Any number of copies of the sign may follow.
        let header = self.header();
        let before = u32::from(self.config.encap.src_id_bits() % 8 + self.config.encap.type_bits());
        let most = MAX_PAYLOAD_BYTES - before.div_ceil(8) as usize;
        if self.random.u8(..8) == 0 && len < most {
            let sign = if bytes[len - 1] >> 7 == 1 { 0xff } else { 0 };
            let longer = self.random.usize(len..=most);
            bytes[len..longer].fill(sign);
            len = longer;
        }
        let sent = self.frame(&header, &bytes[..len]);
        let own = header.source.is_none_or(|source| source == self.source);
        if let (Payload::Support(support), true, true, Kind::Instruction) =
            (payload, sent, own, header.kind)
        {
            self.options = support.ioptions;
        }
    }

    fn frame_of_any_bytes(&mut self) {
        let len = self.random.usize(1..=20);
        let payload: Vec<u8> = std::iter::repeat_with(|| self.random.u8(..)).take(len).collect();
        // A support packet would change the modes.
        let payload: Vec<u8> = payload.into_iter().map(|byte| byte & 0xfe).collect();
        let header = self.header();
        self.frame(&header, &payload);
    }

    /// Adds a frame; says whether there is one.
    fn frame(&mut self, header: &FrameHeader, payload: &[u8]) -> bool {
        let mut out = [0; MAX_FRAME];
        let len = Framing::Encap(self.config.encap).emit(header, payload, &mut out);
        let frame = len.ok().and_then(|len| out.get(..len));
        frame.is_some_and(|frame| {
            self.bytes.extend_from_slice(frame);
            true
        })
    }

    fn header(&mut self) -> FrameHeader {
        let (random, encap) = (&mut self.random, &self.config.encap);
        let other = random.u8(..8) == 0;
        let id = if other { random.u16(..) } else { self.source };
        let id = id & ((1u32 << encap.src_id_bits()) - 1) as u16;
        let stamp = random.u64(..) >> (64 - 8 * u32::from(encap.timestamp_bytes().max(1)));
        let data = encap.type_bits() > 0 && random.u8(..16) == 0;
        FrameHeader {
            source: (encap.src_id_bits() > 0).then_some(id),
            timestamp: (encap.timestamp_bytes() > 0 && random.u8(..4) == 0).then_some(stamp),
            flow: random.u8(..4),
            kind: if data { Kind::Data } else { Kind::Instruction },
            index: None,
        }
    }

    /// A number of this many bits that is often small or close to the end.
    fn number(&mut self, bits: u32) -> u64 {
        if bits == 0 {
            return 0;
        }
        let kept = self.random.u32(1..=bits);
        let value = (self.random.u64(..) << (64 - kept)) as i64 >> (64 - kept);
        value as u64 & (u64::MAX >> (64 - bits))
    }

    fn report(&mut self) -> AddressReport {
        let params = self.config.params;
        AddressReport {
            address: self.number(params.address_bits()),
            notify: self.random.u8(..8) == 0,
            updiscon: self.random.u8(..8) == 0,
            irdepth: self.depth(),
        }
    }

    fn depth(&mut self) -> Option<u32> {
        let bits = self.config.params.irdepth_bits();
        (self.random.u8(..4) == 0).then(|| self.number(bits) as u32)
    }

    fn map(&mut self, least: u8) -> BranchMap {
        let branches = self.random.u8(least..=31);
        let branches = if self.random.bool() { branches } else { branches.min(3) };
        BranchMap::new(branches, self.random.u32(..)).unwrap_or_default()
    }

    fn payload(&mut self, format: Format) -> Payload {
        let params = self.config.params;
        let context = self.number(params.context_bits());
        let time = self.number(params.time_bits());
        let privilege = self.number(params.privilege_width_p.into()) as u8;
        let branch = self.random.bool();
        match format {
            Format::BranchCount => Payload::BranchCount(BranchCount {
                branch_count: self.number(32) as u32,
                branch_fmt: match self.random.u8(..3) {
                    0 => BranchFmt::NoAddress,
                    1 => BranchFmt::Address(self.report()),
                    _ => BranchFmt::MispredictedAddress(self.report()),
                },
            }),
            Format::JumpTarget => Payload::JumpTarget(JumpTarget {
                index: self.number(params.cache_size_p.into()) as u32,
                map: self.map(0),
                irdepth: self.depth(),
            }),
            Format::Branch => {
                let full = self.random.u8(..4) == 0;
                let map = self.map(if full { 31 } else { 1 });
                let full = full && map.branches() == 31;
                Payload::Branch(Branch { map, address: (!full).then(|| self.report()) })
            }
            Format::Address => Payload::Address(self.report()),
            Format::Start => {
                let address = self.number(params.address_bits());
                Payload::Start(Start { branch, privilege, time, context, address })
            }
            Format::Trap => {
                let (interrupt, thaddr) = (self.random.bool(), self.random.bool());
                let implicit = self.options.implicit_exception && thaddr;
                let address = (!implicit).then(|| self.number(params.address_bits()));
                let tval = (!interrupt).then(|| self.number(params.iaddress_width_p.into()));
                let ecause = self.number(params.ecause_width_p.into());
                Payload::Trap(Trap {
                    branch,
                    privilege,
                    time,
                    context,
                    ecause,
                    interrupt,
                    thaddr,
                    address,
                    tval,
                })
            }
            Format::Context => Payload::Context(Context { privilege, time, context }),
            // Not in hardware, and not among the formats that are chosen from.
            Format::History | Format::Support => self.support(),
        }
    }

    fn support(&mut self) -> Payload {
        let mut ioptions = Ioptions::default();
        for mode in self.config.unit.ioptions() {
            let extension = matches!(mode, Mode::JumpTargetCache | Mode::BranchPrediction);
            let on = if extension { self.random.u8(..4) > 0 } else { self.random.u8(..4) == 0 };
            ioptions.set(*mode, on);
        }
        let stops = self.random.u8(..4) == 0;
        let qual_status = QualStatus::from_raw(if stops { self.random.u8(..4) } else { 0 });
        let data = DataSupport {
            denable: self.random.bool(),
            dloss: self.random.bool(),
            doptions: self.random.u8(..16),
        };
        Payload::Support(Support {
            ienable: !stops || self.random.bool(),
            encoder_mode: self.random.u8(..2),
            qual_status,
            ioptions,
            data,
        })
    }
}
