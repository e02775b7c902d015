//! How fast each scheme is, in instructions per second: compressing and decompressing a program of several
//! million instructions. `cargo bench -p hartrace-compressors [-- SCHEME]`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hartrace_compressors::{Code, Scheme, Setup};
use hartrace_decoder::Image;
use hartrace_executed::{Port, Steps};
use hartrace_ingress::Retired;
use hartrace_isa::{Isa, Xlen};
use hartrace_iss::{Environment, Hart, HartConfig, Range, Step};
use std::hint::black_box;

/// Steps to execute.
const STEPS: u64 = 2_000_000;

/// A bundled program, executed.
fn executed() -> (Code, Vec<Retired>, u64) {
    let elf = include_bytes!("../../../tests/programs/elf/long.elf");
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add_elf(elf, 0).expect("a program");
    let memory = vec![Range { base: 0x8000_0000, size: 16 << 20 }];
    let config = HartConfig { memory, environment: Environment::Htif, ..HartConfig::default() };
    let mut hart = Hart::new(config);
    hart.load_elf(elf).expect("a program");
    let (mut steps, mut cycles, mut count) =
        (Steps::new(image.isa()), Port::blocks(1 << 10).cycles(), 0);
    hart.run(STEPS, &mut |step: &Step| {
        count += u64::from(step.retires);
        cycles.push(&steps.row(step));
    });
    cycles.close();
    (Code::new(&image), cycles.rows, count)
}

fn throughput(criterion: &mut Criterion) {
    let (code, rows, count) = executed();
    let setup = Setup { code: &code, sync_every: None, tvec: &[] };
    let schemes = Scheme::defaults();
    for scheme in schemes.iter().filter(|scheme| !scheme.needs_vectors()) {
        let compress = || {
            let mut compressor = scheme.compressor(&setup).expect("a compressor");
            rows.iter().try_for_each(|row| compressor.retire(row)).expect("it can be expressed");
            compressor.finish().expect("it can be expressed")
        };
        let compressed = compress();
        let mut group = criterion.benchmark_group(scheme.to_string());
        group.throughput(Throughput::Elements(count)).sample_size(10);
        group.bench_function("compress", |bencher| bencher.iter(compress));
        group.bench_function("decompress", |bencher| {
            let decompressor = scheme.decompressor(&setup);
            bencher.iter(|| {
                let mut sum = 0_u64;
                let result = decompressor.decompress(&compressed.bits, count, &mut |pc| {
                    sum = sum.wrapping_add(pc);
                });
                result.expect("it comes back");
                black_box(sum)
            });
        });
        group.finish();
    }
}

criterion_group!(benches, throughput);
criterion_main!(benches);
