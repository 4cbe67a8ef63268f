import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.etcd.jetcd.support.Observers;
import java.nio.charset.StandardCharsets;

/** Counter ADDRESS LOCK FOLDER LETTER: counts under jetcd's lock until FOLDER/over is there. */
final class Counter {
  public static void main(String[] arguments) throws Exception {
    Folder folder = new Folder(arguments[2]);
    ByteSequence lock = ByteSequence.from(arguments[1], StandardCharsets.UTF_8);
    try (Client client = Client.builder().endpoints("http://" + arguments[0]).build()) {
      long lease = client.getLeaseClient().grant(20).get().getID();
      try (CloseableClient renewal =
          client.getLeaseClient().keepAlive(lease, Observers.<LeaseKeepAliveResponse>observer(response -> {}))) {
        while (!folder.isOver()) {
          ByteSequence key = client.getLockClient().lock(lock, lease).get().getKey();
          folder.countOne(arguments[3]);
          client.getLockClient().unlock(key).get();
        }
      }
      client.getLeaseClient().revoke(lease).get();
    }
  }
}
