#!/usr/bin/env bash
#
# Builds the bundled programs, compares them with the ones checked in, runs them and counts their
# instructions. See README.md.

set -euo pipefail
if [[ ${1-} == check ]]; then
    : "${2:?check needs a folder}"
    set -- check "$(realpath -m "$2")"
fi
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly cross=riscv64-unknown-elf-
readonly cross_a64=aarch64-linux-gnu- cross_a32=arm-linux-gnueabi-
readonly versions="gcc 12.2.0, binutils 2.40" # that the checked-in files were built with
readonly nothing=77 # exit status if the versions are others, as in test.sh

usage() {
    cat <<'TEXT'
Usage: ./build.sh COMMAND

  build      builds all programs into elf/
  check DIR  builds into DIR and compares with elf/ byte for byte; status 77 if the compiler is
             another one, whose output may differ
  run        runs all programs of elf/ on QEMU; each must end with exit code 0
  count      counts the instructions that they execute on QEMU (takes minutes)
TEXT
}

# shellcheck disable=SC2054 # the commas belong to the options
readonly flags=(
    -O2 -std=gnu11 -Wall -Werror -Wno-parentheses -ffreestanding -fno-pic -fno-ident
    -fno-asynchronous-unwind-tables -fno-stack-protector -fno-tree-loop-distribute-patterns
    -ffp-contract=off -fno-math-errno "-ffile-prefix-map=$PWD=." -Irt -nostdlib -static
    -Wl,--build-id=none -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments
)

# bare OUT NAME MARCH MABI MAIN SOURCE...
bare() {
    local out=$1 name=$2 march=$3 mabi=$4 main=$5
    shift 5
    "${cross}gcc" "-march=$march" "-mabi=$mabi" -mcmodel=medany "${flags[@]}" -DMAIN="$main" \
        -Wl,-n -Trt/link.ld -o "$out/$name.elf" rt/start.S rt/rt.c "$@"
}

