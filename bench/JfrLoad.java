import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** Allocates, waits and contends from many different stacks, to make a large flight recording in seconds. */
public class JfrLoad {
  private static final Object lock = new Object();
  private static volatile Object sink;

  private static void step(int depth, Random random) {
    if (depth == 0) {
      sink = new byte[random.nextInt(4000)];
      return;
    }
    switch (random.nextInt(3)) {
      case 0 -> left(depth - 1, random);
      case 1 -> right(depth - 1, random);
      default -> step(depth - 1, random);
    }
  }

  private static void left(int depth, Random random) {
    step(depth, random);
  }

  private static void right(int depth, Random random) {
    step(depth, random);
  }

  private static void work(long end, int seed) {
    Random random = new Random(seed);
    while (System.nanoTime() < end) {
      step(10 + random.nextInt(20), random);
      synchronized (lock) {
        sink = new int[1000];
      }
      sink = new long[200_000 >> random.nextInt(10)];
      if (random.nextInt(20) == 0) LockSupport.parkNanos(1000);
    }
  }

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int seed = i;
      threads.add(new Thread(() -> work(end, seed), "worker-" + i));
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
  }
}
