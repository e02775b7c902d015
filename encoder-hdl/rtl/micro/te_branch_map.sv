// Collects the outcomes of branches until they are reported, slot 0 oldest.
module te_branch_map (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        branch_i,  // there is a branch in the slot
    input  logic        push_i,  // and it is taken over now
    input  logic        not_taken_i,  // it was not taken
    input  logic        cut_i,  // the slot is behind the packet that is sent
    input  logic        flush_i,  // a packet with all branches before the cut is sent
    output logic [30:0] map_o,  // outcomes for that packet; a set bit is a branch not taken
    output logic [4:0]  branches_o,  // their number
    output logic        some_o,  // there are branches already
    output logic        full_o  // a branch in this slot has to be reported at once
);
  logic [30:0] map_d, map_q;
  logic [31:0] place_d, place_q;
  logic [4:0] count_d, count_q;

  assign some_o = !place_q[0];

  // The packet: what was there, and the slots before the cut.
  logic puts_before_0;
  logic marks_before_0;
  logic [30:0] map_before_0;
  logic [31:0] place_before_0;
  logic [4:0] count_before_0;

  assign puts_before_0 = push_i & !cut_i;
  assign marks_before_0 = puts_before_0 & not_taken_i;
  assign map_before_0 = map_q | ({31{marks_before_0}} & place_q[30:0]);
  assign place_before_0 = puts_before_0 ? {place_q[30:0], 1'b0} : place_q;
  assign count_before_0 = count_q + 5'(puts_before_0);
  assign map_o = map_before_0;
  assign branches_o = count_before_0;

  // What is kept. Behind a packet there are only the slots behind the cut.
  assign map_d = flush_i ? 31'd0 : map_before_0;
  assign place_d = flush_i ? 32'd1 : place_before_0;
  assign count_d = flush_i ? 5'd0 : count_before_0;
  assign full_o = branch_i & (place_q[30] & 1'b1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      map_q <= 31'd0;
      place_q <= 32'd1;
      count_q <= 5'd0;
    end else begin
      map_q <= map_d;
      place_q <= place_d;
      count_q <= count_d;
    end
  end

`ifndef SYNTHESIS
  always @(posedge clk_i) begin
    if (rst_ni) begin
      begin : cut_with_packet
        assert (flush_i | !(push_i & cut_i));
      end
      begin : slot_0_before
        assert (!cut_i);
      end
    end
  end
`endif
endmodule
