// Makes payloads of requests: the fields of their format one after the other, without the bits at
// the top that follow from the ones below.
module te_packet_emitter (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         valid_i,
    output logic         ready_o,
    input  logic         start_i,  // format 3.0
    input  logic         trap_i,  // format 3.1
    input  logic         report_i,  // an address: format 0, 1 or 2
    input  logic         map_only_i,  // branches without an address: format 0.0 or 1
    input  logic         support_i,  // format 3.3
    input  logic [62:0]  address_i,
    input  logic         branch_i,  // it is no branch that was taken
    input  logic [1:0]   privilege_i,
    input  logic [4:0]   ecause_i,
    input  logic         interrupt_i,
    input  logic         thaddr_i,
    input  logic [63:0]  tval_i,
    input  logic [4:0]   branches_i,  // in the map
    input  logic [30:0]  branch_map_i,
    input  logic         counting_i,  // branches are reported as a count
    input  logic [31:0]  branch_count_i,
    input  logic         mispredicted_i,  // the address is a branch that is not counted
    input  logic         notify_i,
    input  logic         updiscon_i,
    input  logic         target_i,  // of an uninferable discontinuity
    input  logic         irreport_i,
    input  logic [4:0]   irdepth_i,
    input  logic         ienable_i,
    input  logic [1:0]   qual_status_i,
    input  logic         implicit_return_i,  // the mode is on
    input  logic         implicit_exception_i,  // the mode is on
    input  logic         full_address_i,  // the mode is on
    input  logic         jump_target_cache_i,  // the mode is on
    input  logic         branch_prediction_i,  // the mode is on
    input  logic         sequential_jump_i,  // the mode is on
    output logic         valid_o,
    input  logic         ready_i,
    // the payload, first byte lowest; what is behind it repeats its last bit
    output logic [143:0] data_o,
    output logic [4:0]   len_o,  // bytes of it
    output logic         empty_o,  // nothing is on its way
    output logic         settled_o,  // no target is on its way
    output logic         indexed_o  // the last target was sent as an index
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
  logic [62:0] first_address_d, first_address_q;
  logic first_branch_d, first_branch_q;
  logic [1:0] first_privilege_d, first_privilege_q;
  logic [4:0] first_ecause_d, first_ecause_q;
  logic first_interrupt_d, first_interrupt_q;
  logic first_thaddr_d, first_thaddr_q;
  logic [63:0] first_tval_d, first_tval_q;
  logic [4:0] first_branches_d, first_branches_q;
  logic [30:0] first_branch_map_d, first_branch_map_q;
  logic first_counting_d, first_counting_q;
  logic [31:0] first_branch_count_d, first_branch_count_q;
  logic first_mispredicted_d, first_mispredicted_q;
  logic first_notify_d, first_notify_q;
  logic first_updiscon_d, first_updiscon_q;
  logic first_target_d, first_target_q;
  logic first_irreport_d, first_irreport_q;
  logic [4:0] first_irdepth_d, first_irdepth_q;
  logic first_ienable_d, first_ienable_q;
  logic [1:0] first_qual_status_d, first_qual_status_q;
  logic [62:0] last_address_d, last_address_q;
  logic sync;
  logic absolute;
  logic [62:0] field;
  logic jump_target_cache_hit;
  logic [6:0] jump_target_cache_index;

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
  assign first_counting_d = counting_i;
  assign first_branch_count_d = branch_count_i;
  assign first_mispredicted_d = mispredicted_i;
  assign first_notify_d = notify_i;
  assign first_updiscon_d = updiscon_i;
  assign first_target_d = target_i;
  assign first_irreport_d = irreport_i;
  assign first_irdepth_d = irdepth_i;
  assign first_ienable_d = ienable_i;
  assign first_qual_status_d = qual_status_i;
  assign sync = first_start_q | first_trap_q;
  assign last_address_d = (load_2 & (sync | first_report_q)) ? first_address_q : last_address_q;
  assign absolute = full_address_i | sync;
  assign field = first_address_q - ({63{!absolute}} & last_address_q);

  te_jump_target_cache i_jump_target_cache (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .address_i(first_address_q),
      .store_i(load_2 & jump_target_cache_i & first_report_q & first_target_q),
      .clear_i(load_2 & sync),
      .hit_o(jump_target_cache_hit),
      .index_o(jump_target_cache_index)
  );

  logic second_start_d, second_start_q;
  logic second_trap_d, second_trap_q;
  logic second_report_d, second_report_q;
  logic second_map_only_d, second_map_only_q;
  logic second_support_d, second_support_q;
  logic [62:0] second_address_d, second_address_q;
  logic second_branch_d, second_branch_q;
  logic [1:0] second_privilege_d, second_privilege_q;
  logic [4:0] second_ecause_d, second_ecause_q;
  logic second_interrupt_d, second_interrupt_q;
  logic second_thaddr_d, second_thaddr_q;
  logic [63:0] second_tval_d, second_tval_q;
  logic [4:0] second_branches_d, second_branches_q;
  logic [30:0] second_branch_map_d, second_branch_map_q;
  logic second_counting_d, second_counting_q;
  logic [31:0] second_branch_count_d, second_branch_count_q;
  logic second_mispredicted_d, second_mispredicted_q;
  logic second_notify_d, second_notify_q;
  logic second_updiscon_d, second_updiscon_q;
  logic second_target_d, second_target_q;
  logic second_irreport_d, second_irreport_q;
  logic [4:0] second_irdepth_d, second_irdepth_q;
  logic second_ienable_d, second_ienable_q;
  logic [1:0] second_qual_status_d, second_qual_status_q;
  logic second_hit_d, second_hit_q;
  logic [6:0] second_index_d, second_index_q;

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
  assign second_counting_d = first_counting_q;
  assign second_branch_count_d = first_branch_count_q;
  assign second_mispredicted_d = first_mispredicted_q;
  assign second_notify_d = first_notify_q;
  assign second_updiscon_d = first_updiscon_q;
  assign second_target_d = first_target_q;
  assign second_irreport_d = first_irreport_q;
  assign second_irdepth_d = first_irdepth_q;
  assign second_ienable_d = first_ienable_q;
  assign second_qual_status_d = first_qual_status_q;
  assign second_hit_d = jump_target_cache_i &
      first_report_q &
      first_target_q &
      (!first_updiscon_q & !first_notify_q & !first_counting_q) &
      jump_target_cache_hit;
  assign second_index_d = jump_target_cache_index;

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
  logic [143:0] plain;
  logic [4:0] plain_len;
  logic [55:0] brief;
  logic [4:0] brief_len;
  logic indexed;
  logic was_indexed_d, was_indexed_q;

  assign options = {
          sequential_jump_i,
          branch_prediction_i,
          jump_target_cache_i,
          full_address_i,
          implicit_exception_i,
          implicit_return_i
      };
  assign notify_bit = second_address_q[62] ^ second_notify_q;
  assign updiscon_bit = notify_bit ^ second_updiscon_q;
  assign map_1 = second_branches_q[0] & !(|second_branches_q[4:1]);
  assign map_3 = second_branches_q[1] & !(|second_branches_q[4:2]);
  assign map_7 = second_branches_q[2] & !(|second_branches_q[4:3]);
  assign map_15 = second_branches_q[3] & !second_branches_q[4];
  assign map_31 = second_branches_q[4] & 1'b1;
  assign implicit = implicit_exception_i & second_thaddr_q;
  assign plain = 144'd0 |
      ({144{second_report_q & !second_counting_q & !(|second_branches_q)}} &
          $unsigned(
              144'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{updiscon_bit}},
                          updiscon_bit ^ second_irreport_q,
                          updiscon_bit,
                          notify_bit,
                          second_address_q,
                          2'd2
                      }
                  )
              )
          )) |
      ({144{second_report_q & !second_counting_q & map_1}} &
          $unsigned(
              144'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{updiscon_bit}},
                          updiscon_bit ^ second_irreport_q,
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
      ({144{second_report_q & !second_counting_q & map_3}} &
          $unsigned(
              144'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{updiscon_bit}},
                          updiscon_bit ^ second_irreport_q,
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
      ({144{second_report_q & !second_counting_q & map_7}} &
          $unsigned(
              144'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{updiscon_bit}},
                          updiscon_bit ^ second_irreport_q,
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
      ({144{second_report_q & !second_counting_q & map_15}} &
          $unsigned(
              144'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{updiscon_bit}},
                          updiscon_bit ^ second_irreport_q,
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
      ({144{second_report_q & !second_counting_q & map_31}} &
          $unsigned(
              144'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{updiscon_bit}},
                          updiscon_bit ^ second_irreport_q,
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
      ({144{second_map_only_q & !second_counting_q}} &
          $unsigned(144'($signed({second_branch_map_q, 5'd0, 2'd1})))) |
      ({144{second_report_q & second_counting_q}} &
          $unsigned(
              144'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{updiscon_bit}},
                          updiscon_bit ^ second_irreport_q,
                          updiscon_bit,
                          notify_bit,
                          second_address_q,
                          second_map_only_q ? 2'd0 : {1'b1, second_mispredicted_q},
                          second_branch_count_q,
                          1'b0,
                          2'd0
                      }
                  )
              )
          )) |
      ({144{second_map_only_q & second_counting_q}} &
          $unsigned(
              144'(
                  $signed(
                      {
                          second_map_only_q ? 2'd0 : {1'b1, second_mispredicted_q},
                          second_branch_count_q,
                          1'b0,
                          2'd0
                      }
                  )
              )
          )) |
      ({144{second_start_q}} &
          $unsigned(
              144'($signed({second_address_q, second_privilege_q, second_branch_q, 2'd0, 2'd3}))
          )) |
      ({144{second_trap_q & (!implicit & !second_interrupt_q)}} &
          $unsigned(
              144'(
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
      ({144{second_trap_q & (!implicit & second_interrupt_q)}} &
          $unsigned(
              144'(
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
      ({144{second_trap_q & (implicit & !second_interrupt_q)}} &
          $unsigned(
              144'(
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
      ({144{second_trap_q & (implicit & second_interrupt_q)}} &
          $unsigned(
              144'(
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
      ({144{second_support_q}} &
          $unsigned(
              144'(
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
  assign plain_len = (|(plain[142:135] ^ {8{plain[143]}})) ?
      5'd18 :
      ((|(plain[134:127] ^ {8{plain[143]}})) ?
          5'd17 :
          ((|(plain[126:119] ^ {8{plain[143]}})) ?
              5'd16 :
              ((|(plain[118:111] ^ {8{plain[143]}})) ?
                  5'd15 :
                  ((|(plain[110:103] ^ {8{plain[143]}})) ?
                      5'd14 :
                      ((|(plain[102:95] ^ {8{plain[143]}})) ?
                          5'd13 :
                          ((|(plain[94:87] ^ {8{plain[143]}})) ?
                              5'd12 :
                              ((|(plain[86:79] ^ {8{plain[143]}})) ?
                                  5'd11 :
                                  ((|(plain[78:71] ^ {8{plain[143]}})) ?
                                      5'd10 :
                                      ((|(plain[70:63] ^ {8{plain[143]}})) ?
                                          5'd9 :
                                          ((|(plain[62:55] ^ {8{plain[143]}})) ?
                                              5'd8 :
                                              ((|(plain[54:47] ^ {8{plain[143]}})) ?
                                                  5'd7 :
                                                  ((|(plain[46:39] ^ {8{plain[143]}})) ?
                                                      5'd6 :
                                                      ((|(plain[38:31] ^ {8{plain[143]}})) ?
                                                          5'd5 :
                                                          ((|(plain[30:23] ^ {8{plain[143]}})) ?
                                                              5'd4 :
                                                              ((|(plain[22:15] ^ {8{plain[143]}})) ?
                                                                  5'd3 :
                                                                  ((|(plain[14:7] ^ {8{plain[143]}})) ?
                                                                      5'd2 :
                                                                      5'd1))))))))))))))));
  assign brief = 56'd0 |
      ({56{!(|second_branches_q)}} &
          $unsigned(
              56'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{second_branches_q[4]}},
                          second_branches_q[4] ^ second_irreport_q,
                          second_branches_q,
                          second_index_q,
                          1'b1,
                          2'd0
                      }
                  )
              )
          )) |
      ({56{map_1}} &
          $unsigned(
              56'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{second_branch_map_q[0]}},
                          second_branch_map_q[0] ^ second_irreport_q,
                          second_branch_map_q[0],
                          second_branches_q,
                          second_index_q,
                          1'b1,
                          2'd0
                      }
                  )
              )
          )) |
      ({56{map_3}} &
          $unsigned(
              56'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{second_branch_map_q[2]}},
                          second_branch_map_q[2] ^ second_irreport_q,
                          second_branch_map_q[2:0],
                          second_branches_q,
                          second_index_q,
                          1'b1,
                          2'd0
                      }
                  )
              )
          )) |
      ({56{map_7}} &
          $unsigned(
              56'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{second_branch_map_q[6]}},
                          second_branch_map_q[6] ^ second_irreport_q,
                          second_branch_map_q[6:0],
                          second_branches_q,
                          second_index_q,
                          1'b1,
                          2'd0
                      }
                  )
              )
          )) |
      ({56{map_15}} &
          $unsigned(
              56'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{second_branch_map_q[14]}},
                          second_branch_map_q[14] ^ second_irreport_q,
                          second_branch_map_q[14:0],
                          second_branches_q,
                          second_index_q,
                          1'b1,
                          2'd0
                      }
                  )
              )
          )) |
      ({56{map_31}} &
          $unsigned(
              56'(
                  $signed(
                      {
                          second_irreport_q ? second_irdepth_q : {5{second_branch_map_q[30]}},
                          second_branch_map_q[30] ^ second_irreport_q,
                          second_branch_map_q,
                          second_branches_q,
                          second_index_q,
                          1'b1,
                          2'd0
                      }
                  )
              )
          ));
  assign brief_len = (|(brief[54:47] ^ {8{brief[55]}})) ?
      5'd7 :
      ((|(brief[46:39] ^ {8{brief[55]}})) ?
          5'd6 :
          ((|(brief[38:31] ^ {8{brief[55]}})) ?
              5'd5 :
              ((|(brief[30:23] ^ {8{brief[55]}})) ?
                  5'd4 :
                  ((|(brief[22:15] ^ {8{brief[55]}})) ?
                      5'd3 :
                      ((|(brief[14:7] ^ {8{brief[55]}})) ? 5'd2 : 5'd1)))));
  assign indexed = second_hit_q & (brief_len <= plain_len);
  assign was_indexed_d = (load_3 & (second_report_q & second_target_q)) ? indexed : was_indexed_q;
  assign indexed_o = was_indexed_q;
  assign settled_o = !((valid_1_q & first_target_q) | (valid_2_q & second_target_q));

  // Third stage: the payload.
  logic [143:0] data_d, data_q;
  logic [4:0] len_d, len_q;

  assign data_d = indexed ? {{88{brief[55]}}, brief} : plain;
  assign len_d = indexed ? brief_len : plain_len;
  assign data_o = data_q;
  assign len_o = len_q;
  assign valid_o = valid_3_q;
  assign empty_o = !(valid_1_q | valid_2_q | valid_3_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_1_q <= 1'b0;
      valid_2_q <= 1'b0;
      valid_3_q <= 1'b0;
      last_address_q <= 63'd0;
      was_indexed_q <= 1'b0;
    end else begin
      valid_1_q <= valid_1_d;
      valid_2_q <= valid_2_d;
      valid_3_q <= valid_3_d;
      last_address_q <= last_address_d;
      was_indexed_q <= was_indexed_d;
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
      first_counting_q <= first_counting_d;
    end
    if (load_1) begin
      first_branch_count_q <= first_branch_count_d;
    end
    if (load_1) begin
      first_mispredicted_q <= first_mispredicted_d;
    end
    if (load_1) begin
      first_notify_q <= first_notify_d;
    end
    if (load_1) begin
      first_updiscon_q <= first_updiscon_d;
    end
    if (load_1) begin
      first_target_q <= first_target_d;
    end
    if (load_1) begin
      first_irreport_q <= first_irreport_d;
    end
    if (load_1) begin
      first_irdepth_q <= first_irdepth_d;
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
      second_counting_q <= second_counting_d;
    end
    if (load_2) begin
      second_branch_count_q <= second_branch_count_d;
    end
    if (load_2) begin
      second_mispredicted_q <= second_mispredicted_d;
    end
    if (load_2) begin
      second_notify_q <= second_notify_d;
    end
    if (load_2) begin
      second_updiscon_q <= second_updiscon_d;
    end
    if (load_2) begin
      second_target_q <= second_target_d;
    end
    if (load_2) begin
      second_irreport_q <= second_irreport_d;
    end
    if (load_2) begin
      second_irdepth_q <= second_irdepth_d;
    end
    if (load_2) begin
      second_ienable_q <= second_ienable_d;
    end
    if (load_2) begin
      second_qual_status_q <= second_qual_status_d;
    end
    if (load_2) begin
      second_hit_q <= second_hit_d;
    end
    if (load_2) begin
      second_index_q <= second_index_d;
    end
    if (load_3) begin
      data_q <= data_d;
    end
    if (load_3) begin
      len_q <= len_d;
    end
  end
endmodule
