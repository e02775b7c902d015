// Counts packets, cycles or half-words, and says when a synchronisation is due. Its period is
// 2^(max + 4).
module te_resync_counter (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic [1:0] mode_i,  // 0 never, 1 packets, 2 cycles, 3 half-words
    input  logic [3:0] max_i,
    input  logic       packet_i,  // a packet is sent
    input  logic       synced_i,  // and it is a synchronisation
    output logic       due_o,  // the counter has run out with the pending step
    output logic       near_o,  // it may run out: take one step at a time
    input  logic [7:0] step_i,  // units that the pending step counts for
    input  logic       take_i,  // it is done with
    input  logic [9:0] more_i  // units of other steps that are done with
);
  logic [19:0] count_d, count_q;
  logic [15:0] reach;
  logic counts_steps;
  logic on;
  logic [19:0] reached;
  logic unused_reached;
  logic near_d, near_q;
  logic [19:0] soon;
  logic unused_soon;

  assign reach = 16'hffff << max_i;
  assign counts_steps = ((mode_i == 2'd2) & 1'b1) | ((mode_i == 2'd3) & 1'b0);
  assign on = 1'b0 | (mode_i == 2'd1) | counts_steps;
  assign reached = count_q + ({20{counts_steps}} & 20'(step_i));
  assign unused_reached = ^reached[3:0];
  assign due_o = on & (|(reached[19:4] & reach));
  assign soon = count_d + 20'h1000;
  assign unused_soon = ^soon[3:0];
  assign near_d = on & (|(soon[19:4] & reach));
  assign near_o = near_q;

  always_comb begin
    count_d = count_q + ({20{counts_steps}} & (({20{take_i}} & 20'(step_i)) + 20'(more_i)));
    if (packet_i) begin
      if (mode_i == 2'd1) begin
        count_d = count_d + 20'd1;
      end
      if (synced_i) begin
        count_d = 20'd0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= 20'd0;
      near_q <= 1'b1;
    end else begin
      count_q <= count_d;
      near_q <= near_d;
    end
  end
endmodule
