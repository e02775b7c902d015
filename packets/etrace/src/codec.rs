//! Parse and emit, driven by the field table.

use crate::fast;
use crate::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Context, DataSupport, EmitError,
    Field, FieldName, Format, History, Ioptions, JumpTarget, Layout, ParseError, Payload, Presence,
    QualStatus, Records, Start, Support, Trap, Unit, Width, branch_map_width,
};
use hartrace_bits::{BitReader, BitWriter, Incomplete, WriteError, mask, sign_extend};

/// The length of rv_tracer's shortest address, including its flags.
const RV_TRACER_REPORT_BITS: u64 = 9 + 3;

/// The raw value of every field; 0 where the payload has none.
struct Values {
    raw: [u64; FieldName::ALL.len()],
    /// C3: an unused irdepth is filled with ones.
    ones: bool,
    /// The one field that is wider than 64 bits.
    records: Records,
}

impl Values {
    const fn new() -> Self {
        Self { raw: [0; FieldName::ALL.len()], ones: false, records: Records::EMPTY }
    }

    fn get(&self, name: FieldName) -> u64 {
        self.raw.get(name as usize).copied().unwrap_or(0)
    }

    fn flag(&self, name: FieldName) -> bool {
        self.get(name) != 0
    }

    fn byte(&self, name: FieldName) -> u8 {
        self.get(name) as u8
    }

    fn set(&mut self, name: FieldName, value: impl Into<u64>) {
        if let Some(slot) = self.raw.get_mut(name as usize) {
            *slot = value.into();
        }
    }

    fn present(&self, field: &Field, options: Ioptions) -> bool {
        match field.presence {
            Presence::Always => true,
            Presence::IfBranches => self.flag(FieldName::Branches),
            Presence::IfCountAddress => self.get(FieldName::BranchFmt) >= 2,
            Presence::UnlessImplicit => {
                !(options.implicit_exception && self.flag(FieldName::Thaddr))
            }
            Presence::IfException => !self.flag(FieldName::Interrupt),
            Presence::IfStop => self.flag(FieldName::Stop),
        }
    }

    /// Width of the records of a payload.
    fn records_width(&self) -> u32 {
        let stop = if self.flag(FieldName::Stop) { History::HALF_WORDS_BITS } else { 0 };
        History::RECORD_BITS.saturating_sub(stop)
    }

    fn map_width(&self, none_if_empty: bool) -> u32 {
        match self.byte(FieldName::Branches) {
            0 if none_if_empty => 0,
            branches => branch_map_width(branches).into(),
        }
    }
}

impl Payload {
    /// Parses one payload. `options` are the modes in force, from the last support packet.
    ///
    /// On error the reader does not move.
    // A payload does not fit in registers: a call would copy it several times.
    #[inline(always)]
    pub fn parse(
        layout: &Layout,
        options: Ioptions,
        bits: &mut BitReader<'_>,
    ) -> Result<Self, ParseError> {
        Ok(match fast::parse(layout, bits) {
            Some(payload) => payload,
            None => Self::parse_by_table(layout, options, bits)?,
        })
    }

    /// Like [`Payload::parse`], but reads every format field by field from the table. It is slower;
    /// tests check `parse` against it.
    // Rarely called: it must not make `parse` larger where that is inlined.
    #[inline(never)]
    pub fn parse_by_table(
        layout: &Layout,
        options: Ioptions,
        bits: &mut BitReader<'_>,
    ) -> Result<Self, ParseError> {
        let start = bits.clone();
        parse(layout, options, bits).inspect_err(|_| *bits = start)
    }

    /// Writes one payload, uncompressed: call
    /// [`BitWriter::finish_compressed`] for the shortest form, or
    /// [`BitWriter::finish_padded`] in the rv_tracer dialect.
    pub fn emit(
        &self,
        layout: &Layout,
        options: Ioptions,
        out: &mut BitWriter<'_>,
    ) -> Result<(), EmitError> {
        self.emit_filled(layout, options, false, out)
    }

