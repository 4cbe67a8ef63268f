import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** What can be measured; each number is explained in CuratorDriver. */
final class Modes {
  private static final int THREADS = 16;

  private final CuratorFramework client;

  Modes(CuratorFramework client) {
    this.client = client;
  }

  interface Call {
    void run() throws Exception;
  }

  interface Worker {
    long run(int thread) throws Exception;
  }

  private static long endOf(double seconds) {
    return System.nanoTime() + (long) (seconds * 1e9);
  }

  private static double median(double seconds, Call call) throws Exception {
    List<Double> taken = new ArrayList<>();
    for (long end = endOf(seconds); System.nanoTime() - end < 0; ) {
      long began = System.nanoTime();
      call.run();
      taken.add((System.nanoTime() - began) / 1e3);
    }
    Collections.sort(taken);
    return taken.get((taken.size() - 1) / 2);
  }

  /** What the threads count, for each second. */
  private static double inParallel(Worker worker) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    List<Callable<Long>> calls = new ArrayList<>();
    for (int i = 0; i < THREADS; ++i) {
      int thread = i;
      calls.add(() -> worker.run(thread));
    }
    long began = System.nanoTime();
    long sum = 0;
    for (Future<Long> count : threads.invokeAll(calls)) sum += count.get();
    double taken = (System.nanoTime() - began) / 1e9;
    threads.shutdown();
    return sum / taken;
  }

  double pair(double seconds) throws Exception {
    InterProcessMutex mutex = new InterProcessMutex(client, "/peer/pair");
    return median(seconds, () -> {
      mutex.acquire();
      mutex.release();
    });
  }

  /** The node is of the kind that a lock needs, made by ZooKeeper's own client: no retries, no protection. */
  double raw(double seconds) throws Exception {
    ZooKeeper zookeeper = client.getZookeeperClient().getZooKeeper();
    client.createContainers("/peer/raw");
    byte[] data = "0123456789abcdef".getBytes();
    return median(seconds, () -> zookeeper.delete(zookeeper.create("/peer/raw/lock-", data,
        ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL), -1));
  }

  double spread(double seconds) throws Exception {
    long end = endOf(seconds);
    return inParallel(thread -> {
      InterProcessMutex mutex = new InterProcessMutex(client, "/peer/spread-" + thread);
      long pairs = 0;
      for (; System.nanoTime() - end < 0; ++pairs) {
        mutex.acquire();
        mutex.release();
      }
      return pairs;
    });
  }

  double one(double seconds) throws Exception {
    InterProcessMutex mutex = new InterProcessMutex(client, "/peer/one");
    int[] last = {-1}; // guarded by the lock that is measured
    long end = endOf(seconds);
    return inParallel(thread -> {
      long changes = 0;
      while (System.nanoTime() - end < 0) {
        mutex.acquire();
        if (last[0] != thread) ++changes;
        last[0] = thread;
        mutex.release();
      }
      return changes;
    });
  }

  double processes(Turns turns, int me) throws Exception {
    InterProcessMutex mutex = new InterProcessMutex(client, "/peer/processes");
    long grants = 0;
    for (; !turns.over(); ++grants) {
      mutex.acquire();
      turns.takenBy(me);
      turns.aboutToRelease();
      mutex.release();
    }
    return grants;
  }
}
