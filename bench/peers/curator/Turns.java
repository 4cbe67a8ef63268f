import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** bench/turns.hpp, which says what is where. The clock of System.nanoTime() is the one of the other processes. */
final class Turns {
  private static final int OVER_AT = 5;
  private static final int CHANGES_AT = 8;
  private static final int LAST_AT = 12;
  private static final int RELEASED_AT = 16;
  private static final int MICROSECONDS_AT = 24;
  private static final int MOST = 100_000;

  private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer memory;

  Turns(String path) throws IOException {
    try (FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      memory = file.map(FileChannel.MapMode.READ_WRITE, 0, MICROSECONDS_AT + 4L * MOST).order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  boolean over() {
    return memory.get(OVER_AT) != 0;
  }

  void takenBy(int who) {
    long time = System.nanoTime();
    if ((int) INTS.getAndSet(memory, LAST_AT, who) == who) return;
    int index = (int) INTS.getAndAdd(memory, CHANGES_AT, 1);
    if (index < MOST) {
      long released = (long) LONGS.getVolatile(memory, RELEASED_AT);
      memory.putFloat(MICROSECONDS_AT + 4 * index, (time - released) / 1000f);
    }
  }

  void aboutToRelease() {
    LONGS.setVolatile(memory, RELEASED_AT, System.nanoTime());
  }
}