    /// Like [`Payload::emit`]; with `ones`, an unused irdepth is filled with ones (C3).
    pub(crate) fn emit_filled(
        &self,
        layout: &Layout,
        options: Ioptions,
        ones: bool,
        out: &mut BitWriter<'_>,
    ) -> Result<(), EmitError> {
        let values = self.values(layout, options, ones)?;
        for name in FieldName::ALL {
            // A value without a field would be lost.
            let known = layout.fields(self.format()).iter().any(|f| f.name == *name);
            if !known && values.flag(*name) && !matches!(name, FieldName::Subformat) {
                return Err(EmitError::TooWide(*name));
            }
        }
        for field in layout.fields(self.format()) {
            if !values.present(field, options) {
                continue;
            }
            let value = values.get(field.name);
            let result = match field.width {
                Width::Bits(width) => out.write(value, width.into()),
                Width::BranchMap { none_if_empty } => {
                    out.write(value, values.map_width(none_if_empty))
                }
                Width::Chunked => {
                    let width = layout.params().iaddress_width_p.into();
                    write_chunked(out, value, width, self.is_sync())
                }
                Width::Records => values.records.write(out, values.records_width()),
            };
            result.map_err(|err| match err {
                WriteError::TooWide => EmitError::TooWide(field.name),
                _ => EmitError::BufferFull,
            })?;
        }
        Ok(())
    }

    /// Number of bits before compression.
    pub fn bit_len(&self, layout: &Layout, options: Ioptions) -> Result<u64, EmitError> {
        let mut scratch = [0; 64];
        let mut out = BitWriter::new(&mut scratch);
        self.emit(layout, options, &mut out)?;
        Ok(out.position().0)
    }
}

fn parse(
    layout: &Layout,
    options: Ioptions,
    bits: &mut BitReader<'_>,
) -> Result<Payload, ParseError> {
    let format = parse_format(layout, options, bits)?;
    let mut values = Values::new();
    let fields = layout.fields(format);
    let mut body =
        fields.iter().skip_while(|f| matches!(f.name, FieldName::Format | FieldName::Subformat));
    while let Some(field) = body.next() {
        if !values.present(field, options) {
            continue;
        }
        let width = match field.width {
            Width::Bits(width) => width.into(),
            Width::BranchMap { none_if_empty } => values.map_width(none_if_empty),
            Width::Chunked => {
                let after = body
                    .clone()
                    .filter(|f| values.present(f, options))
                    .map(|f| if let Width::Bits(width) = f.width { width.into() } else { 0 })
                    .fold(1, u64::saturating_add);
                let chunks = bits.remaining().checked_sub(after).map_or(0, |rest| rest >> 3);
                // An address has at most 8 bytes; the rest of a longer payload is padding.
                chunks.min(8).saturating_mul(8).saturating_add(1) as u32
            }
            Width::Records => {
                values.records = Records::read(bits, values.records_width())
                    .map_err(|Incomplete { missing }| incomplete(field.name, missing))?;
                continue;
            }
        };
        // rv_tracer pads with zeros but never truncates: nothing may be read past the end.
        let missing = u64::from(width).saturating_sub(bits.remaining());
        if layout.unit() == Unit::RvTracer && missing > 0 {
            return Err(incomplete(field.name, missing as u32));
        }
        let value = read(bits, field.name, width)?;
        let value = match field.width {
            Width::Chunked if !matches!(format, Format::Start | Format::Trap) => {
                sign_extend(value, width)
            }
            _ => value,
        };
        values.set(field.name, value);
        if field.name == FieldName::BranchFmt && value == 1 {
            return Err(ParseError::BranchFmt(1));
        }
        // rv_tracer also sends a full map with branches = 31, and then has no room for an address.
        if field.name == FieldName::BranchMap
            && format == Format::Branch
            && layout.unit() == Unit::RvTracer
            && values.byte(FieldName::Branches) == BranchMap::MAX
            && bits.remaining() < RV_TRACER_REPORT_BITS
        {
            values.set(FieldName::Branches, 0u8);
        }
    }
    Ok(payload(layout, options, format, &values))
}

/// Reads one field. A chunked address has up to 65 bits; the top one only repeats the sign.
fn read(bits: &mut BitReader<'_>, field: FieldName, width: u32) -> Result<u64, ParseError> {
    bits.read_wide(width)
        .map(|value| value as u64)
        .map_err(|Incomplete { missing }| incomplete(field, missing))
}

fn incomplete(field: FieldName, missing: u32) -> ParseError {
    ParseError::Incomplete { field, missing }
}

