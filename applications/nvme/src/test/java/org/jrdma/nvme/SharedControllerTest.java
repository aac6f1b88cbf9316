package org.jrdma.nvme;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.SmartIo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a manager, and clients that act as other processes of a software fabric. */
@Timeout(60)
class SharedControllerTest {

    private static final InetSocketAddress LOOPBACK =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private TemporarySisciFabric fabric;
    private LendingNode lender;
    private Borrowed owner;
    private Borrowed borrowed;
    private NvmeDrive drive;
    private SharedControllerManager manager;

    /** A node that has borrowed the controller. */
    private record Borrowed(Node node, BorrowedController access) {

        void close() {
            access.close();
            node.close();
        }
    }

    @BeforeEach
    void start() throws Exception {
        fabric = TemporarySisciFabric.create();
        lender = new LendingNode(fabric);
        owner = borrow();
        borrowed = borrow();
        drive = Nvme.open(owner.access(), NvmeOptions.DEFAULTS.queues(3));
        manager = SharedControllerManager.start(drive, LOOPBACK);
    }

    private Borrowed borrow() throws FabricException {
        var node = Sisci.from(fabric.library()).open();
        var device = SmartIo.of(node).borrow(lender.deviceId(), BorrowMode.SHARED);
        return new Borrowed(node, BorrowedController.of(node, device));
    }

    @AfterEach
    void close() throws Exception {
        drive.close();
        borrowed.close();
        owner.close();
        lender.close();
        fabric.close();
    }

    private NvmeDrive join() throws FabricException {
        return Nvme.join(borrowed.access(), manager.address(), NvmeOptions.DEFAULTS);
    }

    private ManagerConnection connect() throws FabricException {
        return ManagerConnection.open(manager.address(), Deadline.after(ofSeconds(10)));
    }

    private static ManagerReply execute(ManagerConnection connection, ManagerRequest request)
            throws FabricException {
        return connection.execute(request, Deadline.after(ofSeconds(10)));
    }

    @Test
    void shouldDescribeTheDriveToAClient() throws Exception {
        try (var client = join()) {
            assertThat(client.identity()).isEqualTo(drive.identity());
            assertThat(client.namespaces()).isEqualTo(drive.namespaces());
            assertThat(client.smartLog().temperatureKelvin()).isEqualTo(300);
            assertThat(manager.clients()).isEqualTo(1);
        }
        assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
    }

    @Test
    void shouldTransferDataOfTheManagerAndTheClientAtTheSameTime() throws Exception {
        try (var client = join();
                var threads = Executors.newFixedThreadPool(2)) {
            var own = threads.submit(() -> transfer(drive, 0));
            var other = threads.submit(() -> transfer(client, 1000));
            own.get();
            other.get();
            assertThat(manager.queues()).isEqualTo(1);
        }
        assertThat(manager.queues()).isZero();
        assertThat(lender.device().refusedAccesses()).isZero();
    }

    private static Void transfer(NvmeDrive drive, int firstPage) throws FabricException {
        new VerifiedTransfers(drive, 8, firstPage, 1000, firstPage).run(2000);
        return null;
    }

    @Test
    void shouldCreateAndDeleteQueuesOfAClient() throws Exception {
        try (var client = join()) {
            for (var round = 0; round < 3; round++) {
                var first = client.newQueue(1022);
                var second = client.newQueue(1);
                assertThat(manager.queues()).isEqualTo(2);
                second.close();
                assertThat(manager.queues()).isEqualTo(1);
                first.close();
                assertThat(manager.queues()).isZero();
            }
            client.newQueue(1);
        }
        assertThat(manager.queues()).as("after the close of the drive").isZero();
    }

    @Test
    void shouldReportThatAllQueuesAreInUse() throws Exception {
        try (var client = join();
                var _ = client.newQueue(1);
                var _ = client.newQueue(1);
                var _ = drive.newQueue(1)) {
            assertThatThrownBy(() -> client.newQueue(1))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("all 3 queues of the NVMe controller in device");
            assertThat(manager.queues()).isEqualTo(2);
        }
    }

