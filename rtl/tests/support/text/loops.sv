module loops (
    input  logic [3:0]  bits_i,
    input  logic [31:0] words_i,
    output logic [7:0]  last_o,
    output logic [2:0]  count_o,
    output logic [31:0] swap_o,
    output logic [15:0] grid_o,
    output logic [2:0]  highest_o
);
  logic [2:0] grid_index;
  logic [2:0] grid_index_1;

  always_comb begin
    grid_index = 3'd0;
    grid_index_1 = 3'd0;
    last_o = 8'd0;
    count_o = 3'd0;
    highest_o = 3'd0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (bits_i[i]) begin
        last_o = words_i[i * 8 +: 8];
        count_o = count_o + 3'd1;
        highest_o = 3'(i + 1);
      end
      swap_o[i * 8 + 4 +: 4] = words_i[i * 8 +: 4];
      swap_o[i * 8 +: 4] = words_i[i * 8 + 4 +: 4];
      for (int unsigned j = 0; j < 4; j++) begin
        grid_o[i * 4] = bits_i[j];
        grid_index = 3'(i);
        grid_index_1 = 3'(j);
        grid_o[i * 4 + 1 +: 3] = grid_index ^ grid_index_1;
      end
    end
  end
endmodule
