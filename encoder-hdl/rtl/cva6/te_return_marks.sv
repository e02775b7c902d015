// Remembers up to two calls that follow a return without a branch between, for the case that a
// decoder could not tell what comes after them from an earlier visit.
module te_return_marks (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        clear_i,  // forget them, before the new one
    input  logic        push_i,
    input  logic [62:0] address_i,  // of the call
    input  logic [4:0]  depth_i,  // before it
    input  logic        second_i,  // which one is looked at
    output logic        some_o,  // there is one
    output logic        full_o,  // there are two
    output logic [62:0] address_o,
    output logic [4:0]  depth_o
);
  logic [1:0] count_d, count_q;
  logic [1:0] kept;

  assign kept = clear_i ? 2'd0 : count_q;

  always_comb begin
    count_d = kept;
    if (push_i) begin
      count_d = kept + 2'd1;
    end
  end

  logic [62:0] address_first_d, address_first_q;
  logic [4:0] depth_first_d, depth_first_q;
  logic [62:0] address_second_d, address_second_q;
  logic [4:0] depth_second_d, depth_second_q;

  assign address_first_d = address_i;
  assign depth_first_d = depth_i;
  assign address_second_d = address_i;
  assign depth_second_d = depth_i;
  assign address_o = second_i ? address_second_q : address_first_q;
  assign depth_o = second_i ? depth_second_q : depth_first_q;
  assign some_o = |count_q;
  assign full_o = count_q[1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= 2'd0;
    end else begin
      count_q <= count_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i & (kept == 2'd0)) begin
      address_first_q <= address_first_d;
    end
    if (push_i & (kept == 2'd0)) begin
      depth_first_q <= depth_first_d;
    end
    if (push_i & (kept == 2'd1)) begin
      address_second_q <= address_second_d;
    end
    if (push_i & (kept == 2'd1)) begin
      depth_second_q <= depth_second_d;
    end
  end
endmodule
