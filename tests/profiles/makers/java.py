"""Java: the JDK's Flight Recorder, and async-profiler with its own converter to pprof and collapsed."""

import platform
import zipfile
from pathlib import Path

from .common import PROGRAMS, Maker, Skip, about, burn_truth, fetch, need, run, run_json

SOURCE = PROGRAMS / "java"
ASYNC_VERSION = "4.2"
# Without DebugNonSafepoints samples land on the nearest safepoint, often in the wrong method.
JAVA_FLAGS = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", "-Xmx256m"]
CONVERTED = {
    "java-async.pb.gz": ["--cpu", "-o", "pprof"],
    "java-async-cpu.collapsed": ["--cpu", "-o", "collapsed"],
    "java-async-wall.collapsed": ["--wall", "-o", "collapsed"],
    "java-async-alloc.collapsed": ["--alloc", "--total", "-o", "collapsed"],
    "java-async-lock.collapsed": ["--lock", "--total", "-o", "collapsed"],
}


def classes(shop):
    folder = shop.tools / "java"
    run([need("javac", "openjdk-17-jdk-headless"), "-g", "-d", folder, SOURCE / "Burn.java"])
    return folder


def measured_truth(result, tool, period_ns):
    # No total: the recording also has the CPU time of the JVM's start, its compilers and collectors.
    truth = burn_truth(tool, "Burn.", result["cpu_ns"], period_ns)
    truth["measured"] = result
    return truth


def make_jdk(shop, work):
    java = need("java", "openjdk-17-jdk-headless")
    out = work / "java-jdk.jfr"
    result = run_json([java, f"-XX:StartFlightRecording:filename={out},settings={SOURCE / 'burn.jfc'}",
                       *JAVA_FLAGS, "-cp", classes(shop), "Burn"])
    truth = measured_truth(result, "JDK Flight Recorder", 10_000_000)
    small, large = result["allocated_small_bytes"], result["allocated_large_bytes"]
    # A buffer is charged in full to the object which opened it, hence the tolerance.
    truth["types"]["alloc_in_new_tlab_bytes"] = {"unit": "bytes", "cum": {
        "^Burn.allocateSmall\\b": about(small, 0.1)}}
    truth["types"]["alloc_outside_tlab_bytes"] = {"unit": "bytes", "cum": {
        "^Burn.allocateLarge\\b": about(large, 0.02)}}
    truth["types"]["alloc_sample_bytes"] = {"unit": "bytes", "cum": {
        "^Burn.allocateSmall\\b": about(small, 0.15), "^Burn.allocateLarge\\b": about(large, 0.15)}}
    truth["types"]["mutex:delay"] = {"unit": "nanoseconds", "cum": {
        "^Burn.enterMonitor\\b": about(result["blocked_ns"], 0.05)}}
    truth["types"]["block:delay"] = {"unit": "nanoseconds", "cum": {
        "^Burn.parkHere\\b": about(result["parked_ns"], 0.05)}}
    truth["types"]["monitor_wait:delay"] = {"unit": "nanoseconds", "cum": {
        "^Burn.waitHere\\b": about(result["waited_ns"], 0.05)}}
    return {"java-jdk.jfr": truth}


def maven_jar(shop, artifact):
    mvn = need("mvn", "maven")
    folder = shop.tools / "maven"
    jar = folder / f"{artifact}-{ASYNC_VERSION}.jar"
    if not jar.exists():
        fetch([mvn, "-q", "-B", "dependency:copy", f"-DoutputDirectory={folder}",
               f"-Dartifact=tools.profiler:{artifact}:{ASYNC_VERSION}"], artifact)
    return jar


def async_agent(shop):
    platform_name = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}.get(platform.machine())
    if not platform_name:
        raise Skip(f"async-profiler is not published for {platform.machine()}")
    with zipfile.ZipFile(maven_jar(shop, "async-profiler")) as jar:
        return jar.extract(f"{platform_name}/libasyncProfiler.so", shop.tools / "async-profiler")


def make_async(shop, work):
    java = need("java", "openjdk-17-jdk-headless")
    agent = async_agent(shop)
    converter = maven_jar(shop, "jfr-converter")

    out = work / "java-async.jfr"
    # cpu takes perf_events where they work and a CPU timer where they do not.
    options = f"start,event=cpu,interval=5ms,wall=20ms,alloc=256k,lock=1us,jfr,file={out}"
    result = run_json([java, f"-agentpath:{agent}={options}", *JAVA_FLAGS, "-cp", classes(shop),
                       "Burn"])
    for name, arguments in CONVERTED.items():
        run([java, "-jar", converter, *arguments, out, work / name])

    truth = measured_truth(result, f"async-profiler {ASYNC_VERSION}", 5_000_000)
    # Sampled by the JVM's own hook, and scaled up to whole intervals.
    truth["types"]["alloc_in_new_tlab_bytes"] = {"unit": "bytes", "cum": {
        "^Burn.allocateSmall\\b": about(result["allocated_small_bytes"], 0.2),
        "^Burn.allocateLarge\\b": about(result["allocated_large_bytes"], 0.2),
    }}
    truth["types"]["mutex:delay"] = {"unit": "nanoseconds", "cum": {
        "^Burn.enterMonitor\\b": about(result["blocked_ns"], 0.05)}}
    return {"java-async.jfr": truth}


def make_async_otlp(shop, work):
    """async-profiler 4.2 writes the layout of opentelemetry-proto 1.7."""
    java = need("java", "openjdk-17-jdk-headless")
    out = work / "java-async.otlp"
    options = f"start,event=cpu,interval=5ms,otlp,file={out}"
    result = run_json([java, f"-agentpath:{async_agent(shop)}={options}", *JAVA_FLAGS, "-cp", classes(shop), "Burn"])
    return {"java-async.otlp": burn_truth(f"async-profiler {ASYNC_VERSION}", "Burn.", result["cpu_ns"], 5_000_000,
                                          unit="ns")}


def _maker(names, make):
    return Maker(names, make, [SOURCE, Path(__file__)])


MAKERS = [
    _maker(["java-jdk.jfr"], make_jdk),
    _maker(["java-async.jfr", *CONVERTED], make_async),
    _maker(["java-async.otlp"], make_async_otlp),
]
