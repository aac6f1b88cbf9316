package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.Executors;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The queues of the clients of a manager while its controller does not respond. */
@Timeout(60)
class ManagerClientQueuesTest {

    private static final Duration ADMIN_TIMEOUT = Duration.ofSeconds(1);

    private final DriveHarness harness = new DriveHarness();
    private NvmeDrive drive;
    private ManagerClientQueues queues;
    private SocketChannel channel;
    private ManagerClientSession client;

    @BeforeEach
    void open() throws IOException {
        drive = harness.open(NvmeOptions.DEFAULTS.adminTimeout(ADMIN_TIMEOUT));
        var controller = (AdministeredController) drive.controller();
        queues = new ManagerClientQueues(controller);
        channel = SocketChannel.open();
        client = new ManagerClientSession(controller, queues, channel);
    }

    @AfterEach
    void close() throws IOException {
        channel.close();
        drive.close();
        harness.close();
    }

    private QueueMemory memory() throws FabricException {
        var memory = harness.allocate(2 * 4096);
        return new QueueMemory(memory.pageAddress(0), 8, memory.pageAddress(1), 8);
    }

    @Test
    void shouldDeleteAQueueWhoseCreationHasTimedOut() throws Exception {
        var memory = memory();
        harness.stopController();
        assertThatThrownBy(() -> queues.create(client, memory))
                .isInstanceOf(FabricTimeoutException.class);
        assertThat(queues.count()).isEqualTo(1);
        assertThatThrownBy(() -> queues.create(client, memory))
                .isInstanceOfSatisfying(
                        NvmeException.class,
                        e -> assertThat(e.status()).contains(Status.INVALID_FIELD));
        harness.resumeController();
        queues.deleteAll(client);
        assertThat(queues.count()).isZero();
        assertThat(queues.create(client, memory)).isEqualTo(1);
    }

    @Test
    void shouldForgetAQueueThatTheControllerHasRefused() throws Exception {
        var unreachable = 1L << 40;
        var refused = new QueueMemory(unreachable, 8, unreachable + 4096, 8);
        assertThatThrownBy(() -> queues.create(client, refused)).isInstanceOf(NvmeException.class);
        assertThat(queues.count()).isZero();
        assertThat(queues.create(client, memory())).isEqualTo(1);
    }

    @Test
    void shouldDeleteTheOtherQueuesOfAClientIfTheDeletionOfOneTimesOut() throws Exception {
        var _ = queues.create(client, memory());
        var _ = queues.create(client, memory());
        harness.stopController();
        try (var executor = Executors.newSingleThreadExecutor()) {
            var deletion =
                    executor.submit(() -> {
                        queues.deleteAll(client);
                        return true;
                    });
            Thread.sleep(ADMIN_TIMEOUT.toMillis() * 3 / 2); // in the deletion of the second queue
            harness.resumeController();
            assertThatThrownBy(deletion::get).hasCauseInstanceOf(FabricTimeoutException.class);
        }
        assertThat(queues.count()).isEqualTo(1);
    }
}
