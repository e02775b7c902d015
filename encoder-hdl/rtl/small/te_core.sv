// Trace encoder without its registers and its transport: what retires comes in, payloads go out.
module te_core (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic [5:0]   itype_i,  // how the block ends
    input  logic [127:0] iaddr_i,  // address of its first instruction
    input  logic [9:0]   iretire_i,  // half-words retired
    input  logic [1:0]   ilastsize_i,  // its last instruction has 4 bytes
    input  logic [4:0]   cause_i,  // of the trap
    input  logic [63:0]  tval_i,  // of the trap
    input  logic [1:0]   priv_i,  // privilege level
    input  logic         halted_i,  // the hart is halted behind what retires
    input  logic         reset_i,  // the hart is reset behind what retires
    input  logic         enable_i,  // trace
    // resynchronise: 0 never, 1 packets, 2 cycles, 3 half-words
    input  logic [1:0]   resync_mode_i,
    input  logic [3:0]   resync_max_i,  // after 2^(max + 4) of them
    input  logic         full_address_i,  // the mode is on
    input  logic [3:0]   privileges_i,  // levels that are traced, one bit each
    input  logic         ranges_i,  // ranges that are in use; without any, all is traced
    input  logic [62:0]  low_i,  // first address of each range
    input  logic [62:0]  high_i,  // last address of each range
    output logic         lost_o,  // what retires is lost
    output logic         active_o,  // tracing; configuration must not change
    output logic         empty_o,  // nothing is on its way
    output logic         valid_o,
    input  logic         ready_i,
    output logic [143:0] data_o,  // a payload, first byte lowest
    output logic [4:0]   len_o  // its bytes
);
  // What comes in, and marks between.
  logic active_d, active_q;
  logic dropping_d, dropping_q;
  logic halt_seen_d, halt_seen_q;
  logic nothing_inside;
  logic works;
  logic halts;
  logic starts;
  logic stops;
  logic rows;
  logic breaks;
  logic offers;
  logic [7:0] cycles_d, cycles_q;
  logic queue_taken;
  logic fifo_ready;
  logic fifo_valid;
  logic [225:0] fifo_data;
  logic [2:0] fifo_usage;
  logic fifo_full;

  assign works = (|iretire_i[4:0]) |
      (itype_i[2:0] == 3'd1) |
      (itype_i[2:0] == 3'd2) |
      ((|iretire_i[9:5]) | (itype_i[5:3] == 3'd1) | (itype_i[5:3] == 3'd2));
  assign halts = halted_i | reset_i;
  assign starts = !active_q & enable_i & nothing_inside;
  assign stops = active_q & !enable_i;
  assign rows = active_q & enable_i & !dropping_q & works;
  assign breaks = (rows & halts) |
      (active_q & enable_i & !dropping_q & !works & halts & !halt_seen_q);
  assign offers = starts | stops | rows | breaks | dropping_q;

  fifo_226x4 i_fifo (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(offers),
      .ready_o(fifo_ready),
      .data_i(
          {
              dropping_q,
              dropping_q ? 2'd1 : (starts ? 2'd3 : (stops ? 2'd2 : ({2{breaks}} & 2'd1))),
              cycles_q,
              priv_i,
              tval_i,
              cause_i,
              ilastsize_i,
              {10{rows}} & iretire_i,
              iaddr_i[127:65],
              iaddr_i[63:1],
              {6{rows}} & itype_i
          }
      ),
      .valid_o(fifo_valid),
      .ready_i(queue_taken),
      .data_o(fifo_data),
      .usage_o(fifo_usage),
      .full_o(fifo_full)
  );

  logic unused_fifo_usage;
  logic unused_fifo_full;
  logic unused_iaddr_i;
  logic unused_iaddr_i_1;
  logic enters;

  assign unused_fifo_usage = ^fifo_usage;
  assign unused_fifo_full = fifo_full;
  assign unused_iaddr_i = iaddr_i[0];
  assign unused_iaddr_i_1 = iaddr_i[64];
  assign enters = offers & fifo_ready;

  always_comb begin
    active_d = active_q;
    if (enters & starts) begin
      active_d = 1'b1;
    end
    if (enters & stops & !dropping_q) begin
      active_d = 1'b0;
    end
  end

  logic drops;

  assign halt_seen_d = (halt_seen_q | (breaks & enters)) & halts;
  assign drops = rows & !fifo_ready;
  assign lost_o = drops | (dropping_q & works);
  assign dropping_d = drops | (dropping_q & !enters);

  always_comb begin
    cycles_d = cycles_q;
    if (!(&cycles_q)) begin
      cycles_d = cycles_q + 8'd1;
    end
    if (enters & rows) begin
      cycles_d = 8'd1;
    end
  end

  logic group_taken;
  logic ingress_ready;
  logic ingress_valid;
  logic [1:0] ingress_retires;
  logic [1:0] ingress_two;
  logic [1:0] ingress_qualified;
  logic [125:0] ingress_first;
  logic [125:0] ingress_last;
  logic [1:0] ingress_taken;
  logic [1:0] ingress_not_taken;
  logic [1:0] ingress_uninferable;
  logic [1:0] ingress_wide;
  logic [7:0] ingress_cycles;
  logic ingress_trap;
  logic [1:0] ingress_trap_alone;
  logic ingress_trap_qualified;
  logic ingress_interrupt;
  logic [4:0] ingress_cause;
  logic [63:0] ingress_tval;
  logic [1:0] ingress_privilege;
  logic ingress_privilege_changes;
  logic [1:0] ingress_mark;
  logic ingress_lost;

  assign active_o = active_q;

  te_ingress i_ingress (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(fifo_valid),
      .ready_o(ingress_ready),
      .itype_i(fifo_data[5:0]),
      .iaddr_i(fifo_data[131:6]),
      .iretire_i(fifo_data[141:132]),
      .ilastsize_i(fifo_data[143:142]),
      .cause_i(fifo_data[148:144]),
      .tval_i(fifo_data[212:149]),
      .priv_i(fifo_data[214:213]),
      .cycles_i(fifo_data[222:215]),
      .mark_i(fifo_data[224:223]),
      .lost_i(fifo_data[225]),
      .privileges_i(privileges_i),
      .ranges_i(ranges_i),
      .low_i(low_i),
      .high_i(high_i),
      .valid_o(ingress_valid),
      .ready_i(group_taken),
      .retires_o(ingress_retires),
      .two_o(ingress_two),
      .qualified_o(ingress_qualified),
      .first_o(ingress_first),
      .last_o(ingress_last),
      .taken_o(ingress_taken),
      .not_taken_o(ingress_not_taken),
      .uninferable_o(ingress_uninferable),
      .wide_o(ingress_wide),
      .cycles_o(ingress_cycles),
      .trap_o(ingress_trap),
      .trap_alone_o(ingress_trap_alone),
      .trap_qualified_o(ingress_trap_qualified),
      .interrupt_o(ingress_interrupt),
      .cause_o(ingress_cause),
      .tval_o(ingress_tval),
      .privilege_o(ingress_privilege),
      .privilege_changes_o(ingress_privilege_changes),
      .mark_o(ingress_mark),
      .lost_o(ingress_lost)
  );

  assign queue_taken = ingress_ready;

  // From groups to payloads.
  logic request_taken;
  logic priority_ready;
  logic priority_valid;
  logic priority_start;
  logic priority_trap;
  logic priority_report;
  logic priority_map_only;
  logic priority_support;
  logic [62:0] priority_address;
  logic priority_branch;
  logic [1:0] priority_privilege;
  logic [4:0] priority_ecause;
  logic priority_interrupt;
  logic priority_thaddr;
  logic [63:0] priority_tval;
  logic [4:0] priority_branches;
  logic [30:0] priority_branch_map;
  logic priority_updiscon;
  logic priority_ienable;
  logic [1:0] priority_qual_status;

  te_priority i_priority (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(ingress_valid),
      .ready_o(priority_ready),
      .retires_i(ingress_retires),
      .two_i(ingress_two),
      .qualified_i(ingress_qualified),
      .first_i(ingress_first),
      .last_i(ingress_last),
      .taken_i(ingress_taken),
      .not_taken_i(ingress_not_taken),
      .uninferable_i(ingress_uninferable),
      .wide_i(ingress_wide),
      .cycles_i(ingress_cycles),
      .trap_i(ingress_trap),
      .trap_alone_i(ingress_trap_alone),
      .trap_qualified_i(ingress_trap_qualified),
      .interrupt_i(ingress_interrupt),
      .cause_i(ingress_cause),
      .tval_i(ingress_tval),
      .privilege_i(ingress_privilege),
      .privilege_changes_i(ingress_privilege_changes),
      .mark_i(ingress_mark),
      .lost_i(ingress_lost),
      .resync_mode_i(resync_mode_i),
      .resync_max_i(resync_max_i),
      .valid_o(priority_valid),
      .ready_i(request_taken),
      .start_o(priority_start),
      .trap_o(priority_trap),
      .report_o(priority_report),
      .map_only_o(priority_map_only),
      .support_o(priority_support),
      .address_o(priority_address),
      .branch_o(priority_branch),
      .privilege_o(priority_privilege),
      .ecause_o(priority_ecause),
      .interrupt_o(priority_interrupt),
      .thaddr_o(priority_thaddr),
      .tval_o(priority_tval),
      .branches_o(priority_branches),
      .branch_map_o(priority_branch_map),
      .updiscon_o(priority_updiscon),
      .ienable_o(priority_ienable),
      .qual_status_o(priority_qual_status)
  );

  logic packet_emitter_ready;
  logic packet_emitter_valid;
  logic [143:0] packet_emitter_data;
  logic [4:0] packet_emitter_len;
  logic packet_emitter_empty;

  assign group_taken = priority_ready;

  te_packet_emitter i_packet_emitter (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(priority_valid),
      .ready_o(packet_emitter_ready),
      .start_i(priority_start),
      .trap_i(priority_trap),
      .report_i(priority_report),
      .map_only_i(priority_map_only),
      .support_i(priority_support),
      .address_i(priority_address),
      .branch_i(priority_branch),
      .privilege_i(priority_privilege),
      .ecause_i(priority_ecause),
      .interrupt_i(priority_interrupt),
      .thaddr_i(priority_thaddr),
      .tval_i(priority_tval),
      .branches_i(priority_branches),
      .branch_map_i(priority_branch_map),
      .updiscon_i(priority_updiscon),
      .ienable_i(priority_ienable),
      .qual_status_i(priority_qual_status),
      .full_address_i(full_address_i),
      .valid_o(packet_emitter_valid),
      .ready_i(ready_i),
      .data_o(packet_emitter_data),
      .len_o(packet_emitter_len),
      .empty_o(packet_emitter_empty)
  );

  assign request_taken = packet_emitter_ready;
  assign valid_o = packet_emitter_valid;
  assign data_o = packet_emitter_data;
  assign len_o = packet_emitter_len;
  assign empty_o = !fifo_valid & !ingress_valid & packet_emitter_empty;
  assign nothing_inside = !fifo_valid & !ingress_valid & packet_emitter_empty;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      dropping_q <= 1'b0;
      halt_seen_q <= 1'b0;
      cycles_q <= 8'd1;
    end else begin
      active_q <= active_d;
      dropping_q <= dropping_d;
      halt_seen_q <= halt_seen_d;
      cycles_q <= cycles_d;
    end
  end
endmodule
