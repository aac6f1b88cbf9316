package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/** A software fabric of the test and its processes, in a directory in memory. */
record TemporarySisciFabric(Path folder) {

    static TemporarySisciFabric create() throws IOException {
        return new TemporarySisciFabric(
                Files.createTempDirectory(Path.of("/dev/shm"), "nvme-fabric"));
    }

    /** Returns a library that acts as a process with a node of its own. */
    SoftSisci library() {
        return new SoftSisci(SoftSisciOptions.in(folder));
    }

    static void eventually(String condition, Duration timeout, Callable<Boolean> isTrue)
            throws Exception {
        var end = System.nanoTime() + timeout.toNanos();
        while (!isTrue.call()) {
            assertThat(System.nanoTime()).as("%s within %s", condition, timeout).isLessThan(end);
            Thread.sleep(1);
        }
    }

    /** Deletes the directory, and the files that killed processes have left. */
    void delete() throws IOException {
        try (var files = Files.list(folder)) {
            for (var file : files.toList()) {
                Files.deleteIfExists(file);
            }
        }
        Files.delete(folder);
    }

    /** Waits until all processes have left, and deletes the directory. */
    void close() throws Exception {
        eventually(
                "an empty directory",
                Duration.ofSeconds(10),
                () -> {
                    try (var files = Files.list(folder)) {
                        return files.findAny().isEmpty();
                    }
                });
        Files.delete(folder);
    }
}
