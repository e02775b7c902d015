// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The configuration of a current core: that of the package in its list of files, with changes.
package cva6_hart_pkg;
  function automatic config_pkg::cva6_user_cfg_t changed();
    config_pkg::cva6_user_cfg_t cfg = cva6_config_pkg::cva6_cfg;
    // Changes.
    return cfg;
  endfunction

  localparam config_pkg::cva6_cfg_t Cfg = build_config_pkg::build_config(changed());
endpackage