/// Reads format and subformat.
fn parse_format(
    layout: &Layout,
    options: Ioptions,
    bits: &mut BitReader<'_>,
) -> Result<Format, ParseError> {
    Ok(match read(bits, FieldName::Format, 2)? {
        0 => {
            let width = layout.params().f0s_width_p;
            let count = options.branch_prediction;
            let index = options.jump_target_cache;
            let history = layout.has_history(options);
            if width == 0 {
                match (count, index, history) {
                    (true, false, false) => Format::BranchCount,
                    (false, true, false) => Format::JumpTarget,
                    (false, false, true) => Format::History,
                    (false, false, false) => return Err(ParseError::NoExtension),
                    _ => return Err(ParseError::AmbiguousExtension),
                }
            } else {
                match read(bits, FieldName::Subformat, width.into())? {
                    0 if count => Format::BranchCount,
                    1 if index => Format::JumpTarget,
                    2 if history => Format::History,
                    raw => return Err(ParseError::Subformat(raw as u8)),
                }
            }
        }
        1 => Format::Branch,
        2 => Format::Address,
        _ => match read(bits, FieldName::Subformat, 2)? {
            0 => Format::Start,
            1 => Format::Trap,
            2 => Format::Context,
            _ => Format::Support,
        },
    })
}

/// rv_tracer: the value's two's complement width rounded up to whole bytes, plus one bit.
///
/// The value must be an address of `iaddress_width` bits, or the signed difference of two.
fn write_chunked(
    out: &mut BitWriter<'_>,
    value: u64,
    iaddress_width: u32,
    absolute: bool,
) -> Result<(), WriteError> {
    let extended = if absolute {
        value & mask(iaddress_width)
    } else {
        sign_extend(value, iaddress_width.saturating_add(1))
    };
    if extended != value {
        return Err(WriteError::TooWide);
    }
    let negative = !absolute && value >> 63 != 0;
    let redundant = if negative { value.leading_ones() } else { value.leading_zeros() };
    let significant = 65u32.saturating_sub(redundant);
    let width = significant.div_ceil(8).clamp(1, 8).saturating_mul(8).saturating_add(1);
    let wide = u128::from(value) | if negative { u128::MAX << 64 } else { 0 };
    out.write_wide(wide & (u128::MAX >> 128u32.saturating_sub(width)), width)
}

/// The top bit of the address field; the first status flag is sent as a difference from it.
fn address_msb(layout: &Layout, address: u64) -> bool {
    let top = layout.params().address_bits().saturating_sub(1);
    address.wrapping_shr(top) & 1 != 0
}

impl Values {
    fn machine_state(&mut self, privilege: u8, time: u64, context: u64) {
        self.set(FieldName::Privilege, privilege);
        self.set(FieldName::Time, time);
        self.set(FieldName::Context, context);
    }

    fn map(&mut self, map: &BranchMap) {
        self.set(FieldName::Branches, map.branches());
        self.set(FieldName::BranchMap, map.raw());
    }

    fn get_map(&self) -> BranchMap {
        BranchMap::new(self.byte(FieldName::Branches), self.get(FieldName::BranchMap) as u32)
            .unwrap_or_default()
    }

    /// The bit sent just before irreport in format 0.1; irreport is sent as a difference from it.
    fn index_base(&self) -> bool {
        let (field, width) = match self.map_width(true) {
            0 => (FieldName::Branches, 5),
            width => (FieldName::BranchMap, width),
        };
        self.get(field).wrapping_shr(width.saturating_sub(1)) & 1 != 0
    }

    /// Spec: E-Trace 2.0, 7.6.2 to 7.6.4: notify, updiscon and irreport are sent as differences
    /// from the bit before them; an unused irdepth repeats that bit.
    fn report(&mut self, layout: &Layout, report: &AddressReport) {
        let notify = match layout.unit() {
            Unit::RvTracer => report.notify,
            _ => address_msb(layout, report.address) ^ report.notify,
        };
        let updiscon = notify ^ report.updiscon;
        self.set(FieldName::Address, report.address);
        self.set(FieldName::Notify, notify);
        self.set(FieldName::Updiscon, updiscon);
        self.depth(layout, updiscon, report.irdepth);
    }

