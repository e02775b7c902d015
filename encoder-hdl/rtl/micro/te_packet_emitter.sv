// Makes payloads of requests: the fields of their format one after the other, without the bits at
// the top that follow from the ones below.
module te_packet_emitter (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    output logic        ready_o,
    input  logic        start_i,  // format 3.0
    input  logic        trap_i,  // format 3.1
    input  logic        report_i,  // an address: format 0, 1 or 2
    input  logic        map_only_i,  // branches without an address: format 0.0 or 1
    input  logic        support_i,  // format 3.3
    input  logic [30:0] address_i,
    input  logic        branch_i,  // it is no branch that was taken
    input  logic [1:0]  privilege_i,
    input  logic [3:0]  ecause_i,
    input  logic        interrupt_i,
    input  logic        thaddr_i,
    input  logic [31:0] tval_i,
    input  logic [4:0]  branches_i,  // in the map
    input  logic [30:0] branch_map_i,
    input  logic        updiscon_i,
    input  logic        ienable_i,
    input  logic [1:0]  qual_status_i,
    output logic        valid_o,
    input  logic        ready_i,
    // the payload, first byte lowest; what is behind it repeats its last bit
    output logic [79:0] data_o,
    output logic [4:0]  len_o,  // bytes of it
    output logic        empty_o  // nothing is on its way
);
  // First stage: the difference to the address sent before.
  logic valid_1_d, valid_1_q;
  logic valid_2_d, valid_2_q;
  logic valid_3_d, valid_3_q;
  logic move_3;
  logic move_2;
  logic move_1;
  logic load_1;
  logic load_2;
  logic load_3;
  logic first_start_d, first_start_q;
  logic first_trap_d, first_trap_q;
  logic first_report_d, first_report_q;
  logic first_map_only_d, first_map_only_q;
  logic first_support_d, first_support_q;
  logic [30:0] first_address_d, first_address_q;
  logic first_branch_d, first_branch_q;
  logic [1:0] first_privilege_d, first_privilege_q;
  logic [3:0] first_ecause_d, first_ecause_q;
  logic first_interrupt_d, first_interrupt_q;
  logic first_thaddr_d, first_thaddr_q;
  logic [31:0] first_tval_d, first_tval_q;
  logic [4:0] first_branches_d, first_branches_q;
  logic [30:0] first_branch_map_d, first_branch_map_q;
  logic first_updiscon_d, first_updiscon_q;
  logic first_ienable_d, first_ienable_q;
  logic [1:0] first_qual_status_d, first_qual_status_q;
  logic [30:0] last_address_d, last_address_q;
  logic sync;
  logic absolute;
  logic [30:0] field;
  logic second_start_d, second_start_q;
  logic second_trap_d, second_trap_q;
  logic second_report_d, second_report_q;
  logic second_map_only_d, second_map_only_q;
  logic second_support_d, second_support_q;
  logic [30:0] second_address_d, second_address_q;
  logic second_branch_d, second_branch_q;
  logic [1:0] second_privilege_d, second_privilege_q;
  logic [3:0] second_ecause_d, second_ecause_q;
  logic second_interrupt_d, second_interrupt_q;
  logic second_thaddr_d, second_thaddr_q;
  logic [31:0] second_tval_d, second_tval_q;
  logic [4:0] second_branches_d, second_branches_q;
  logic [30:0] second_branch_map_d, second_branch_map_q;
  logic second_updiscon_d, second_updiscon_q;
  logic second_ienable_d, second_ienable_q;
  logic [1:0] second_qual_status_d, second_qual_status_q;

  assign move_3 = !valid_3_q | ready_i;
  assign move_2 = !valid_2_q | move_3;
  assign move_1 = !valid_1_q | move_2;
  assign ready_o = move_1;
  assign valid_1_d = valid_i | (valid_1_q & !move_2);
  assign valid_2_d = valid_1_q | (valid_2_q & !move_3);
  assign valid_3_d = valid_2_q | (valid_3_q & !ready_i);
  assign load_1 = valid_i & move_1;
  assign load_2 = valid_1_q & move_2;
  assign load_3 = valid_2_q & move_3;
  assign first_start_d = start_i;
  assign first_trap_d = trap_i;
  assign first_report_d = report_i;
  assign first_map_only_d = map_only_i;
  assign first_support_d = support_i;
  assign first_address_d = address_i;
  assign first_branch_d = branch_i;
  assign first_privilege_d = privilege_i;
  assign first_ecause_d = ecause_i;
  assign first_interrupt_d = interrupt_i;
  assign first_thaddr_d = thaddr_i;
  assign first_tval_d = tval_i;
  assign first_branches_d = branches_i;
  assign first_branch_map_d = branch_map_i;
  assign first_updiscon_d = updiscon_i;
  assign first_ienable_d = ienable_i;
  assign first_qual_status_d = qual_status_i;
  assign sync = first_start_q | first_trap_q;
  assign last_address_d = (load_2 & (sync | first_report_q)) ? first_address_q : last_address_q;
  assign absolute = 1'b0 | sync;
  assign field = first_address_q - ({31{!absolute}} & last_address_q);
  assign second_start_d = first_start_q;
  assign second_trap_d = first_trap_q;
  assign second_report_d = first_report_q;
  assign second_map_only_d = first_map_only_q;
  assign second_support_d = first_support_q;
  assign second_address_d = field;
  assign second_branch_d = first_branch_q;
  assign second_privilege_d = first_privilege_q;
  assign second_ecause_d = first_ecause_q;
  assign second_interrupt_d = first_interrupt_q;
  assign second_thaddr_d = first_thaddr_q;
  assign second_tval_d = first_tval_q;
  assign second_branches_d = first_branches_q;
  assign second_branch_map_d = first_branch_map_q;
  assign second_updiscon_d = first_updiscon_q;
  assign second_ienable_d = first_ienable_q;
  assign second_qual_status_d = first_qual_status_q;

  // Second stage: the fields in their places.
  logic [5:0] options;
  logic notify_bit;
  logic updiscon_bit;
  logic map_1;
  logic map_3;
  logic map_7;
  logic map_15;
  logic map_31;
  logic implicit;
  logic [79:0] plain;
  logic [4:0] plain_len;

  assign options = 6'd0;
  assign notify_bit = second_address_q[30] ^ 1'b0;
  assign updiscon_bit = notify_bit ^ second_updiscon_q;
  assign map_1 = second_branches_q[0] & !(|second_branches_q[4:1]);
  assign map_3 = second_branches_q[1] & !(|second_branches_q[4:2]);
  assign map_7 = second_branches_q[2] & !(|second_branches_q[4:3]);
  assign map_15 = second_branches_q[3] & !second_branches_q[4];
  assign map_31 = second_branches_q[4] & 1'b1;
  assign implicit = 1'b0 & second_thaddr_q;
  assign plain = 80'd0 |
      ({80{second_report_q & 1'b1 & !(|second_branches_q)}} &
          $unsigned(80'($signed({updiscon_bit, updiscon_bit, notify_bit, second_address_q, 2'd2})))) |
      ({80{second_report_q & 1'b1 & map_1}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          updiscon_bit,
                          updiscon_bit,
                          notify_bit,
                          second_address_q,
                          second_branch_map_q[0],
                          second_branches_q,
                          2'd1
                      }
                  )
              )
          )) |
      ({80{second_report_q & 1'b1 & map_3}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          updiscon_bit,
                          updiscon_bit,
                          notify_bit,
                          second_address_q,
                          second_branch_map_q[2:0],
                          second_branches_q,
                          2'd1
                      }
                  )
              )
          )) |
      ({80{second_report_q & 1'b1 & map_7}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          updiscon_bit,
                          updiscon_bit,
                          notify_bit,
                          second_address_q,
                          second_branch_map_q[6:0],
                          second_branches_q,
                          2'd1
                      }
                  )
              )
          )) |
      ({80{second_report_q & 1'b1 & map_15}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          updiscon_bit,
                          updiscon_bit,
                          notify_bit,
                          second_address_q,
                          second_branch_map_q[14:0],
                          second_branches_q,
                          2'd1
                      }
                  )
              )
          )) |
      ({80{second_report_q & 1'b1 & map_31}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          updiscon_bit,
                          updiscon_bit,
                          notify_bit,
                          second_address_q,
                          second_branch_map_q,
                          second_branches_q,
                          2'd1
                      }
                  )
              )
          )) |
      ({80{second_map_only_q & 1'b1}} & $unsigned(80'($signed({second_branch_map_q, 5'd0, 2'd1})))) |
      ({80{second_start_q}} &
          $unsigned(
              80'($signed({second_address_q, second_privilege_q, second_branch_q, 2'd0, 2'd3}))
          )) |
      ({80{second_trap_q & (!implicit & !second_interrupt_q)}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          second_tval_q,
                          second_address_q,
                          second_thaddr_q,
                          second_interrupt_q,
                          second_ecause_q,
                          second_privilege_q,
                          second_branch_q,
                          2'd1,
                          2'd3
                      }
                  )
              )
          )) |
      ({80{second_trap_q & (!implicit & second_interrupt_q)}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          second_address_q,
                          second_thaddr_q,
                          second_interrupt_q,
                          second_ecause_q,
                          second_privilege_q,
                          second_branch_q,
                          2'd1,
                          2'd3
                      }
                  )
              )
          )) |
      ({80{second_trap_q & (implicit & !second_interrupt_q)}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          second_tval_q,
                          second_thaddr_q,
                          second_interrupt_q,
                          second_ecause_q,
                          second_privilege_q,
                          second_branch_q,
                          2'd1,
                          2'd3
                      }
                  )
              )
          )) |
      ({80{second_trap_q & (implicit & second_interrupt_q)}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          second_thaddr_q,
                          second_interrupt_q,
                          second_ecause_q,
                          second_privilege_q,
                          second_branch_q,
                          2'd1,
                          2'd3
                      }
                  )
              )
          )) |
      ({80{second_support_q}} &
          $unsigned(
              80'(
                  $signed(
                      {
                          4'd0,
                          1'b0,
                          1'b0,
                          options,
                          second_qual_status_q,
                          1'b0,
                          second_ienable_q,
                          2'd3,
                          2'd3
                      }
                  )
              )
          ));
  assign plain_len = (|(plain[78:71] ^ {8{plain[79]}})) ?
      5'd10 :
      ((|(plain[70:63] ^ {8{plain[79]}})) ?
          5'd9 :
          ((|(plain[62:55] ^ {8{plain[79]}})) ?
              5'd8 :
              ((|(plain[54:47] ^ {8{plain[79]}})) ?
                  5'd7 :
                  ((|(plain[46:39] ^ {8{plain[79]}})) ?
                      5'd6 :
                      ((|(plain[38:31] ^ {8{plain[79]}})) ?
                          5'd5 :
                          ((|(plain[30:23] ^ {8{plain[79]}})) ?
                              5'd4 :
                              ((|(plain[22:15] ^ {8{plain[79]}})) ?
                                  5'd3 :
                                  ((|(plain[14:7] ^ {8{plain[79]}})) ? 5'd2 : 5'd1))))))));

  // Third stage: the payload.
  logic [79:0] data_d, data_q;
  logic [4:0] len_d, len_q;

  assign data_d = plain;
  assign len_d = plain_len;
  assign data_o = data_q;
  assign len_o = len_q;
  assign valid_o = valid_3_q;
  assign empty_o = !(valid_1_q | valid_2_q | valid_3_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_1_q <= 1'b0;
      valid_2_q <= 1'b0;
      valid_3_q <= 1'b0;
      last_address_q <= 31'd0;
    end else begin
      valid_1_q <= valid_1_d;
      valid_2_q <= valid_2_d;
      valid_3_q <= valid_3_d;
      last_address_q <= last_address_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_1) begin
      first_start_q <= first_start_d;
    end
    if (load_1) begin
      first_trap_q <= first_trap_d;
    end
    if (load_1) begin
      first_report_q <= first_report_d;
    end
    if (load_1) begin
      first_map_only_q <= first_map_only_d;
    end
    if (load_1) begin
      first_support_q <= first_support_d;
    end
    if (load_1) begin
      first_address_q <= first_address_d;
    end
    if (load_1) begin
      first_branch_q <= first_branch_d;
    end
    if (load_1) begin
      first_privilege_q <= first_privilege_d;
    end
    if (load_1) begin
      first_ecause_q <= first_ecause_d;
    end
    if (load_1) begin
      first_interrupt_q <= first_interrupt_d;
    end
    if (load_1) begin
      first_thaddr_q <= first_thaddr_d;
    end
    if (load_1) begin
      first_tval_q <= first_tval_d;
    end
    if (load_1) begin
      first_branches_q <= first_branches_d;
    end
    if (load_1) begin
      first_branch_map_q <= first_branch_map_d;
    end
    if (load_1) begin
      first_updiscon_q <= first_updiscon_d;
    end
    if (load_1) begin
      first_ienable_q <= first_ienable_d;
    end
    if (load_1) begin
      first_qual_status_q <= first_qual_status_d;
    end
    if (load_2) begin
      second_start_q <= second_start_d;
    end
    if (load_2) begin
      second_trap_q <= second_trap_d;
    end
    if (load_2) begin
      second_report_q <= second_report_d;
    end
    if (load_2) begin
      second_map_only_q <= second_map_only_d;
    end
    if (load_2) begin
      second_support_q <= second_support_d;
    end
    if (load_2) begin
      second_address_q <= second_address_d;
    end
    if (load_2) begin
      second_branch_q <= second_branch_d;
    end
    if (load_2) begin
      second_privilege_q <= second_privilege_d;
    end
    if (load_2) begin
      second_ecause_q <= second_ecause_d;
    end
    if (load_2) begin
      second_interrupt_q <= second_interrupt_d;
    end
    if (load_2) begin
      second_thaddr_q <= second_thaddr_d;
    end
    if (load_2) begin
      second_tval_q <= second_tval_d;
    end
    if (load_2) begin
      second_branches_q <= second_branches_d;
    end
    if (load_2) begin
      second_branch_map_q <= second_branch_map_d;
    end
    if (load_2) begin
      second_updiscon_q <= second_updiscon_d;
    end
    if (load_2) begin
      second_ienable_q <= second_ienable_d;
    end
    if (load_2) begin
      second_qual_status_q <= second_qual_status_d;
    end
    if (load_3) begin
      data_q <= data_d;
    end
    if (load_3) begin
      len_q <= len_d;
    end
  end
endmodule
