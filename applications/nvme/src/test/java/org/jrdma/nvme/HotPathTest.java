package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HotPathTest {

    private static final int DEPTH = 16;
    private static final int COMMANDS = 5_000;

    @Test
    void shouldNotAllocate() throws Exception {
        try (var harness = new DriveHarness();
                var drive = harness.open();
                var queue = drive.newQueue(DEPTH);
                var memory = drive.newMemory(1 << 20)) {
            var namespace = drive.namespaces().getFirst();

            var bytes = AllocatedBytes.ofCompiled(() -> transfer(queue, namespace, memory));

            assertThat(bytes).isLessThan(1_000);
        }
    }

    /** Transfers one page, two pages, and pages by a list. */
    private static void transfer(NvmeQueue queue, NvmeNamespace namespace, DmaMemory memory)
            throws FabricException {
        var submitted = 0;
        for (var completed = 0; completed < COMMANDS; ) {
            while (submitted < COMMANDS && submit(queue, namespace, memory, submitted)) {
                submitted++;
            }
            while (!queue.next()) {
                Thread.onSpinWait();
            }
            if (!queue.succeeded()) {
                throw queue.failure();
            }
            completed++;
        }
    }

    private static boolean submit(
            NvmeQueue queue, NvmeNamespace namespace, DmaMemory memory, int index) {
        return switch (index % 4) {
            case 0 -> queue.read(namespace, index, 8, memory, 0, index);
            case 1 -> queue.write(namespace, index, 16, memory, 8192, index);
            case 2 -> queue.read(namespace, index, 32, memory, 512, index);
            default -> queue.flush(namespace, index);
        };
    }
}