    fn depth(&mut self, layout: &Layout, base: bool, depth: Option<u32>) {
        let filler = if base || self.ones { mask(layout.params().irdepth_bits()) } else { 0 };
        self.set(FieldName::Irreport, base ^ depth.is_some());
        self.set(FieldName::Irdepth, depth.map_or(filler, u64::from));
    }

    fn get_report(&self, layout: &Layout) -> AddressReport {
        let address = self.get(FieldName::Address);
        let notify = self.flag(FieldName::Notify);
        let updiscon = self.flag(FieldName::Updiscon);
        AddressReport {
            address,
            notify: match layout.unit() {
                Unit::RvTracer => notify,
                _ => address_msb(layout, address) ^ notify,
            },
            updiscon: notify ^ updiscon,
            irdepth: self.get_depth(updiscon),
        }
    }

    fn get_depth(&self, base: bool) -> Option<u32> {
        let reported = self.flag(FieldName::Irreport) != base;
        reported.then(|| self.get(FieldName::Irdepth) as u32)
    }
}

impl Payload {
    fn values(&self, layout: &Layout, options: Ioptions, ones: bool) -> Result<Values, EmitError> {
        use FieldName as N;
        let format = self.format();
        let mut v = Values { ones, ..Values::new() };
        v.set(N::Format, format.format());
        if let Some(subformat) = format.subformat() {
            v.set(N::Subformat, subformat);
        }
        let history = layout.has_history(options);
        let modes = [options.branch_prediction, options.jump_target_cache, history];
        let several = modes.iter().filter(|on| **on).count() > 1;
        if format.format() == 0 && layout.params().f0s_width_p == 0 && several {
            return Err(EmitError::AmbiguousExtension);
        }
        // It would not parse or, without a subformat field, would parse as the other extension.
        match format {
            Format::BranchCount if !options.branch_prediction => {
                return Err(EmitError::NoExtension);
            }
            Format::JumpTarget if !options.jump_target_cache => {
                return Err(EmitError::NoExtension);
            }
            Format::History if !history => return Err(EmitError::NoExtension),
            _ => {}
        }
        match self {
            Self::BranchCount(p) => {
                v.set(N::BranchCount, p.branch_count);
                match &p.branch_fmt {
                    BranchFmt::NoAddress => {}
                    BranchFmt::Address(report) => {
                        v.set(N::BranchFmt, 2u8);
                        v.report(layout, report);
                    }
                    BranchFmt::MispredictedAddress(report) => {
                        v.set(N::BranchFmt, 3u8);
                        v.report(layout, report);
                    }
                }
            }
            Self::JumpTarget(p) => {
                v.set(N::Index, p.index);
                v.map(&p.map);
                v.depth(layout, v.index_base(), p.irdepth);
            }
            Self::Branch(p) => {
                v.map(&p.map);
                match (&p.address, p.map.branches()) {
                    (None, BranchMap::MAX) => v.set(N::Branches, 0u8),
                    (None, n) | (Some(_), n @ 0) => return Err(EmitError::Branches(n)),
                    (Some(report), _) => v.report(layout, report),
                }
            }
            Self::Address(report) => v.report(layout, report),
            Self::Start(p) => {
                v.set(N::Branch, p.branch);
                v.machine_state(p.privilege, p.time, p.context);
                v.set(N::Address, p.address);
            }
            Self::Trap(p) => {
                v.set(N::Branch, p.branch);
                v.machine_state(p.privilege, p.time, p.context);
                v.set(N::Ecause, p.ecause);
                v.set(N::Interrupt, p.interrupt);
                v.set(N::Thaddr, p.thaddr);
                for (name, value) in [(N::Address, p.address), (N::Tval, p.tval)] {
                    let field = layout.fields(Format::Trap).iter().find(|f| f.name == name);
                    match (field.is_some_and(|f| v.present(f, options)), value) {
                        (true, Some(value)) => v.set(name, value),
                        (false, None) => {}
                        (true, None) => return Err(EmitError::Missing(name)),
                        (false, Some(_)) => return Err(EmitError::Unexpected(name)),
                    }
                }
            }
            Self::Context(p) => v.machine_state(p.privilege, p.time, p.context),
            Self::Support(p) => {
                v.set(N::Ienable, p.ienable);
                v.set(N::EncoderMode, p.encoder_mode);
                v.set(N::QualStatus, p.qual_status as u8);
                v.set(N::Ioptions, layout.ioptions_raw(&p.ioptions)?);
                v.set(N::Denable, p.data.denable);
                v.set(N::Dloss, p.data.dloss);
                v.set(N::Doptions, p.data.doptions);
            }
            Self::History(p) => {
                v.set(N::Stop, p.stop.is_some());
                v.set(N::HalfWords, p.stop.unwrap_or(0));
                v.records = p.records;
            }
        }
        Ok(v)
    }
}

