// Takes what retired in a cycle apart into lanes, a trap and a mark, and decides which of it is
// traced. The output is registered.
module te_ingress (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,  // something retired, trapped or is marked
    output logic        ready_o,
    input  logic [2:0]  itype_i,  // how the block ends
    input  logic [30:0] iaddr_i,  // address of its first instruction
    input  logic [1:0]  iretire_i,  // half-words retired
    input  logic        ilastsize_i,  // its last instruction has 4 bytes
    input  logic [3:0]  cause_i,  // of the trap
    input  logic [31:0] tval_i,  // of the trap
    input  logic [1:0]  priv_i,  // privilege level
    input  logic [1:0]  mark_i,  // 1 break, 2 stop, 3 start, behind the lanes
    input  logic        lost_i,  // input was lost here
    input  logic [3:0]  privileges_i,  // levels that are traced, one bit each
    output logic        valid_o,
    input  logic        ready_i,  // all steps of the group have been taken
    output logic        retires_o,  // instructions retired on the lane
    output logic        two_o,  // more than one: first and last are two steps
    output logic        qualified_o,  // the lane is traced
    output logic [30:0] first_o,  // address of its first instruction
    output logic [30:0] last_o,  // address of its last instruction; of the one that traps alone
    output logic        taken_o,  // the last instruction is a branch, taken
    output logic        not_taken_o,  // the last instruction is a branch, not taken
    output logic        uninferable_o,  // it is an uninferable discontinuity
    output logic        wide_o,  // it has 4 bytes
    output logic        trap_o,  // a trap follows the lanes
    output logic        trap_alone_o,  // the lane of a trap before which nothing retired
    output logic        trap_qualified_o,  // the trap is traced
    output logic        interrupt_o,  // it is an interrupt
    output logic [3:0]  cause_o,
    output logic [31:0] tval_o,
    output logic [1:0]  privilege_o,
    output logic        privilege_changes_o,  // against the group before
    output logic [1:0]  mark_o,  // 1 break, 2 stop, 3 start, behind all others
    output logic        lost_o  // input was lost here
);
  logic valid_d, valid_q;
  logic load;
  logic [2:0] itype_0;
  logic [1:0] iretire_0;
  logic [30:0] first_0;
  logic retires_0;
  logic [1:0] before_0;
  logic trap_0;
  logic [30:0] last_0;
  logic works;
  logic on;

  assign ready_o = !valid_q | ready_i;
  assign valid_d = valid_i | (valid_q & !ready_i);
  assign valid_o = valid_q;
  assign load = valid_i & ready_o;
  assign itype_0 = itype_i;
  assign iretire_0 = iretire_i;
  assign first_0 = iaddr_i;
  assign retires_0 = |iretire_0;
  assign before_0 = {2{retires_0}} & (iretire_0 - (ilastsize_i ? 2'd2 : 2'd1));
  assign trap_0 = (itype_0 == 3'd1) | (itype_0 == 3'd2);
  assign last_0 = first_0 + 31'(before_0);
  assign works = retires_0 | trap_0;
  assign on = privileges_i[priv_i];

  // What retired. A lane that is not traced is a single step.
  logic retires_d, retires_q;
  logic two_d, two_q;
  logic qualified_d, qualified_q;
  logic [30:0] first_d, first_q;
  logic [30:0] last_d, last_q;
  logic taken_d, taken_q;
  logic not_taken_d, not_taken_q;
  logic uninferable_d, uninferable_q;
  logic wide_d, wide_q;

  assign retires_d = retires_0;
  assign retires_o = retires_q;
  assign two_d = (|before_0) & on;
  assign two_o = two_q;
  assign qualified_d = on;
  assign qualified_o = qualified_q;
  assign first_d = first_0;
  assign first_o = first_q;
  assign last_d = last_0;
  assign last_o = last_q;
  assign taken_d = itype_0 == 3'd5;
  assign taken_o = taken_q;
  assign not_taken_d = itype_0 == 3'd4;
  assign not_taken_o = not_taken_q;
  assign uninferable_d = (itype_0 == 3'd3) | (itype_0 == 3'd6);
  assign uninferable_o = uninferable_q;
  assign wide_d = ilastsize_i;
  assign wide_o = wide_q;

  // The trap, in the newest lane.
  logic trap_d, trap_q;
  logic trap_alone_d, trap_alone_q;
  logic trap_qualified_d, trap_qualified_q;
  logic interrupt_d, interrupt_q;
  logic [3:0] cause_d, cause_q;
  logic [31:0] tval_d, tval_q;

  assign trap_d = trap_0;
  assign trap_o = trap_q;
  assign trap_alone_d = trap_0 & !retires_0;
  assign trap_alone_o = trap_alone_q;
  assign trap_qualified_d = trap_0 & on;
  assign trap_qualified_o = trap_qualified_q;
  assign interrupt_d = itype_0 == 3'd2;
  assign interrupt_o = interrupt_q;
  assign cause_d = cause_i;
  assign cause_o = cause_q;
  assign tval_d = tval_i;
  assign tval_o = tval_q;

  // What the lanes share, and whether it is another than before. Marks have nothing of it.
  logic shared;
  logic [1:0] privilege_d, privilege_q;
  logic privilege_changes_d, privilege_changes_q;
  logic [1:0] mark_d, mark_q;
  logic lost_d, lost_q;

  assign shared = load & works;
  assign privilege_d = priv_i;
  assign privilege_o = privilege_q;
  assign privilege_changes_d = (privilege_q != priv_i) & works;
  assign privilege_changes_o = privilege_changes_q;
  assign mark_d = mark_i;
  assign mark_o = mark_q;
  assign lost_d = lost_i;
  assign lost_o = lost_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      retires_q <= retires_d;
    end
    if (load) begin
      two_q <= two_d;
    end
    if (load) begin
      qualified_q <= qualified_d;
    end
    if (load) begin
      first_q <= first_d;
    end
    if (load) begin
      last_q <= last_d;
    end
    if (load) begin
      taken_q <= taken_d;
    end
    if (load) begin
      not_taken_q <= not_taken_d;
    end
    if (load) begin
      uninferable_q <= uninferable_d;
    end
    if (load) begin
      wide_q <= wide_d;
    end
    if (load) begin
      trap_q <= trap_d;
    end
    if (load) begin
      trap_alone_q <= trap_alone_d;
    end
    if (load) begin
      trap_qualified_q <= trap_qualified_d;
    end
    if (load) begin
      interrupt_q <= interrupt_d;
    end
    if (load) begin
      cause_q <= cause_d;
    end
    if (load) begin
      tval_q <= tval_d;
    end
    if (shared) begin
      privilege_q <= privilege_d;
    end
    if (load) begin
      privilege_changes_q <= privilege_changes_d;
    end
    if (load) begin
      mark_q <= mark_d;
    end
    if (load) begin
      lost_q <= lost_d;
    end
  end
endmodule
