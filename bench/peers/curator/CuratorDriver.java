import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.Locale;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;

/**
 * Curator's InterProcessMutex, as a user would write it, for bench/driver.hpp.
 *
 * <pre>
 *   CuratorDriver ADDRESS            answers each line of its input, MODE ARGUMENT..., with a number
 *   CuratorDriver ADDRESS MODE ...   answers once, in JSON
 *
 *   MODE          the number
 *   pair S        one thread: acquire and release, the median in microseconds, measured for S seconds
 *   raw S         the same for the creation and the deletion of a node
 *   spread S      16 threads, each with a lock of its own: pairs for each second
 *   one S         16 threads, one lock: how often another thread than before had it, for each second
 *   processes FILE ME
 *                 this process is one of many with one lock: until FILE says that it is over (Turns); how often it had it
 * </pre>
 */
public final class CuratorDriver {
  private static double answer(Modes modes, String[] words) throws Exception {
    switch (words[0]) {
      case "pair": return modes.pair(Double.parseDouble(words[1]));
      case "raw": return modes.raw(Double.parseDouble(words[1]));
      case "spread": return modes.spread(Double.parseDouble(words[1]));
      case "one": return modes.one(Double.parseDouble(words[1]));
      case "processes": return modes.processes(new Turns(words[1]), Integer.parseInt(words[2]));
      default: throw new IllegalArgumentException("there is no mode " + words[0]);
    }
  }

  private static String unit(String mode) {
    switch (mode) {
      case "pair":
      case "raw": return "us";
      case "processes": return "grants";
      default: return "/s";
    }
  }

  public static void main(String[] arguments) throws Exception {
    try (CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], 60_000, 60_000, new RetryOneTime(100))) {
      client.start();
      if (!client.blockUntilConnected(60, java.util.concurrent.TimeUnit.SECONDS)) {
        throw new IllegalStateException("no connection to " + arguments[0]);
      }
      Modes modes = new Modes(client);
      if (arguments.length > 1) {
        double value = answer(modes, Arrays.copyOfRange(arguments, 1, arguments.length));
        System.out.printf(Locale.ROOT, "{\"mode\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}%n", arguments[1], value,
            unit(arguments[1]));
        return;
      }
      System.out.println("ready");
      BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        System.out.println(answer(modes, line.split(" ")));
      }
    }
  }
}