    @Test
    void shouldDeleteTheQueuesOfAClientWhoseConnectionEnds() throws Exception {
        var connection = connect();
        var memory = borrowed.access().allocate(2 * 4096);
        var request =
                new ManagerRequest.CreateQueue(
                        new QueueMemory(memory.pageAddress(0), 8, memory.pageAddress(1), 8));
        var id = execute(connection, request).value();
        assertThat(id).isEqualTo(1);
        assertThat(manager.queues()).isEqualTo(1);

        connection.close();

        TemporarySisciFabric.eventually("no queue", ofSeconds(10), () -> manager.queues() == 0);
        try (var client = join();
                var queue = client.newQueue(1)) {
            assertThat(queue).asString().startsWith("I/O queue 1 of");
        }
    }

    @Test
    void shouldRefuseQueuesInMemoryOfOthers() throws Exception {
        var connection = connect();
        var memory = borrowed.access().allocate(4 * 4096);
        var first = memory.pageAddress(0);
        var admin = owner.access().registers().readLong(MappedRegisters.ADMIN_SUBMISSION_QUEUE);
        execute(
                connection,
                new ManagerRequest.CreateQueue(new QueueMemory(first, 8, first + 4096, 8)));
        var other = connect();
        for (var refused :
                List.of(
                        new QueueMemory(first, 8, first + 8192, 8),
                        new QueueMemory(first + 8192, 8, first + 4096, 8),
                        new QueueMemory(admin, 8, first + 8192, 8),
                        new QueueMemory(first + 8192, 8, admin + 4096, 8),
                        new QueueMemory(first + 8192, 1025, first + 12288, 8),
                        new QueueMemory(0, 8, first + 8192, 8))) {
            assertThatExceptionOfType(NvmeException.class)
                    .as("%s", refused)
                    .isThrownBy(() -> execute(other, new ManagerRequest.CreateQueue(refused)))
                    .withMessageContaining("refused to create a queue")
                    .extracting(failure -> failure.status().orElseThrow())
                    .isEqualTo(Status.INVALID_FIELD);
        }
        assertThat(manager.queues()).isEqualTo(1);
        connection.close();
        other.close();
    }

    @Test
    void shouldRefuseToDeleteQueuesOfOthers() throws Exception {
        var own = drive.newQueue(1);
        try (var client = join();
                var queue = client.newQueue(4)) {
            var connection = connect();
            for (var id : new int[] {0, 1, 2, 3, -1, 65_536 + 2}) {
                assertThatExceptionOfType(NvmeException.class)
                        .isThrownBy(() -> execute(connection, new ManagerRequest.DeleteQueue(id)))
                        .extracting(failure -> failure.status().orElseThrow())
                        .isEqualTo(Status.INVALID_QUEUE_ID);
            }
            execute(connection, new ManagerRequest.DeleteAllQueues());
            connection.close();
            assertThat(queue.flush(client.namespaces().getFirst(), 0)).isTrue();
            queue.await(ofSeconds(10));
            assertThat(queue.succeeded()).isTrue();
        }
        own.close();
    }

    @Test
    void shouldPassTheStatusOfAFailedCommandToTheClient() throws Exception {
        var connection = connect();
        assertThatExceptionOfType(NvmeException.class)
                .isThrownBy(() ->
                        execute(
                                connection,
                                new ManagerRequest.ReadPage(AdminPageKind.NAMESPACE, 77)))
                .withMessageContaining("identification of namespace 77 failed")
                .extracting(failure -> failure.status().orElseThrow())
                .isEqualTo(Status.INVALID_NAMESPACE);
        connection.close();
    }

