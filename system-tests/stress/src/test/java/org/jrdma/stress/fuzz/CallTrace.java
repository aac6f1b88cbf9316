package org.jrdma.stress.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Records the last calls of one thread in a memory-mapped file, which survives a crash of the JVM.
 */
final class CallTrace {

    private static final int ENTRIES = 32;
    private static final int BYTES = 256;

    private final ByteBuffer buffer;
    private int next;

    CallTrace(Path file) throws IOException {
        try (var channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            buffer = channel.map(FileChannel.MapMode.READ_WRITE, 0, ENTRIES * BYTES);
        }
    }

    void record(Executable call, @Nullable Object receiver, @Nullable Object[] arguments) {
        var line = new StringBuilder(ApiSurface.name(call)).append('(');
        for (var argument : arguments) {
            var text =
                    argument instanceof Number || argument instanceof Boolean || argument == null
                            ? String.valueOf(argument)
                            : argument.getClass().getSimpleName();
            line.append(text).append(", ");
        }
        line.append(") on ").append(System.identityHashCode(receiver));
        var bytes = Arrays.copyOf(line.toString().getBytes(UTF_8), BYTES - 1);
        buffer.put((next++ % ENTRIES) * BYTES, bytes);
    }

    /**
     * Returns the lines of a file. The file is a ring buffer, so the oldest line may be anywhere.
     */
    static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), UTF_8).replaceAll("\0+", "\n    ");
    }
}
