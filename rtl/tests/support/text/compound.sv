module compound (
    input  logic [7:0] a_i,
    input  logic [7:0] b_i,
    output logic       carry_o,
    output logic [7:0] half_o,
    output logic [3:0] low_o,
    output logic [3:0] middle_o,
    output logic [3:0] across_o,
    output logic [3:0] in_block_o
);
  logic [8:0] carry_full;
  logic [3:0] in_block_full;

  assign carry_full = 9'(a_i) + 9'(b_i);
  assign carry_o = carry_full[8];
  assign half_o = carry_full[8:1];
  assign low_o = a_i[3:0] - b_i[3:0];
  assign middle_o = a_i[0] ? a_i[5:2] : ~b_i[5:2];
  assign across_o = {a_i[1:0], b_i[7:6]};

  always_comb begin
    in_block_full = 4'd0;
    in_block_o = 4'd0;
    if (a_i[7]) begin
      in_block_full = in_block_o + b_i[3:0];
      in_block_o = 4'(in_block_full[3:1]);
    end
  end

  logic unused_carry_full;
  logic unused_in_block_full;

  assign unused_carry_full = carry_full[0];
  assign unused_in_block_full = in_block_full[0];
endmodule
