# VCU118, for vcu118_top.sv. Not tried: no board was at hand.

# The clock of the board; that of the core is derived from it.
create_clock -name sysclk -period 3.333 [get_ports sysclk_p]
set_property -dict {PACKAGE_PIN G31 IOSTANDARD DIFF_SSTL12} [get_ports sysclk_p]
set_property -dict {PACKAGE_PIN F31 IOSTANDARD DIFF_SSTL12} [get_ports sysclk_n]

set_property -dict {PACKAGE_PIN L19 IOSTANDARD LVCMOS12} [get_ports cpu_reset]
set_false_path -from [get_ports cpu_reset]

# Trace, to the USB bridge. Its bits have 500 ns, whatever their delay.
set_property -dict {PACKAGE_PIN AW25 IOSTANDARD LVCMOS18} [get_ports tx]
set_false_path -to [get_ports tx]

set_property -dict {PACKAGE_PIN AT32 IOSTANDARD LVCMOS12} [get_ports {led[0]}]
set_property -dict {PACKAGE_PIN AV34 IOSTANDARD LVCMOS12} [get_ports {led[1]}]
set_false_path -to [get_ports {led[*]}]
