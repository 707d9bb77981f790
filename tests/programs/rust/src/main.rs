//! Burns CPU in three functions at 60:30:10 under the pprof crate and writes the profile.
//! Usage: burn OUT.pb [ROUNDS]; prints what it did as JSON.

use pprof::protos::Message;
use std::time::Instant;

#[inline(always)]
fn mix(x: u64) -> u64 {
    let x = x ^ (x << 13);
    let x = x ^ (x >> 7);
    x ^ (x << 17)
}

#[inline(always)]
fn spin(mut x: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        x = mix(x);
    }
    x
}

// Each burner gets its own copy of the loop, so that inlined frames sit below three different callers.
#[inline(never)]
fn heavy(x: u64, scale: u64) -> u64 {
    spin(x, 150_000 * scale)
}

#[inline(never)]
fn medium(x: u64, scale: u64) -> u64 {
    spin(x, 75_000 * scale)
}

#[inline(never)]
fn light(x: u64, scale: u64) -> u64 {
    spin(x, 25_000 * scale)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let out = args.next().expect("usage: burn OUT [ROUNDS]");
    let rounds: u32 = args.next().map_or(1300, |s| s.parse().expect("ROUNDS is a number"));

    let guard = pprof::ProfilerGuardBuilder::default()
        .frequency(199)
        .build()
        .expect("start the profiler");
    let start = Instant::now();
    let mut x = 88172645463325252;
    // Rounds of varying length do not fall into step with the sampling interval.
    let mut dice = 2463534242;
    for _ in 0..rounds {
        dice = mix(dice);
        let scale = 1 + dice % 8;
        x = light(medium(heavy(x, scale), scale), scale);
    }
    let elapsed = start.elapsed().as_nanos();

    let report = guard.report().build().expect("build the report");
    let mut body = Vec::new();
    report.pprof().expect("encode").encode(&mut body).expect("encode");
    std::fs::write(&out, body).expect("write the profile");
    println!("{{\"elapsed_ns\": {}, \"checksum\": {}}}", elapsed, x);
}