    @Test
    void shouldDisconnectAClientWithAMalformedRequestAndServeOthers() throws Exception {
        try (var client = join();
                var silent = SocketChannel.open(manager.address());
                var malformed = SocketChannel.open(manager.address())) {
            malformed.write(ByteBuffer.allocate(ManagerRequest.BYTES));
            assertThat(malformed.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            silent.write(ByteBuffer.allocate(5)); // a part of a request
            assertThat(client.smartLog().temperatureKelvin()).isEqualTo(300);
            TemporarySisciFabric.eventually(
                    "two clients", ofSeconds(10), () -> manager.clients() == 2);
        }
        TemporarySisciFabric.eventually("no client", ofSeconds(10), () -> manager.clients() == 0);
    }

    @Test
    void shouldDeleteTheQueuesOfClientsWhenTheManagerIsClosed() throws Exception {
        var client = join();
        client.newQueue(4);
        manager.close();
        manager.close();
        assertThat(manager.queues()).isZero();
        assertThatThrownBy(client::smartLog)
                .isInstanceOf(FabricException.class)
                .hasMessageContaining("Close the drive and join a manager again.");
        assertThatThrownBy(this::join)
                .isInstanceOf(FabricException.class)
                .hasMessageContaining("Cannot connect to the NVMe manager at");
        client.close();
        try (var queue = drive.newQueue(3)) {
            assertThat(queue.depth()).isEqualTo(3);
        }
    }

    @Test
    void shouldReportThatTheOwnerHasStoppedTheController() throws Exception {
        var client = join();
        var queue = client.newQueue(4);
        drive.close();
        assertThat(queue.flush(client.namespaces().getFirst(), 0)).isTrue();
        assertThatThrownBy(() -> queue.await(ofSeconds(10)))
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("was stopped by another program");
        client.close();
    }

    @Test
    void shouldContinueTransfersWhenTheManagerIsKilled() throws Exception {
        var socket = SmartIoProcess.socket(fabric);
        try (var process = SmartIoProcess.start(fabric, lender.deviceId(), null, 0, 1000)) {
            var client =
                    Nvme.join(
                            borrowed.access(),
                            UnixDomainSocketAddress.of(socket),
                            NvmeOptions.DEFAULTS);
            var rounds = new AtomicInteger();
            var isStopped = new AtomicBoolean();
            try (var thread = Executors.newSingleThreadExecutor()) {
                var result = thread.submit(() -> transfer(client, rounds, isStopped));
                try {
                    TemporarySisciFabric.eventually(
                            "transfers", ofSeconds(5), () -> rounds.get() > 10);
                    process.kill();
                    TemporarySisciFabric.eventually(
                            "end of the borrow",
                            ofSeconds(5),
                            () -> lender.device().borrowers() == 2);
                    var before = rounds.get();
                    TemporarySisciFabric.eventually(
                            "further transfers", ofSeconds(5), () -> rounds.get() > before + 10);
                } finally {
                    isStopped.set(true);
                }
                assertThat(result.get()).isPositive();
            }
            assertThatThrownBy(() -> client.newQueue(1))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("Close the drive and join a manager again.");
            client.close();
        } finally {
            Files.deleteIfExists(socket);
        }
    }

    private static int transfer(NvmeDrive client, AtomicInteger rounds, AtomicBoolean isStopped)
            throws FabricException {
        var transfers = new VerifiedTransfers(client, 8, 1000, 1000, 1);
        while (!isStopped.get()) {
            transfers.run(50);
            var _ = rounds.incrementAndGet();
        }
        return rounds.get();
    }

    @Test
    void shouldCompleteTheCloseOfAClientThatIsInterrupted() throws Exception {
        var client = join();
        var queue = client.newQueue(4);
        client.newQueue(4);
        Thread.currentThread().interrupt();
        assertThatThrownBy(client::smartLog)
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("Interrupted");
        queue.close();
        assertThat(manager.queues()).isEqualTo(1);
        client.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(manager.queues()).isZero();
    }

    @Test
    void shouldReportAManagerThatDoesNotReply() throws Exception {
        try (var silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var options = NvmeOptions.DEFAULTS.adminTimeout(ofMillis(100));
            assertThatThrownBy(() ->
                            Nvme.join(borrowed.access(), silent.getLocalSocketAddress(), options))
                    .isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("did not reply within 0.1s");
        }
    }

    @Test
    void shouldOnlyShareADriveThatItOwns() throws Exception {
        try (var client = join()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> SharedControllerManager.start(client, LOOPBACK))
                    .withMessageContaining("belongs to another manager");
        }
    }

    @Test
    void shouldListenOnAUnixDomainSocketAndDeleteItsFile(@TempDir Path folder) throws Exception {
        var file = folder.resolve("manager");
        try (var local = SharedControllerManager.start(drive, UnixDomainSocketAddress.of(file));
                var client = Nvme.join(borrowed.access(), local.address(), NvmeOptions.DEFAULTS)) {
            assertThat(client.smartLog().temperatureKelvin()).isEqualTo(300);
        }
        assertThat(Files.exists(file)).isFalse();
    }
}