build() {
    local out=$1
    local gc=(rv64gc lp64d) imac32=(rv32imac_zicsr ilp32)
    mkdir -p "$out"
    bare "$out" branchy "${gc[@]}" branchy src/branchy.c
    bare "$out" calls "${gc[@]}" calls src/calls.{c,S}
    bare "$out" interp "${gc[@]}" interp src/interp.c
    bare "$out" strings "${imac32[@]}" strings src/strings.c
    bare "$out" sort "${gc[@]}" sort src/sort.c
    bare "$out" crypto rv64ima_zicsr lp64 crypto src/crypto.c
    bare "$out" float "${gc[@]}" floating src/float.c
    bare "$out" interrupts "${gc[@]}" interrupts src/interrupts.{c,S}
    bare "$out" interrupts-rv32 "${imac32[@]}" interrupts src/interrupts.{c,S}
    bare "$out" user rv64imac_zicsr lp64 user src/user.{c,S}
    bare "$out" long "${gc[@]}" longrun \
        src/{long,branchy,calls,interp,strings,sort,crypto,float}.c src/calls.S
    "${cross}gcc" -march=rv64gc -mabi=lp64d "${flags[@]}" -Wl,--no-relax \
        -o "$out/linux.elf" rt/rt.c src/linux.c
    build_streams "$out/streams"
    build_cva6 "$out/cva6"
    build_picorv32 "$out/picorv32"
    build_arm "$out/arm"
    build_debug "$out/debug"
    chmod 644 "$out"/*.elf "$out"/{cva6,picorv32}/*.elf
    chmod 755 "$out/linux.elf" # or QEMU refuses it
}

# Programs that read, print and end in their own ways; see README.md.
build_streams() {
    local out=$1 name
    mkdir -p "$out"
    for name in count files ends; do
        "${cross}gcc" -march=rv64gc -mabi=lp64d "${flags[@]}" -Isrc/streams -Wl,--no-relax \
            -o "$out/$name.elf" rt/rt.c "src/streams/$name.c"
    done
    bare "$out" print rv64gc lp64d print src/streams/print.c
    chmod 755 "$out"/*.elf # or QEMU refuses them
}

# Programs for the CVA6, which has no floating point: those above that compute and those that trap, and
# others that need its platform; see README.md.
build_cva6() {
    local out=$1 imac=(rv64imac_zicsr_zifencei lp64) name
    mkdir -p "$out"
    for name in branchy crypto interp sort strings; do
        bare "$out" "$name" "${imac[@]}" "$name" "src/$name.c"
    done
    bare "$out" calls "${imac[@]}" calls src/calls.{c,S}
    for name in interrupts user; do
        bare "$out" "$name" "${imac[@]}" "$name" -DCVA6 "src/$name".{c,S}
    done
    bare "$out" atomics "${imac[@]}" atomics src/cva6/atomics.c
    for name in exceptions paging spaces surprises; do
        bare "$out" "$name" "${imac[@]}" "$name" "src/cva6/$name.c" src/cva6/machine.S
    done
    # With the driver, and with the registers of the encoder that the test attaches to the core.
    bare "$out" selfhosted "${imac[@]}" selfhosted -I{src/cva6,../../encoder-hdl/software} \
        src/cva6/{selfhosted.c,machine.S} ../../encoder-hdl/software/trace.c
    bare "$out" filtered "${imac[@]}" filtered -I{src/cva6/linux,src/cva6,../../encoder-hdl/software} \
        src/cva6/{filtered.c,machine.S} ../../encoder-hdl/software/trace.c
    # Without the start of the others.
    "${cross}gcc" "-march=${imac[0]}" "-mabi=${imac[1]}" -mcmodel=medany "${flags[@]}" -Wl,-n -Trt/link.ld \
        -o "$out/harts.elf" src/cva6/harts.{S,c}
    "${cross}gcc" "-march=${imac[0]}" "-mabi=${imac[1]}" "${flags[@]}" -Wl,-n -Trt/link.ld \
        -o "$out/monitor.elf" src/cva6/monitor.S
}

# Programs for the PicoRV32, which has no privileged architecture; see README.md.
build_picorv32() {
    local out=$1
    local compile=("${cross}gcc" -march=rv32imc -mabi=ilp32 -mcmodel=medany "${flags[@]}" -Wl,-n -Trt/link.ld)
    mkdir -p "$out"
    "${compile[@]}" -DMAIN=crypto -o "$out/crypto.elf" rt/picorv32.S rt/rt.c src/crypto.c
    "${compile[@]}" -DMAIN=calls -o "$out/calls.elf" rt/picorv32.S rt/rt.c src/calls.{c,S}
}

# Programs for Linux on Arm: the C sources above that need nothing of RISC-V, in A64 and T32, and some
# others; see README.md.
build_arm() {
    local out=$1 name
    local a64=("${cross_a64}gcc" -mcpu=cortex-a53 "${flags[@]}")
    local a32=("${cross_a32}gcc" -mcpu=cortex-a15 -marm -mfloat-abi=soft "${flags[@]}")
    local t32=("${a32[@]}" -mthumb)
    local long=(src/{long,branchy,calls,interp,strings,sort,crypto}.c)
    mkdir -p "$out"/{a64,t32}
    for name in branchy calls crypto interp sort strings; do
        "${a64[@]}" -DMAIN="$name" -o "$out/a64/$name.elf" rt/linux-arm.S rt/rt.c "src/$name.c"
        "${t32[@]}" -DMAIN="$name" -o "$out/t32/$name.elf" rt/linux-arm.S rt/rt.c "src/$name.c" -lgcc
    done
    "${a64[@]}" -DMAIN=longrun -o "$out/long-a64.elf" rt/linux-arm.S rt/rt.c "${long[@]}"
    "${a32[@]}" -DMAIN=longrun -o "$out/long-a32.elf" rt/linux-arm.S rt/rt.c "${long[@]}" -lgcc
    # Half of it in T32: calls and returns go from one to the other.
    "${t32[@]}" -c -o "$out/sort.o" src/sort.c
    "${t32[@]}" -c -o "$out/calls.o" src/calls.c
    "${t32[@]}" -c -o "$out/rt.o" rt/rt.c
    "${a32[@]}" -DMAIN=longrun -o "$out/long-mixed.elf" rt/linux-arm.S src/{long,branchy,interp,strings,crypto}.c \
        "$out"/{sort,calls,rt}.o -lgcc
    rm "$out"/*.o
    "${a64[@]}" -o "$out/flow.elf" src/arm/flow.S
    "${a32[@]}" -o "$out/states.elf" src/arm/states.S
    "${a64[@]}" -o "$out/signals-a64.elf" src/arm/signals.S
    "${a32[@]}" -o "$out/signals-a32.elf" src/arm/signals.S
    chmod 755 "$out"/*.elf "$out"/*/*.elf
}

