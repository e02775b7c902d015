// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Sequentially inferable jumps: the register that a jalr takes its target from was loaded by the lui or auipc
// that retired immediately before it.
module cva6_te_sijump #(
  parameter int unsigned Lanes = 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [Lanes-1:0]      valid_i,   // retires, lane 0 oldest
  input  logic [Lanes-1:0]      upper_i,   // it is lui, auipc or c.lui
  input  logic [Lanes-1:0]      jalr_i,    // it is an indirect jump
  input  logic [Lanes-1:0][4:0] rd_i,
  input  logic [Lanes-1:0][4:0] rs1_i,
  input  logic                  forget_i,  // nothing follows what retires now: a trap, or debug mode
  output logic [Lanes-1:0]      sijump_o
);
  logic       loaded_d, loaded_q;
  logic [4:0] register_d, register_q;

  always_comb begin
    loaded_d   = loaded_q;
    register_d = register_q;
    for (int unsigned i = 0; i < Lanes; i++) begin
      sijump_o[i] = valid_i[i] & jalr_i[i] & loaded_d & (rs1_i[i] == register_d);
      if (valid_i[i]) begin
        loaded_d   = upper_i[i] & (rd_i[i] != 5'd0);
        register_d = rd_i[i];
      end
    end
    if (forget_i) loaded_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q   <= 1'b0;
      register_q <= 5'd0;
    end else begin
      loaded_q   <= loaded_d;
      register_q <= register_d;
    end
  end
endmodule
