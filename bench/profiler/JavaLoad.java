// Maps and strings, until killed.
import java.util.HashMap;

public class JavaLoad {
  static int round(int size) {
    HashMap<String, Integer> counts = new HashMap<>();
    for (int i = 0; i < size; i++) counts.merge(Integer.toString(i % 997), 1, Integer::sum);
    return counts.size();
  }

  public static void main(String[] arguments) {
    long sum = 0;
    while (true) sum += round(100_000);
  }
}