impl Layout {
    /// Whether payloads of history prediction are possible.
    pub(crate) const fn has_history(&self, options: Ioptions) -> bool {
        options.history_prediction && self.params().hpred_size_p > 0
    }

    fn ioptions_raw(&self, options: &Ioptions) -> Result<u64, EmitError> {
        let mut known = Ioptions::default();
        let mut raw = 0u64;
        for (bit, mode) in self.ioptions().enumerate() {
            known.set(mode, options.get(mode));
            raw |= u64::from(options.get(mode)).wrapping_shl(bit as u32);
        }
        if known == *options { Ok(raw) } else { Err(EmitError::TooWide(FieldName::Ioptions)) }
    }

    fn parse_ioptions(&self, raw: u64) -> Ioptions {
        let mut options = Ioptions::default();
        for (bit, mode) in self.ioptions().enumerate() {
            options.set(mode, raw.wrapping_shr(bit as u32) & 1 != 0);
        }
        options
    }
}

fn payload(layout: &Layout, options: Ioptions, format: Format, v: &Values) -> Payload {
    use FieldName as N;
    let privilege = v.byte(N::Privilege);
    let time = v.get(N::Time);
    let context = v.get(N::Context);
    match format {
        Format::BranchCount => Payload::BranchCount(BranchCount {
            branch_count: v.get(N::BranchCount) as u32,
            branch_fmt: match v.get(N::BranchFmt) {
                2 => BranchFmt::Address(v.get_report(layout)),
                3 => BranchFmt::MispredictedAddress(v.get_report(layout)),
                _ => BranchFmt::NoAddress,
            },
        }),
        Format::JumpTarget => Payload::JumpTarget(JumpTarget {
            index: v.get(N::Index) as u32,
            map: v.get_map(),
            irdepth: v.get_depth(v.index_base()),
        }),
        Format::Branch if v.flag(N::Branches) => {
            Payload::Branch(Branch { map: v.get_map(), address: Some(v.get_report(layout)) })
        }
        Format::Branch => Payload::Branch(Branch {
            map: BranchMap::new(BranchMap::MAX, v.get(N::BranchMap) as u32).unwrap_or_default(),
            address: None,
        }),
        Format::Address => Payload::Address(v.get_report(layout)),
        Format::Start => Payload::Start(Start {
            branch: v.flag(N::Branch),
            privilege,
            time,
            context,
            address: v.get(N::Address),
        }),
        Format::Trap => {
            let optional = |name: FieldName| {
                let field = layout.fields(format).iter().find(|f| f.name == name);
                field.is_some_and(|f| v.present(f, options)).then(|| v.get(name))
            };
            Payload::Trap(Trap {
                branch: v.flag(N::Branch),
                privilege,
                time,
                context,
                ecause: v.get(N::Ecause),
                interrupt: v.flag(N::Interrupt),
                thaddr: v.flag(N::Thaddr),
                address: optional(N::Address),
                tval: optional(N::Tval),
            })
        }
        Format::Context => Payload::Context(Context { privilege, time, context }),
        Format::Support => Payload::Support(Support {
            ienable: v.flag(N::Ienable),
            encoder_mode: v.byte(N::EncoderMode),
            qual_status: QualStatus::from_raw(v.byte(N::QualStatus)),
            ioptions: layout.parse_ioptions(v.get(N::Ioptions)),
            data: DataSupport {
                denable: v.flag(N::Denable),
                dloss: v.flag(N::Dloss),
                doptions: v.byte(N::Doptions),
            },
        }),
        Format::History => Payload::History(History {
            stop: v.flag(N::Stop).then(|| v.get(N::HalfWords) as u32),
            records: v.records,
        }),
    }
}
