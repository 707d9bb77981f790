import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Burns CPU, allocates, waits for a monitor and on one, and parks, each in methods of its own, and prints as JSON
 * what it measured from the inside. Run it under a recorder: JFR or async-profiler.
 */
public class Burn {
    static final int SMALL_BYTES = 1 << 10;
    static final int LARGE_LONGS = 1 << 17;
    static volatile Object sink;

    static long mix(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
        return x;
    }

    static long heavy(long x, int scale) {
        for (int i = 0; i < 150_000 * scale; i++) {
            x = mix(x);
        }
        return x;
    }

    static long medium(long x, int scale) {
        for (int i = 0; i < 75_000 * scale; i++) {
            x = mix(x);
        }
        return x;
    }

    static long light(long x, int scale) {
        for (int i = 0; i < 25_000 * scale; i++) {
            x = mix(x);
        }
        return x;
    }

    /**
     * Burns at 60:30:10 in rounds of varying length, so that they do not fall into step with the sampler, and
     * without a system call between them, which would be where a busy machine switches programs, and so put
     * rounds in step with slices of CPU time.
     */
    static long burn(int rounds) {
        long x = 88172645463325252L;
        long dice = 2463534242L;
        for (int i = 0; i < rounds; i++) {
            dice = mix(dice);
            int scale = 1 + (int) (dice & 7);
            x = heavy(x, scale);
            x = medium(x, scale);
            x = light(x, scale);
        }
        return x;
    }

    /** Many small arrays: these go through thread-local allocation buffers. */
    static void allocateSmall(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[SMALL_BYTES];
        }
    }

    /** Arrays of 1 MiB: these are allocated outside of the buffers. */
    static void allocateLarge(int count) {
        for (int i = 0; i < count; i++) {
            sink = new long[LARGE_LONGS];
        }
    }

    static final Object monitor = new Object();

    static void holdMonitor(CountDownLatch held) {
        synchronized (monitor) {
            held.countDown();
            sleep(20);
        }
    }

    static long enterMonitor() {
        long start = System.nanoTime();
        synchronized (monitor) {
            return System.nanoTime() - start;
        }
    }

    static long contend(int rounds) throws InterruptedException {
        long blocked = 0;
        for (int i = 0; i < rounds; i++) {
            CountDownLatch held = new CountDownLatch(1);
            Thread holder = new Thread(() -> holdMonitor(held), "holder");
            holder.start();
            held.await();
            blocked += enterMonitor();
            holder.join();
        }
        return blocked;
    }

    static long parkHere(int rounds) {
        long parked = 0;
        for (int i = 0; i < rounds; i++) {
            long start = System.nanoTime();
            LockSupport.parkNanos(20_000_000);
            parked += System.nanoTime() - start;
        }
        return parked;
    }

    static long waitHere(int rounds) throws InterruptedException {
        long waited = 0;
        synchronized (monitor) {
            for (int i = 0; i < rounds; i++) {
                long start = System.nanoTime();
                monitor.wait(20);
                waited += System.nanoTime() - start;
            }
        }
        return waited;
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1500;
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();

        long cpuStart = threads.getCurrentThreadCpuTime();
        long checksum = burn(rounds);
        long cpu = threads.getCurrentThreadCpuTime() - cpuStart;

        long before = threads.getThreadAllocatedBytes(self);
        allocateSmall(131_072);
        long small = threads.getThreadAllocatedBytes(self) - before;
        before = threads.getThreadAllocatedBytes(self);
        allocateLarge(64);
        long large = threads.getThreadAllocatedBytes(self) - before;

        long blocked = contend(30);
        long parked = parkHere(30);
        long waited = waitHere(30);

        System.out.printf(
                "{\"cpu_ns\": %d, \"allocated_small_bytes\": %d, \"allocated_large_bytes\": %d,"
                        + " \"blocked_ns\": %d, \"parked_ns\": %d, \"waited_ns\": %d, \"checksum\": %d}%n",
                cpu, small, large, blocked, parked, waited, checksum);
    }
}
