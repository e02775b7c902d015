// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// What the adapters have in common.
package cva6_te_pkg;
  // What an instruction does to the flow of control, as cva6_te_connector numbers it.
  localparam logic [2:0] KindPlain        = 3'd0;
  localparam logic [2:0] KindBranch       = 3'd1;
  localparam logic [2:0] KindDirectJump   = 3'd2;
  localparam logic [2:0] KindIndirectJump = 3'd3;
  localparam logic [2:0] KindTrapReturn   = 3'd4;

  // Whether an instruction loads a register with a constant from which a jump can be inferred: lui, auipc, c.lui.
  // Of the instruction as it was fetched: bits 6 to 0, 11 to 7 and 15 to 13.
  function automatic logic loads_constant(logic [6:0] opcode, logic [4:0] rd, logic [2:0] funct, logic compressed);
    // What would be c.lui with x2 is c.addi16sp.
    loads_constant = compressed ? (opcode[1:0] == 2'b01) & (funct == 3'b011) & (rd != 5'd2)
                                : (opcode == 7'b0110111) | (opcode == 7'b0010111);
  endfunction
endpackage
