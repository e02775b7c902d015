//! Speed of each scheme in instructions per second, when compressing and decompressing a program of two
//! million instructions. `cargo bench -p hartrace-compressors [-- SCHEME]`.
//!
//! All times are CPU times of threads, so that other load on the machine does not change the figures. The
//! last lines, `rate SCHEME/DIRECTION/THREADS VALUE`, report million instructions per second: the best of
//! one thread, and the sum of two that run at once, each with its own trace.

use criterion::{BenchmarkId, Criterion, Throughput};
use hartrace_compressors::{Code, Compressed, Scheme, SchemeSetup};
use hartrace_decoder::Image;
use hartrace_etrace::ingress::Retired;
use hartrace_executions::executed::{Port, Steps};
use hartrace_isa::{Isa, Xlen};
use hartrace_iss::{Environment, Hart, HartConfig, Range, Step};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::thread;
use std::time::Duration;

/// Number of steps to execute.
const STEPS: u64 = 2_000_000;

/// A bundled program, executed.
struct Run {
    code: Code,
    rows: Vec<Retired>,
    instructions: u64,
}

fn executed() -> Run {
    let elf = include_bytes!("../../tests/programs/elf/long.elf");
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add_elf(elf, 0).expect("a program");
    let memory = vec![Range { base: 0x8000_0000, size: 16 << 20 }];
    let config = HartConfig { memory, environment: Environment::Htif, ..HartConfig::default() };
    let mut hart = Hart::new(config);
    hart.load_elf(elf).expect("a program");
    let (mut steps, mut cycles, mut instructions) =
        (Steps::new(image.isa()), Port::blocks(1 << 10).cycles(), 0);
    hart.run(STEPS, &mut |step: &Step| {
        instructions += u64::from(step.retires);
        cycles.push(&steps.row(step));
    });
    cycles.close();
    Run { code: Code::new(&image), rows: cycles.rows, instructions }
}

impl Run {
    fn setup(&self) -> SchemeSetup<'_> {
        SchemeSetup { code: &self.code, sync_every: None, tvec: &[] }
    }

    fn compress(&self, scheme: &Scheme) -> Compressed {
        let mut compressor = scheme.compressor(&self.setup()).expect("a compressor");
        self.rows.iter().try_for_each(|row| compressor.retire(row)).expect("it can be expressed");
        compressor.finish().expect("it can be expressed")
    }

    fn decompress(&self, scheme: &Scheme, compressed: &Compressed) -> u64 {
        let mut sum = 0_u64;
        let mut take = |pc| sum = sum.wrapping_add(pc);
        let decompressor = scheme.decompressor(&self.setup());
        let result = decompressor.decompress(&compressed.bits, self.instructions, &mut take);
        result.expect("it comes back");
        sum
    }
}

/// CPU time that this thread has used.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// CPU time of this many passes.
fn timed<T>(passes: u64, pass: impl Fn() -> T) -> Duration {
    let start = cpu_time();
    for _ in 0..passes {
        black_box(pass());
    }
    cpu_time() - start
}

/// Measures with this many threads at once, and returns their best total in million instructions per second.
fn measure<T>(
    criterion: &mut Criterion,
    (scheme, direction, threads): (&Scheme, &str, u32),
    instructions: u64,
    pass: impl Fn() -> T + Sync,
) -> f64 {
    let mut best = 0.0_f64;
    let mut group = criterion.benchmark_group(scheme.to_string());
    group.throughput(Throughput::Elements(instructions));
    group.bench_function(BenchmarkId::new(direction, threads), |bencher| {
        bencher.iter_custom(|passes| {
            let times = thread::scope(|scope| {
                let work = || timed(passes, &pass);
                let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
                let mut times = vec![work()];
                times.extend(others.into_iter().map(|other| other.join().expect("it ends")));
                times
            });
            let rate = |time: &Duration| (instructions * passes) as f64 / time.as_secs_f64() / 1e6;
            let all: f64 = times.iter().map(rate).sum();
            best = best.max(all);
            // The time in which one thread would have done as much alone.
            Duration::from_secs_f64((instructions * passes) as f64 / all / 1e6)
        });
    });
    group.finish();
    best
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
        .configure_from_args();
    let run = executed();
    let mut rates = Vec::new();
    for scheme in Scheme::defaults().iter().filter(|scheme| !scheme.needs_vectors()) {
        let compressed = run.compress(scheme);
        for threads in [1, 2] {
            let mut rate = |direction, pass: &(dyn Fn() -> u64 + Sync)| {
                let rate =
                    measure(&mut criterion, (scheme, direction, threads), run.instructions, pass);
                rates.push((format!("{scheme}/{direction}/{threads}"), rate));
            };
            rate("compress", &|| run.compress(scheme).payload_bits);
            rate("decompress", &|| run.decompress(scheme, &compressed));
        }
    }
    criterion.final_summary();
    // Schemes that were not requested have no rate.
    for (name, rate) in rates.iter().filter(|(_, rate)| *rate > 0.0) {
        println!("rate {name} {rate:.1}");
    }
}
