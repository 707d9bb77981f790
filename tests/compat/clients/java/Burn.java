// Burns CPU and allocates under the Pyroscope agent for Java, then leaves after the last upload.
public class Burn {
  static long sink;
  static byte[] kept;

  static void spin(long milliseconds) {
    long end = System.nanoTime() + milliseconds * 1_000_000;
    while (System.nanoTime() < end) {
      for (int i = 0; i < 100_000; i++) sink = sink * 31 + i;
    }
  }
  static void heavy() { spin(300); }
  static void light() { spin(100); }
  static void allocate() {
    for (int i = 0; i < 200; i++) kept = new byte[64 * 1024];
  }

  public static void main(String[] arguments) throws Exception {
    long end = System.nanoTime() + 8_000_000_000L;
    while (System.nanoTime() < end) {
      heavy();
      light();
      allocate();
    }
    Thread.sleep(3000);  // the agent sends every two seconds
    long cpu = ((com.sun.management.OperatingSystemMXBean)
        java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    System.out.println("{\"cpu_ns\": " + cpu + "}");
  }
}
