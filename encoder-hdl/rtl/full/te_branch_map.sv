// Collects the outcomes of branches until they are reported, slot 0 oldest.
module te_branch_map (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [1:0]  branch_i,  // there is a branch in the slot
    input  logic [1:0]  push_i,  // and it is taken over now
    input  logic [1:0]  not_taken_i,  // it was not taken
    input  logic [1:0]  cut_i,  // the slot is behind the packet that is sent
    input  logic        flush_i,  // a packet with all branches before the cut is sent
    output logic [30:0] map_o,  // outcomes for that packet; a set bit is a branch not taken
    output logic [4:0]  branches_o,  // their number
    output logic        some_o,  // there are branches already
    output logic [1:0]  full_o,  // a branch in this slot has to be reported at once
    input  logic        predicting_i,  // branch prediction is on
    input  logic        predicted_i,  // the branch in slot 0 was predicted
    output logic        counting_o,  // there are too many for a map, all predicted
    output logic [31:0] count_o,  // of them, less 31
    output logic        exhausted_o  // the branch in slot 0 was the last that counts
);
  logic [30:0] map_d, map_q;
  logic [31:0] place_d, place_q;
  logic [4:0] count_d, count_q;
  logic counting_d, counting_q;
  logic [31:0] correct_d, correct_q;
  logic right_d, right_q;

  assign some_o = !place_q[0];

  // The packet: what was there, and the slots before the cut.
  logic counts;
  logic counting;
  logic [31:0] correct;
  logic puts_before_0;
  logic marks_before_0;
  logic [30:0] map_before_0;
  logic [31:0] place_before_0;
  logic [4:0] count_before_0;
  logic puts_before_1;
  logic marks_before_1;
  logic [30:0] map_before_1;
  logic [31:0] place_before_1;
  logic [4:0] count_before_1;

  assign counts = push_i[0] & !cut_i[0] & place_q[31];
  assign counting = counting_q | counts;
  assign correct = correct_q + {31'd0, counts & predicted_i};
  assign puts_before_0 = push_i[0] & !cut_i[0] & !place_q[31];
  assign marks_before_0 = puts_before_0 & not_taken_i[0];
  assign map_before_0 = map_q | ({31{marks_before_0}} & place_q[30:0]);
  assign place_before_0 = puts_before_0 ? {place_q[30:0], 1'b0} : place_q;
  assign count_before_0 = count_q + 5'(puts_before_0);
  assign puts_before_1 = push_i[1] & !cut_i[1];
  assign marks_before_1 = puts_before_1 & not_taken_i[1];
  assign map_before_1 = map_before_0 | ({31{marks_before_1}} & place_before_0[30:0]);
  assign place_before_1 = puts_before_1 ? {place_before_0[30:0], 1'b0} : place_before_0;
  assign count_before_1 = count_before_0 + 5'(puts_before_1);
  assign map_o = map_before_1;
  assign branches_o = count_before_1;

  // What is kept. Behind a packet there are only the slots behind the cut.
  logic puts_behind_1;
  logic marks_behind_1;
  logic [30:0] map_behind_1;
  logic [31:0] place_behind_1;
  logic [4:0] count_behind_1;

  assign puts_behind_1 = push_i[1] & cut_i[1];
  assign marks_behind_1 = puts_behind_1 & not_taken_i[1];
  assign map_behind_1 = 31'd0 | ({31{marks_behind_1}} & 31'd1);
  assign place_behind_1 = puts_behind_1 ? 32'd2 : 32'd1;
  assign count_behind_1 = 5'd0 + 5'(puts_behind_1);
  assign map_d = flush_i ? map_behind_1 : map_before_1;
  assign place_d = flush_i ? place_behind_1 : place_before_1;
  assign count_d = flush_i ? count_behind_1 : count_before_1;
  assign full_o = {
          branch_i[1] & ((place_q[30] & 1'b1) | (place_q[29] & branch_i[0])),
          (branch_i[0] & (place_q[30] & 1'b1) & !(predicting_i & right_q & predicted_i)) |
          (branch_i[0] & place_q[31] & !predicted_i)
      };
  assign counting_o = counting;
  assign count_o = correct;
  assign counting_d = !flush_i & counting;
  assign correct_d = {32{!flush_i}} & correct;
  assign right_d = flush_i | (right_q & (!(push_i[0] & !cut_i[0]) | place_q[31] | predicted_i));
  assign exhausted_o = place_q[31] &
      (((correct_q == 32'hfffffffe) & branch_i[0] & predicted_i) | (correct_q == 32'hffffffff));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      map_q <= 31'd0;
      place_q <= 32'd1;
      count_q <= 5'd0;
      counting_q <= 1'b0;
      correct_q <= 32'd0;
      right_q <= 1'b1;
    end else begin
      map_q <= map_d;
      place_q <= place_d;
      count_q <= count_d;
      counting_q <= counting_d;
      correct_q <= correct_d;
      right_q <= right_d;
    end
  end

`ifndef SYNTHESIS
  always @(posedge clk_i) begin
    if (rst_ni) begin
      begin : cut_with_packet
        assert (flush_i | !(|(push_i & cut_i)));
      end
      begin : slot_0_before
        assert (!cut_i[0]);
      end
    end
  end
`endif
endmodule
