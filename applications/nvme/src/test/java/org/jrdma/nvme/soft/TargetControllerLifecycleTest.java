package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.FabricsCommand.Connect;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.jrdma.verbs.Verbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The ends and resets of queues and controllers of a target while commands are pending. */
class TargetControllerLifecycleTest extends TargetTestBase {

    private static final Command DISABLE =
            FabricsCommand.propertySet(MappedRegisters.CONFIGURATION, 0x460000);
    private static final int BLOCK_BYTES = 512;

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

    @Test
    void shouldNotExecuteTheCommandsOfAHostThatHasDisconnected() throws Exception {
        var _ = subsystem.addNamespace(other);
        var first = subsystem.namespaces().getFirst().lock(false);
        var second = subsystem.namespaces().getLast().lock(false);
        try (var _ = admin();
                var queue = io(1)) {
            queue.data().fill((byte) 7);
            var write = Command.blocks(IoOpcode.WRITE, 1, 3, 1);
            assertThat(queue.status(write, queue.keyed(BLOCK_BYTES))).isEqualTo(Status.SUCCESS);
            second.lock();
            try {
                first.lock();
                try {
                    send(queue, Command.blocks(IoOpcode.WRITE_ZEROES, 1, 0, 1), 1);
                    awaitBlocked(1);
                    send(queue, Command.blocks(IoOpcode.WRITE_ZEROES, 2, 0, 1), 2);
                    send(queue, Command.blocks(IoOpcode.WRITE_ZEROES, 1, 3, 1), 3);
                } finally {
                    first.unlock();
                }
                assertThat(queue.receive().orElseThrow().commandId()).isEqualTo(1);
                awaitBlocked(1); // by the second command
                queue.disconnect();
                Thread.sleep(100); // the target is informed at about the same time as this host
            } finally {
                second.unlock();
            }
            Harness.await(() -> target.connections() == 1);
            assertThat(firstByteOfBlock(3)).isEqualTo((byte) 7);
        }
    }

    private byte firstByteOfBlock(int block) throws IOException {
        try (var queue = io(1)) {
            var read = Command.blocks(IoOpcode.READ, 1, block, 1);
            assertThat(queue.status(read, queue.keyed(BLOCK_BYTES))).isEqualTo(Status.SUCCESS);
            return queue.data().get(JAVA_BYTE, 0);
        }
    }

    @Test
    void shouldDropTheEventRequestsOfAControllerThatIsReset() throws Exception {
        try (var admin = admin()) {
            for (var i = 0; i < 2 * ConnectPrivateData.ADMIN_ENTRIES; i++) {
                send(admin, Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST), 7);
                assertThat(admin.status(DISABLE, admin.none())).isEqualTo(Status.SUCCESS);
                admin.enable();
            }
            assertThat(admin.hasResponse()).isFalse();
        }
    }

    @Test
    void shouldAskHostsToConnectAgainWhileNothingIsExported(Verbs verbs) throws Exception {
        try (var starting =
                        NvmeTarget.listen(
                                verbs,
                                manager,
                                new InetSocketAddress(address.getAddress(), 0),
                                OPTIONS);
                var admin =
                        UncheckedHostQueue.queue(
                                manager, domain, starting.addresses().getFirst(), 0, 0)) {
            var any = ConnectData.ANY_CONTROLLER;
            assertThat(UncheckedHostQueue.fabricsStatus(admin.connect(NAME, 0, any, 0)))
                    .isEqualTo(Status.CONNECT_BUSY);
            starting.export(new Subsystem("serial 3", "jrdma test", NAME));
            assertThat(UncheckedHostQueue.fabricsStatus(admin.connect(NAME, 0, any, 0)))
                    .isEqualTo(Status.SUCCESS);
        }
    }

    @Test
    void shouldReportTheHeadOfAQueueThatIsSmallerThanItsConnection() throws Exception {
        try (var admin = UncheckedHostQueue.queue(manager, domain, address, 0, 0)) {
            var data =
                    new ConnectData(
                            UncheckedHostQueue.HOST,
                            ConnectData.ANY_CONTROLLER,
                            NAME,
                            UncheckedHostQueue.HOST_NAME);
            assertThat(admin.connect(new Connect(0, 0, 3, 0, 0), data).submissionHead())
                    .isEqualTo(1);
            var version = FabricsCommand.propertyGet(MappedRegisters.VERSION, false);
            for (var head : new int[] {2, 0, 1, 2}) {
                assertThat(admin.execute(version, admin.none()).submissionHead()).isEqualTo(head);
            }
        }
    }

    @Test
    void shouldNotCountTheTimeOfACommandAsSilenceOfTheHost() throws Exception {
        var lock = subsystem.namespaces().getFirst().lock(false);
        try (var admin = admin(500)) {
            lock.lock();
            try {
                send(admin, DISABLE, 1);
                awaitBlocked(0);
                Thread.sleep(600); // longer than the keep-alive timeout
            } finally {
                lock.unlock();
            }
            assertThat(admin.receive().orElseThrow().status()).isZero();
            admin.enable();
        }
    }

    @Test
    void shouldSeparateTheRegistrationsOfAnEndedControllerFromItsId() throws Exception {
        try (var admin = admin();
                var queue = io(1)) {
            queue.data().asSlice(0, 16).fill((byte) 0).set(JAVA_BYTE, 8, (byte) 5);
            var register = Command.blocks(IoOpcode.RESERVATION_REGISTER, 1, 0, 1);
            assertThat(queue.status(register, queue.keyed(16))).isEqualTo(Status.SUCCESS);
            assertThat(admin.status(DISABLE, admin.none())).isEqualTo(Status.SUCCESS);
        }
        Harness.await(() -> target.connections() == 0);
        var registrants = subsystem.namespaces().getFirst().reservations().report().registrants();
        assertThat(registrants).singleElement().extracting("controllerId").isEqualTo(0xffff);
    }

    @Test
    void shouldRefuseCommandsThatOvertakeConnectCommands() throws Exception {
        try (var _ = admin();
                var queue = UncheckedHostQueue.queue(manager, domain, address, 1, 1)) {
            var data =
                    new ConnectData(UncheckedHostQueue.HOST, 1, NAME, UncheckedHostQueue.HOST_NAME);
            data.encode(queue.data().asSlice(0, ConnectData.BYTES).fill((byte) 0));
            var connect =
                    queue.keyed(ConnectData.BYTES).encode(new Connect(0, 1, 32, 0, 0).encode());
            var flush = Command.blocks(IoOpcode.FLUSH, 1, 0, 1);
            send(queue, flush, 0);
            queue.send(connect.withId(1), 0);
            queue.send(connect.withId(2), 0);
            send(queue, flush, 3); // may be executed before the data of the commands have been read
            var statuses = new int[4];
            for (var i = 0; i < statuses.length; i++) {
                var response = queue.receive().orElseThrow();
                statuses[response.commandId()] = response.status();
            }
            var error = Status.COMMAND_SEQUENCE_ERROR.encode();
            assertThat(statuses[0]).isEqualTo(error);
            assertThat(new int[] {statuses[1], statuses[2]}).containsExactlyInAnyOrder(0, error);
            assertThat(statuses[3]).isIn(0, error);
            assertThat(queue.status(flush, queue.none())).isEqualTo(Status.SUCCESS);
        }
    }
}
