// Predicts branches: two bits for each entry, the prediction and the last outcome. The prediction
// must fail twice to change.
module te_branch_predictor (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic [62:0] address_i,  // of the branch
    input  logic        update_i,
    input  logic        taken_i,  // its outcome
    input  logic        clear_i,  // forget all, before the update
    output logic        taken_o  // the prediction
);
  logic [6:0] index;
  logic unused_address_i;
  logic [127:0] known_d, known_q;

  assign index = address_i[6:0];
  assign unused_address_i = ^address_i[62:7];

  always_comb begin
    known_d = clear_i ? 128'd0 : known_q;
    if (update_i) begin
      known_d[index] = 1'b1;
    end
  end

  logic [1:0] states [128];
  logic [1:0] stored;
  logic [1:0] state;
  logic [1:0] old;

  assign stored = states[index];
  assign state = known_q[index] ? stored : 2'd1;
  assign old = clear_i ? 2'd1 : state;

  always_ff @(posedge clk_i) begin
    if (update_i) begin
      states[index] <= {(old[1] ^ old[0]) ? taken_i : old[1], taken_i};
    end
  end

  assign taken_o = state[1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= 128'd0;
    end else begin
      known_q <= known_d;
    end
  end
endmodule
