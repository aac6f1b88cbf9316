package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.jrdma.volume.Volume;
import org.jrdma.volume.model.ClientReport;

/** A client of the demo: writes files with random content, and measures each write. */
final class DemoClient {

    static final int FILE_BYTES = 256 << 10;

    private final String name;
    private final Volume volume;
    private final Random random;

    /** The checksums of the files that were written, by path. */
    private final Map<String, Long> sums = new ConcurrentHashMap<>();

    private ClientReport lastState;
    private final List<Long> writeNanos = new ArrayList<>();

    DemoClient(String name, Volume volume, long seed) {
        this.name = name;
        this.volume = volume;
        this.lastState = volume.state();
        this.random = new Random(seed);
    }

    String name() {
        return name;
    }

    /** Returns the connections of this client; the last ones after it was closed. */
    ClientReport state() {
        if (volume.fileSystem().isOpen()) {
            lastState = volume.state();
        }
        return lastState;
    }

    /** Returns the number of files that this client has written. */
    int files() {
        return sums.size();
    }

    /** Creates a file. Its content is durable when the method returns. */
    void write() throws IOException {
        var content = new byte[FILE_BYTES];
        random.nextBytes(content);
        var path = "/%s-%d".formatted(name, sums.size());
        var started = System.nanoTime();
        Files.write(volume.path(path), content);
        synchronized (writeNanos) {
            writeNanos.add(System.nanoTime() - started);
        }
        sums.put(path, sum(content));
    }

    /** Returns the number of files of another client that this client reads correctly. */
    int countEqual(DemoClient other) throws IOException {
        var equal = 0;
        for (var file : other.sums.entrySet()) {
            var content = Files.readAllBytes(volume.path(file.getKey()));
            equal += sum(content) == file.getValue() ? 1 : 0;
        }
        return equal;
    }

    private static long sum(byte[] content) {
        var sum = new CRC32C();
        sum.update(content);
        return sum.getValue();
    }

    /** Returns the time in milliseconds that half of the writes did not exceed. */
    double medianMillis() {
        synchronized (writeNanos) {
            return writeNanos.stream().sorted().toList().get(writeNanos.size() / 2) / 1e6;
        }
    }

    /** Returns the time of the longest write in milliseconds. */
    double longestMillis() {
        synchronized (writeNanos) {
            return writeNanos.stream().mapToLong(Long::longValue).max().orElse(0) / 1e6;
        }
    }
}
