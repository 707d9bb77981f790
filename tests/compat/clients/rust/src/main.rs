// Burns CPU under the Pyroscope SDK for Rust, then stops it and leaves. Prints the CPU time it used.
use pyroscope::backend::{pprof_backend, BackendConfig, PprofConfig};
use pyroscope::pyroscope::PyroscopeAgentBuilder;
use std::hint::black_box;
use std::time::{Duration, Instant};

#[inline(never)]
fn spin(time: Duration) -> u64 {
    let end = Instant::now() + time;
    let mut sum = 0u64;
    while Instant::now() < end {
        for number in 0..100_000u64 {
            sum = black_box(sum.wrapping_mul(31).wrapping_add(number));
        }
    }
    sum
}

#[inline(never)]
fn heavy() -> u64 {
    black_box(spin(Duration::from_millis(300)))
}

#[inline(never)]
fn light() -> u64 {
    black_box(spin(Duration::from_millis(100)))
}

fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    ticks * 10_000_000
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = std::env::args().nth(1).expect("the address of a server");
    let agent = PyroscopeAgentBuilder::new(
        server,
        "compat.rust",
        100,
        "pyroscope-rs",
        "2.1.5",
        pprof_backend(PprofConfig::default(), BackendConfig::default()),
    )
    .tags(vec![("region", "up")])
    .upload_interval(Duration::from_secs(2))
    .build()?;
    let running = agent.start()?;
    let start = Instant::now();
    let mut sum = 0;
    while start.elapsed() < Duration::from_secs(5) {
        sum = heavy() ^ light();
    }
    let ready = running.stop()?;
    ready.shutdown();
    println!("{{\"cpu_ns\": {}, \"sum\": {}}}", cpu_ns(), sum % 10);
    Ok(())
}
