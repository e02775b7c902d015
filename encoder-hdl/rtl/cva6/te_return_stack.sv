// Remembers where calls return to, and predicts returns. A full stack forgets the oldest call.
module te_return_stack (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        clear_i,  // forget all, before call or return
    input  logic        call_i,
    input  logic        ret_i,
    output logic [4:0]  depth_o,  // calls remembered
    output logic        predicts_o,  // a return to the target is predicted
    input  logic [62:0] link_i,  // where a call returns to
    input  logic [62:0] target_i  // where a return leads
);
  logic [4:0] depth_d, depth_q;
  logic [4:0] kept;
  logic some;

  assign kept = clear_i ? 5'd0 : depth_q;
  assign some = |kept;

  always_comb begin
    depth_d = kept;
    if (call_i & (kept != 5'd16)) begin
      depth_d = kept + 5'd1;
    end
    if (ret_i & some) begin
      depth_d = kept - 5'd1;
    end
  end

  logic [3:0] top_d, top_q;
  logic [62:0] links [16];
  logic [3:0] above;

  assign depth_o = depth_q;
  assign above = top_q + 4'd1;

  always_comb begin
    top_d = top_q;
    if (call_i) begin
      top_d = above;
    end
    if (ret_i & some) begin
      top_d = top_q - 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (call_i) begin
      links[above] <= link_i;
    end
  end

  logic [62:0] newest;

  assign newest = links[top_q];
  assign predicts_o = (|depth_q) & (newest == target_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      depth_q <= 5'd0;
      top_q <= 4'd0;
    end else begin
      depth_q <= depth_d;
      top_q <= top_d;
    end
  end
endmodule
