import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Curator's InterProcessMutex, as zookeeper_test.cpp wants it: PORT COMMAND PATH ARGUMENT... */
public class CuratorClient {
  static final long PATIENCE = 60;

  static boolean enough(Path turns, int wanted) throws Exception {
    String text = Files.readString(turns);
    return text.chars().filter(c -> c == 'o').count() >= wanted && text.chars().filter(c -> c == 'c').count() >= wanted;
  }

  /** Adds 1 to an unprotected number, slowly, and notes that it was us. */
  static void countOne(String directory) throws Exception {
    Path counter = Paths.get(directory, "counter");
    int number = Integer.parseInt(Files.readString(counter).trim());
    Thread.sleep(1);
    // In place and of one width: never half a number.
    Files.writeString(counter, String.format("%010d", number + 1), StandardOpenOption.WRITE);
    Files.writeString(Paths.get(directory, "turns"), "o", StandardOpenOption.APPEND);
  }

  public static void main(String[] arguments) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient("127.0.0.1:" + arguments[0], 10000, 10000, new RetryOneTime(100));
    client.start();
    InterProcessMutex mutex = new InterProcessMutex(client, arguments[2]);
    if (arguments[1].equals("try_lock")) {
      System.out.println(mutex.acquire(200, TimeUnit.MILLISECONDS) ? "granted" : "busy");
    } else if (arguments[1].equals("count")) {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE);
      while (!enough(Paths.get(arguments[3], "turns"), Integer.parseInt(arguments[4])) && System.nanoTime() < end) {
        mutex.acquire();
        try {
          countOne(arguments[3]);
        } finally {
          mutex.release();
        }
      }
    }
    client.close();
  }
}
