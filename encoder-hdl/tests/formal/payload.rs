//! The definition of a payload: its fields one after the other, then compressed.

use hartrace_etrace::{
    Field, FieldName, Format, Layout, Mode, Presence, Unit, Width, branch_map_width,
};
use hartrace_hdl_tools::prove::Rig;
use hartrace_rtl::{Expr, concat, lit, ones, zero};

/// Width of numbers of bits.
const PLACE: u32 = 9;

/// Bits, and the number of bytes of them that are sent.
pub(crate) struct Payload {
    pub(crate) bits: Expr,
    pub(crate) len: Expr,
}

/// A request at the ports of the emitter, and state from earlier requests.
pub(crate) struct Request<'a> {
    pub(crate) rig: &'a Rig,
    pub(crate) layout: &'a Layout,
    /// The address field.
    pub(crate) address: Expr,
    /// The index of the address in the jump target cache.
    pub(crate) index: Expr,
}

impl Request<'_> {
    /// An input of the emitter; zero if it has none of this name.
    pub(crate) fn get(&self, name: &str, width: u32) -> Expr {
        self.rig.find(&format!("{name}_i")).unwrap_or_else(|| zero(width))
    }

    /// The payload of this format. Each field is moved to the end of the preceding ones.
    pub(crate) fn payload(&self, name: &str, format: Format) -> Payload {
        let m = &self.rig.m;
        let width = self.layout.max_bits().div_ceil(8) * 8;
        let mut bits = zero(width);
        let mut end = zero(PLACE);
        for (i, field) in self.layout.fields(format).iter().enumerate() {
            let last = bits.bit_at(&end - lit(PLACE, 1));
            let before = if i == 0 { zero(1) } else { last };
            let there = self.present(field);
            let (value, size) = self.value(field, format, &before);
            let place = |what: &str| format!("{name}_{what}_{i}");
            let moved = there.gate(value).zext(width) << &end;
            bits = m.let_(&place("bits"), bits | moved);
            end = m.let_(&place("end"), end + there.gate(size));
        }
        // Bits after the last one repeat it.
        let sign = bits.bit_at(&end - lit(PLACE, 1));
        let bits = m.let_(&format!("{name}_payload"), bits | sign.gate(ones(width) << &end));
        // The smallest number of bytes from which all bits can be recovered.
        let mut len = lit(5, u128::from(width / 8));
        for bytes in (1..width / 8).rev() {
            let short = bits.trunc(8 * bytes).sext(width);
            len = short.eq(&bits).mux(lit(5, bytes.into()), len);
        }
        Payload { len: m.let_(&format!("{name}_payload_len"), len), bits }
    }

    fn present(&self, field: &Field) -> Expr {
        let implicit = self.get("implicit_exception", 1) & self.get("thaddr", 1);
        match field.presence {
            Presence::Always => lit(1, 1),
            Presence::IfBranches | Presence::IfCountAddress => self.get("report", 1),
            Presence::UnlessImplicit => !implicit,
            Presence::IfException => !self.get("interrupt", 1),
            Presence::IfStop => panic!("{field:?} is not in hardware"),
        }
    }

    /// Value and width of a field. `before` is the preceding bit.
    fn value(&self, field: &Field, format: Format, before: &Expr) -> (Expr, Expr) {
        let differs = |name: &str| before ^ self.get(name, 1);
        let width = match field.width {
            Width::Bits(width) => u32::from(width),
            Width::BranchMap { none_if_empty } => return self.map(none_if_empty),
            Width::Chunked | Width::Records => panic!("{field:?} is of another unit"),
        };
        let value = match field.name {
            FieldName::Format => lit(width, format.format().into()),
            FieldName::Subformat => lit(width, format.subformat().unwrap_or_default().into()),
            FieldName::Address => self.address.clone(),
            FieldName::Notify => differs("notify"),
            FieldName::Updiscon => differs("updiscon"),
            FieldName::Irreport => differs("irreport"),
            FieldName::Irdepth => {
                self.get("irreport", 1).mux(self.get("irdepth", width), before.repeat(width))
            }
            FieldName::Branches => self.branches(),
            FieldName::BranchFmt => {
                let address = concat(&[&lit(1, 1), &self.get("mispredicted", 1)]);
                self.get("report", 1).gate(address)
            }
            FieldName::Index => self.index.clone(),
            FieldName::Ioptions => {
                let on = Unit::Hartrace
                    .ioptions()
                    .iter()
                    .rev()
                    .map(|mode| self.get(&mode_name(*mode), 1));
                concat(&on.collect::<Vec<_>>().iter().collect::<Vec<_>>())
            }
            FieldName::EncoderMode
            | FieldName::Denable
            | FieldName::Dloss
            | FieldName::Doptions => zero(width),
            name => self.get(name.as_str(), width),
        };
        (value, lit(PLACE, width.into()))
    }

    /// The number of branches; 0 stands for a full map without an address.
    fn branches(&self) -> Expr {
        self.get("report", 1).gate(self.get("branches", 5))
    }

    fn map(&self, none_if_empty: bool) -> (Expr, Expr) {
        let branches = self.branches();
        let width = (0..32).fold(zero(PLACE), |width, n| match none_if_empty && n == 0 {
            true => width,
            false => width | branches.is(n.into()).gate(lit(PLACE, branch_map_width(n).into())),
        });
        (self.get("branch_map", 31) & !(ones(31) << &width), width)
    }
}

/// The name of a mode's port, without its suffix.
pub(crate) fn mode_name(mode: Mode) -> String {
    match mode {
        Mode::SequentiallyInferredJump => "sequential_jump".into(),
        mode => mode.name().replace('-', "_"),
    }
}
