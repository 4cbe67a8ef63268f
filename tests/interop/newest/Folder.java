import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Where all who contend count; see the script count_one. */
final class Folder {
  private final Path counter;
  private final Path turns;
  private final Path over;

  Folder(String path) {
    counter = Path.of(path, "counter");
    turns = Path.of(path, "turns");
    over = Path.of(path, "over");
  }

  boolean isOver() {
    return Files.exists(over);
  }

  void countOne(String letter) throws IOException, InterruptedException {
    int number = Integer.parseInt(Files.readString(counter));
    Thread.sleep(1);
    Files.write(counter, String.format("%010d", number + 1).getBytes(StandardCharsets.US_ASCII), StandardOpenOption.WRITE);
    Files.writeString(turns, letter, StandardOpenOption.APPEND);
  }
}
