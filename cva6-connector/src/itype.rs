//! Effect of an instruction, as the encoder classifies it.

use crate::config::Config;
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, lit};

bundle! {
    /// How an instruction ends a block.
    pub(crate) struct ItypeOut { itype, ends }
}

/// Effect of an instruction on the flow of control: `kind` of the neutral port.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Continues with the next instruction.
    #[default]
    Plain = 0,
    /// Conditional branch.
    Branch = 1,
    /// `jal` and its compressed forms.
    DirectJump = 2,
    /// `jalr` and its compressed forms.
    IndirectJump = 3,
    /// `mret`, `sret`.
    TrapReturn = 4,
}

/// Width of `kind` for one lane.
pub(crate) const KIND: u32 = 3;

/// The module `te_itype`: one lane, no state.
pub(crate) fn build(config: &Config) -> Component {
    let m = Module::new(
        "te_itype",
        "How a block ends whose last instruction is this one, unless a trap follows.\n\
         A jump to the address in x0 plus a constant is inferable, as one with an offset is.",
    );
    let kind = m.input("kind_i", KIND, "0 plain, 1 branch, 2 jal, 3 jalr, 4 return from a trap");
    let taken = m.input("taken_i", 1, "of a branch");
    let rd = m.input("rd_i", 5, "register the return address of a jump goes to");
    let rs1 = m.input("rs1_i", 5, "register with the target of a jump");
    let out = ItypeOut {
        itype: Wire::new(config.itype(), ""),
        ends: Wire::new(1, "what follows is another block, even if itype is 0"),
    };
    let out = out.outputs(&m);

    let is = |of: Kind| kind.is(of as u128);
    let code = |of: IType| lit(config.itype(), of.raw().into());
    let inferable = m.let_("inferable", is(Kind::DirectJump) | rs1.is(0));
    let jump = match config.itype_width_p {
        3 => {
            m.unused(&rd);
            inferable.mux(code(IType::None), code(IType::UninferableJump))
        }
        _ => {
            let link = |register: &Expr| register.is(1) | register.is(5);
            let links = m.let_("links", link(&rd));
            let from_link = m.let_("from_link", link(&rs1));
            let pick =
                |call, tail, other| links.mux(code(call), rd.is(0).mux(code(tail), code(other)));
            let known =
                pick(IType::InferableCall, IType::InferableTailCall, IType::OtherInferableJump);
            let unknown = pick(
                IType::UninferableCall,
                IType::UninferableTailCall,
                IType::OtherUninferableJump,
            );
            let swaps = &links & &from_link & rd.ne(&rs1);
            let returns = !&links & &from_link;
            let unknown = returns.mux(code(IType::Return), unknown);
            let unknown = swaps.mux(code(IType::CoRoutineSwap), unknown);
            inferable.mux(known, unknown)
        }
    };
    m.comb(|b| {
        b.set(&out.itype, code(IType::None));
        b.switch(&kind, |s| {
            s.case(lit(KIND, Kind::Branch as u128), |b| {
                b.set(&out.itype, taken.mux(code(IType::Taken), code(IType::NotTaken)));
            });
            let (direct, indirect) = (Kind::DirectJump as u128, Kind::IndirectJump as u128);
            s.cases(&[&lit(KIND, direct), &lit(KIND, indirect)], |b| b.set(&out.itype, &jump));
            s.case(lit(KIND, Kind::TrapReturn as u128), |b| {
                b.set(&out.itype, code(IType::TrapReturn))
            });
        });
    });
    m.assign(&out.ends, kind.any());
    m.finish()
}
