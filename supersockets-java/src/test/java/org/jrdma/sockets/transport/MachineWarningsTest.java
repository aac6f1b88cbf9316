package org.jrdma.sockets.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jrdma.ffi.doctor.MachineFiles;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the warnings on simulated machines, whose files are in a temporary directory. The tests of
 * {@code jrdma doctor} cover the findings of each check.
 */
@Timeout(30)
class MachineWarningsTest {

    private static final String PORT = "sys/class/infiniband/mlx5_0/ports/1/";

    @TempDir private Path root;

    private final Queue<String> log = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void createDevice() throws IOException {
        write("sys/class/infiniband/mlx5_0/node_type", "1: CA");
        write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0");
        write("dev/infiniband/uverbs0", "");
        write("dev/infiniband/rdma_cm", "");
        write(PORT + "state", "4: ACTIVE");
        write(PORT + "link_layer", "InfiniBand");
        write("proc/self/limits", "Max locked memory         unlimited   unlimited  bytes");
    }

    private void write(String path, String content) throws IOException {
        var file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content + "\n");
    }

    private List<String> warnings() throws InterruptedException {
        var check = new MachineWarnings(new MachineFiles(root), log::add);
        for (var i = 0; i < 3; i++) {
            check.start();
        }
        for (var thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("jrdma-sockets-check")) {
                thread.join();
            }
        }
        return List.copyOf(log);
    }

    @Test
    void shouldLogNothingIfThereIsNoProblem() throws Exception {
        assertThat(warnings()).isEmpty();
    }

    @Test
    void shouldLogEachProblemOnce() throws Exception {
        Files.delete(root.resolve("dev/infiniband/uverbs0"));
        Files.delete(root.resolve("dev/infiniband/rdma_cm"));
        write(PORT + "link_layer", "Ethernet"); // RoCE needs a GID, but the port has none.
        write("proc/4711/comm", "ibacm");
        write("sys/class/net/ib0/type", "32");
        write("sys/class/net/ib0/mode", "connected");
        write("proc/self/limits", "Max locked memory         8388608   8388608  bytes");

        assertThat(warnings())
                .hasSize(6)
                .anyMatch(
                        line -> line.startsWith("mlx5_0: /dev/infiniband/uverbs0 is missing, so "))
                .anyMatch(line -> line.contains("To fix it: modprobe rdma_ucm"))
                .anyMatch(line -> line.startsWith("mlx5_0 port 1 addresses: there is no GID"))
                .anyMatch(line -> line.startsWith("ibacm: running, so "))
                .anyMatch(line -> line.startsWith("ib0: IP over InfiniBand in connected mode"))
                .anyMatch(line -> line.startsWith("locked memory: at most 8,388,608 bytes"));
    }

    @Test
    void shouldLogNothingOnAMachineWithoutDevices() throws Exception {
        write("proc/self/limits", "Max locked memory         8388608   8388608  bytes");
        write("proc/4711/comm", "ibacm");
        try (var files = Files.walk(root.resolve("sys/class/infiniband"))) {
            for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }

        assertThat(warnings()).isEmpty();
    }
}
