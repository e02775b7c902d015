//! The text of an instruction.

use hartrace_isa::arm::{Insn, Isa, Kind};
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv7::InstDecoder as Aarch32;
use yaxpeax_arm::armv8::a64::InstDecoder as Aarch64;

/// Encoding and text of an instruction. A branch has its target, with what `name` calls it; an opcode that is not known
/// has its effect on the flow of control, which the decoder of the trace knows of every opcode.
pub(crate) fn disassemble(
    isa: Isa,
    opcode: u32,
    insn: &Insn,
    name: impl Fn(u64) -> Option<String>,
) -> (String, String) {
    // T32 has the first half-word in the upper half.
    let raw = match insn.size {
        2 => format!("{:04x}", opcode >> 16),
        _ => format!("{opcode:08x}"),
    };
    let Some(text) = text(isa, opcode) else { return (raw, format!("? ({})", effect(insn))) };
    let Kind::Direct { target, .. } = insn.kind else { return (raw, text) };
    let place = name(target).map_or(String::new(), |place| format!(" <{place}>"));
    (raw, format!("{}{place}", with_target(&text, target)))
}

/// Mnemonic and operands; `None` if the opcode is not known.
fn text(isa: Isa, opcode: u32) -> Option<String> {
    let bytes = opcode.to_le_bytes();
    // In memory, each half-word of T32 has its own order.
    let halves = opcode.rotate_left(16).to_le_bytes();
    match isa {
        Isa::A64 => {
            let mut reader = U8Reader::new(&bytes);
            Aarch64::default().decode(&mut reader).ok().map(|insn| insn.to_string())
        }
        Isa::A32 => {
            let mut reader = U8Reader::new(&bytes);
            Aarch32::armv7().decode(&mut reader).ok().map(|insn| insn.to_string())
        }
        Isa::T32 => {
            let mut reader = U8Reader::new(&halves);
            Aarch32::default_thumb().decode(&mut reader).ok().map(|insn| insn.to_string())
        }
    }
}

/// The effect of an instruction on the flow of control.
fn effect(insn: &Insn) -> &'static str {
    match insn.kind {
        Kind::Direct { .. } | Kind::Indirect if insn.link => "call",
        Kind::Direct { .. } if insn.conditional => "branch",
        Kind::Direct { .. } => "jump",
        Kind::Indirect => "indirect jump",
        Kind::Isb => "barrier",
        _ => "other",
    }
}

/// Replaces the distance to a target, `$+0x10`, by its address.
fn with_target(text: &str, target: u64) -> String {
    let Some((before, rest)) = text.split_once('$') else { return text.to_owned() };
    let digits = |digit: char| !digit.is_ascii_hexdigit() && !matches!(digit, '+' | '-' | 'x');
    let behind = rest.find(digits).and_then(|end| rest.get(end..)).unwrap_or_default();
    format!("{before}{target:#x}{behind}")
}
