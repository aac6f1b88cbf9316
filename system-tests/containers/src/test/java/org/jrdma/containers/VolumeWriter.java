package org.jrdma.containers;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jrdma.volume.Volume;
import org.jrdma.volume.VolumeOptions;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;

/**
 * A program that writes numbered files into a volume, each of which it prints when the file is
 * durable, and a file with the last number. It repeats a write whose session was lost. With a
 * number as an argument, it reads the files up to this number instead, and compares their content.
 */
final class VolumeWriter {

    private static final int FILE_BYTES = 20_000;
    private static final Duration RETRY_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration PAUSE = Duration.ofMillis(20);

    private VolumeWriter() {}

    static void main(String... arguments) throws Exception {
        var servers =
                Arrays.stream(arguments[0].split(",", -1))
                        .map(server -> List.of("sockets:" + server))
                        .toList();
        var name = "client-%d".formatted(ProcessHandle.current().pid());
        var options =
                VolumeOptions.of(name, servers)
                        .node(NodeOptions.of(TransportKind.VERBS, TransportKind.SOCKETS))
                        .retryTimeout(RETRY_TIMEOUT);
        try (var volume = Volume.open(options)) {
            if (arguments.length == 1) {
                write(volume);
            } else {
                compare(volume, Integer.parseInt(arguments[1]));
            }
        }
    }

    private static void write(Volume volume) throws Exception {
        for (var number = 0; ; ) {
            try (var last = FileChannel.open(volume.path("/last"), CREATE, READ, WRITE)) {
                while (true) {
                    Files.write(volume.path("/" + number), content(number));
                    var _ = last.write(ByteBuffer.allocate(Integer.BYTES).putInt(0, number), 0);
                    last.force(true);
                    IO.println("wrote %d.".formatted(number));
                    number++;
                    Thread.sleep(PAUSE);
                }
            } catch (VolumeException e) {
                if (e.failure() != Failure.SESSION_LOST) {
                    throw e;
                }
                IO.println("repeats the write of %d: %s".formatted(number, e.getMessage()));
            }
        }
    }

    private static void compare(Volume volume, int count) throws Exception {
        for (var number = 0; number < count; number++) {
            if (!Arrays.equals(Files.readAllBytes(volume.path("/" + number)), content(number))) {
                throw new AssertionError("The content of file %d is wrong".formatted(number));
            }
        }
        var last = ByteBuffer.wrap(Files.readAllBytes(volume.path("/last"))).getInt();
        IO.println("%d files are correct, the last number is %d.".formatted(count, last));
    }

    private static byte[] content(int number) {
        var content = new byte[FILE_BYTES];
        new Random(number).nextBytes(content);
        return content;
    }
}
