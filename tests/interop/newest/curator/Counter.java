import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Counter ADDRESS LOCK FOLDER LETTER: counts under Curator's InterProcessMutex until FOLDER/over is there. */
final class Counter {
  public static void main(String[] arguments) throws Exception {
    Folder folder = new Folder(arguments[2]);
    try (CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], new RetryOneTime(100))) {
      client.start();
      InterProcessMutex mutex = new InterProcessMutex(client, arguments[1]);
      while (!folder.isOver()) {
        mutex.acquire();
        folder.countOne(arguments[3]);
        mutex.release();
      }
    }
  }
}