# Programs with debug information, the same source for three architectures; see README.md.
build_debug() {
    local out=$1
    # The assembler names folders by itself.
    local debug=(-g "-Wa,--debug-prefix-map,$PWD=.")
    local arm=("${flags[@]}" "${debug[@]}" -DMAIN=sort rt/linux-arm.S rt/rt.c src/sort.c)
    mkdir -p "$out"
    bare "$out" sort rv64gc lp64d sort "${debug[@]}" src/sort.c
    "${cross_a64}gcc" -mcpu=cortex-a53 "${arm[@]}" -o "$out/sort-a64.elf"
    "${cross_a32}gcc" -mcpu=cortex-a15 -mfloat-abi=soft -mthumb "${arm[@]}" -lgcc -o "$out/sort-t32.elf"
    chmod 644 "$out"/*.elf
    chmod 755 "$out"/*-*.elf
}

# The rows of list.csv, without the first line: name, file, xlen, kind, instructions, description.
list() {
    tail -n +2 list.csv
}

check() {
    local out=$1 name file rest failed=0 have
    build "$out"
    for name in "$cross" "$cross_a64" "$cross_a32"; do
        have="gcc $("${name}gcc" -dumpfullversion), binutils $("${name}ld" --version | awk 'NR==1 {print $NF}')"
        if [[ $have != "$versions" ]]; then
            echo "${name}gcc is $have; the files checked in are from $versions and were not compared"
            return $nothing
        fi
    done
    while IFS=, read -r name file rest; do
        cmp "$file" "$out/$name.elf" || failed=1
    done < <(list)
    local others=(elf/{cva6,picorv32,streams,arm,arm/a64,arm/t32,debug}/*.elf)
    for file in "${others[@]}"; do
        cmp "$file" "$out/${file#elf/}" || failed=1
    done
    ((failed)) || echo "$(($(list | wc -l) + ${#others[@]})) programs are as checked in"
    return $failed
}

# qemu KIND XLEN FILE [OPTION...]. With icount, time is counted in instructions, so that every run
# is the same: 1 ns each, and a tick of the timer is 100 ns.
qemu() {
    local kind=$1 xlen=$2 file=$3
    shift 3
    case $kind in
    bare)
        "qemu-system-riscv$xlen" -M spike -bios none -display none -serial none -monitor none \
            -icount shift=0,sleep=off "$@" -kernel "$file"
        ;;
    linux) "qemu-riscv$xlen" "$@" "$file" ;;
    esac
}

run() {
    local name file xlen kind rest status failed=0
    while IFS=, read -r name file xlen kind rest; do
        status=0
        qemu "$kind" "$xlen" "$file" </dev/null || status=$?
        ((status == 0)) || failed=1
        printf '%-16s exit code %d\n' "$name" "$status"
    done < <(list)
    for file in elf/arm/{a64/*,*-a64,flow}.elf; do
        arm qemu-aarch64 "$file" || failed=1
    done
    for file in elf/arm/{t32/*,*-a32,*-mixed,states}.elf; do
        arm qemu-arm "$file" || failed=1
    done
    return $failed
}

# arm QEMU FILE
arm() {
    local status=0 name=${2#elf/}
    "$1" "$2" </dev/null || status=$?
    printf '%-16s exit code %d\n' "${name%.elf}" "$status"
    return $status
}

# One line of the log is one instruction, also if it traps. Those of QEMU's boot code below 0x10000 do
# not count, nor those that QEMU starts over, because they access a device or because it had to stop first.
count() {
    local name file xlen kind rest
    while IFS=, read -r name file xlen kind rest; do
        printf '%-16s ' "$name"
        qemu "$kind" "$xlen" "$file" -singlestep -d exec,nochain -D /dev/stdout </dev/null |
            awk -F/ '/^Trace/ && $2 !~ /^0*.?.?.?.$/ { n++ } /rewound|^Stopped execution/ { n-- } END { print n }'
    done < <(list)
}

case ${1-} in
build) build elf ;;
check) check "$2" ;;
run | count) "$1" ;;
*) usage && [[ ${1-} == help ]] ;;
esac
