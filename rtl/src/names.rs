//! Names that every tool accepts.

use crate::stmt::LOOP_VARIABLES;

/// Words of SystemVerilog, and words of C++ that a plain name in this style could equal: Verilator
/// generates C++ from every name and warns (SYMRSVDWORD).
const RESERVED: &str = "
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before
begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class
clocking cmos config const constraint context continue cover covergroup coverpoint cross deassign
default defparam design disable dist do edge else end endcase endchecker endclass endclocking
endconfig endfunction endgenerate endgroup endinterface endmodule endpackage endprimitive endprogram
endproperty endsequence endspecify endtable endtask enum event eventually expect export extends extern
final first_match for force foreach forever fork forkjoin function generate genvar global highz0 highz1
if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input
inside instance int integer interconnect interface intersect join join_any join_none large let liblist
library local localparam logic longint macromodule matches medium modport module nand negedge nettype
new nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos
posedge primitive priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect
pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime ref reg reject_on release
repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until
s_until_with scalared sequence shortint shortreal showcancelled signed small soft solve specify
specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on
sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri
tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use
uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within
wor xnor xor

abort alignas alignof and_eq asm auto bitand bitor bool catch char char16_t char32_t char8_t compl
concept const_cast consteval constexpr constinit decltype delete double dynamic_cast explicit false
float friend goto inline long map mutable namespace noexcept nullptr operator private public queue
register reinterpret_cast requires set short sizeof size static_assert static_cast switch template
thread_local throw true try typeid typename using vector volatile wchar_t xor_eq std main errno
";

/// # Panics
///
/// If the name is not lower case in the style of the subset, or is reserved.
#[track_caller]
pub(crate) fn check(name: &str) {
    check_shape(name, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name:?} starts with no letter");
    assert!(!name.contains("__"), "{name:?}: two underscores are for the tools");
    let reserved = RESERVED.split_whitespace().any(|word| word == name);
    assert!(!reserved, "{name:?} is a reserved word of SystemVerilog or C++");
    let variable = LOOP_VARIABLES.contains(&name);
    assert!(!variable, "{name:?} is the name of a loop variable");
}

/// The same for constants, which are `UpperCamelCase`.
///
/// # Panics
///
/// If the name is not in `UpperCamelCase`.
#[track_caller]
pub(crate) fn check_constant(name: &str) {
    check_shape(name, |c| c.is_ascii_alphanumeric());
    assert!(name.starts_with(|c: char| c.is_ascii_uppercase()), "{name:?} is not UpperCamelCase");
}

#[track_caller]
fn check_shape(name: &str, allowed: impl Fn(char) -> bool) {
    assert!(!name.is_empty(), "a name is empty");
    assert!(name.chars().all(allowed), "{name:?} has characters that its kind of name has not");
}
