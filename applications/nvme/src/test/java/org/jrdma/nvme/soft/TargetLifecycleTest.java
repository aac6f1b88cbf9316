package org.jrdma.nvme.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Registers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The ends and resets of queues and controllers of a target while commands are pending. */
class TargetLifecycleTest extends TargetTestBase {

    private static final Command DISABLE =
            FabricsCommand.propertySet(Registers.CONFIGURATION, 0x460000);

    private final BlockStorage other = Harness.storage();

    @AfterEach
    void closeOther() {
        other.close();
    }

    private static void send(UncheckedHostQueue queue, Command command, int id) throws IOException {
        queue.send(queue.none().encode(command).withId(id), 0);
    }

    /** Waits until the thread of a queue waits for the lock of a namespace. */
    private static void awaitBlocked(int queueId) {
        var name = "jrdma-nvme-queue %d of".formatted(queueId);
        Harness.await(() ->
                Thread.getAllStackTraces().keySet().stream()
                        .anyMatch(thread ->
                                thread.getName().startsWith(name)
                                        && thread.getState() == Thread.State.WAITING));
    }

    @Test
    void shouldNotReportTheSuccessOfACommandThatAResetHasInterrupted() throws Exception {
        var _ = subsystem.addNamespace(other);
        var lock = subsystem.namespaces().getFirst().lock(false);
        try (var admin = admin();
                var queue = io(1)) {
            lock.lock();
            try {
                send(queue, Command.blocks(IoOpcode.FLUSH, Command.ALL_NAMESPACES, 0, 1), 1);
                awaitBlocked(1);
                send(admin, DISABLE, 2);
                awaitBlocked(0); // has closed the I/O queues before
            } finally {
                lock.unlock();
            }
            assertThat(queue.receive()).isEmpty();
        }
    }
}
