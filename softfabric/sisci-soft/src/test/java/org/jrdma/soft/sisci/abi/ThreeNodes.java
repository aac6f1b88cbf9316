package org.jrdma.soft.sisci.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisciOptions;

/**
 * A fabric of three nodes in this JVM. {@link #close} verifies that no file of the fabric remains.
 */
final class ThreeNodes implements AutoCloseable {

    static final long BYTES = 64 << 10;

    final Path folder;
    final LibraryCaller first;
    final LibraryCaller second;
    final LibraryCaller third;
    final long firstDescriptor;
    final long secondDescriptor;
    final long thirdDescriptor;

    /** Creates the nodes, and injects faults into the second node. */
    ThreeNodes(FaultOptions faults) throws IOException {
        folder = Files.createTempDirectory(Path.of("/dev/shm"), "sisci-test");
        first = LibraryCaller.in(SoftSisciOptions.in(folder));
        second = LibraryCaller.in(SoftSisciOptions.in(folder).faults(faults));
        third = LibraryCaller.in(SoftSisciOptions.in(folder));
        firstDescriptor = first.open();
        secondDescriptor = second.open();
        thirdDescriptor = third.open();
    }

    static void eventually(Callable<Boolean> condition) throws Exception {
        var end = System.nanoTime() + 5_000_000_000L;
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("not within 5 s").isLessThan(end);
            Thread.sleep(Duration.ofNanos(100_000));
        }
    }

    @Override
    public void close() throws IOException {
        for (var process : List.of(first, second, third)) {
            process.close();
        }
        var remaining = new ArrayList<String>();
        try (var files = Files.list(folder)) {
            files.forEach(file -> remaining.add(file.getFileName().toString()));
        }
        assertThat(remaining).isEmpty();
        Files.delete(folder);
    }
}
