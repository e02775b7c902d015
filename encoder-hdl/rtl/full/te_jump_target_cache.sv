// Remembers targets of uninferable jumps, direct mapped.
module te_jump_target_cache (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [62:0] address_i,  // of the target
    input  logic        store_i,  // remember it
    input  logic        clear_i,  // forget all
    output logic        hit_o,  // it is remembered
    output logic [6:0]  index_o  // where
);
  logic [6:0] index;
  logic [55:0] tag;
  logic [127:0] known_d, known_q;

  assign index = address_i[6:0];
  assign tag = address_i[62:7];

  always_comb begin
    known_d = clear_i ? 128'd0 : known_q;
    if (store_i) begin
      known_d[index] = 1'b1;
    end
  end

  logic [55:0] tags [128];
  logic [55:0] stored;

  assign stored = tags[index];

  always_ff @(posedge clk_i) begin
    if (store_i) begin
      tags[index] <= tag;
    end
  end

  assign hit_o = known_q[index] & (stored == tag);
  assign index_o = index;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= 128'd0;
    end else begin
      known_q <= known_d;
    end
  end
endmodule
