// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The configuration of the core: RV64IMAC with M, S and U mode and Sv39. No floating point: the package the
// core comes in lacks the divider. No coprocessor interface: it would be asked about every illegal instruction
// and has to answer.
package cva6_config_pkg;
  localparam CVA6ConfigXlen = 64;
  localparam CVA6ConfigFpuEn = 0;
  localparam CVA6ConfigF16En = 0;
  localparam CVA6ConfigF16AltEn = 0;
  localparam CVA6ConfigF8En = 0;
  localparam CVA6ConfigFVecEn = 0;
  localparam CVA6ConfigCvxifEn = 0;
  localparam CVA6ConfigCExtEn = 1;
  localparam CVA6ConfigAExtEn = 1;
  localparam CVA6ConfigFetchUserEn = 0;
  localparam CVA6ConfigFetchUserWidth = CVA6ConfigXlen;
  localparam CVA6ConfigDataUserEn = 0;
  localparam CVA6ConfigDataUserWidth = CVA6ConfigXlen;
  localparam CVA6ConfigRenameEn = 0;
endpackage
