package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.DiscoveryEntry;
import org.jrdma.nvme.model.ReservationType;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.NvmeTarget;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.nvme.soft.TargetOptions;
import org.jrdma.nvme.soft.VolatileStorage;
import org.jrdma.soft.junit.SoftFabricTest;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** The driver with a target on the software fabric, in one process. */
@Timeout(120)
@SoftFabricTest(devices = 2)
class NvmeFabricsTest {

    private static final String NAME = "nqn.2014-08.org.jrdma:test";
    private static final HostIdentity HOST = HostIdentity.of(new UUID(7, 25));
    private static final FabricsOptions OPTIONS =
            FabricsOptions.of(HOST)
                    .connectTimeout(Duration.ofSeconds(5))
                    .reconnectDelay(Duration.ofMillis(50));
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int BLOCKS = 16_384;
    private static final int BLOCK_BYTES = 512;

    private final VolatileStorage storage = new VolatileStorage(BLOCKS, BLOCK_BYTES);
    private Verbs verbs;
    private ConnectionManager manager;
    private NvmeTarget target;
    private InetSocketAddress address;

    @BeforeEach
    void listen(
            Verbs library,
            ConnectionManager connections,
            InetAddress ignored,
            InetAddress targetAddress)
            throws FabricException {
        verbs = library;
        manager = connections;
        address = new InetSocketAddress(targetAddress, 0);
        startTarget();
        address = target.addresses().getFirst();
    }

    private void startTarget() throws FabricException {
        startTarget(TargetOptions.DEFAULTS.ioQueues(4));
    }

    private void startTarget(TargetOptions options) throws FabricException {
        var subsystem = new Subsystem("serial 9", "jrdma drive", NAME);
        var _ = subsystem.addNamespace(storage);
        target = NvmeTarget.listen(verbs, manager, address, options);
        target.export(subsystem);
        target.export(new Subsystem("serial 8", "jrdma drive", NAME + "x"), Set.of("nqn.friend"));
    }

    @AfterEach
    void close() {
        target.close();
        storage.close();
    }

    private NvmeDrive connect() throws FabricException {
        return connect(OPTIONS);
    }

    private NvmeDrive connect(FabricsOptions options) throws FabricException {
        return NvmeFabrics.connect(verbs, manager, address, NAME, options);
    }

    @SoftFabricTest(devices = 2)
    void shouldDiscoverTheSubsystems() throws Exception {
        var log = NvmeFabrics.discover(verbs, manager, address, OPTIONS);
        assertThat(log.entries()).extracting(DiscoveryEntry::subsystemName).containsExactly(NAME);
        assertThat(log.entries().getFirst().service())
                .isEqualTo(Integer.toString(address.getPort()));
    }

    @SoftFabricTest(devices = 2)
    void shouldDescribeTheDrive() throws Exception {
        try (var drive = connect()) {
            assertThat(drive.identity().serialNumber()).isEqualTo("serial 9");
            assertThat(drive.identity().subsystemName()).isEqualTo(NAME);
            assertThat(drive.namespaces()).containsExactly(new NvmeNamespace(1, BLOCKS, 9));
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
            assertThat(drive)
                    .hasToString(
                            "NVMe drive on %s at %s:%d"
                                    .formatted(
                                            NAME,
                                            address.getAddress().getHostAddress(),
                                            address.getPort()));
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldTransferDataOfAllSizes() throws Exception {
        try (var drive = connect()) {
            FabricVerifier.verifySizes(drive);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldWaitForASlowCommandInTheKernel() throws Exception {
        storage.delayReads(Duration.ofMillis(500));
        try (var drive = connect();
                var queue = drive.newQueue(1);
                var memory = drive.newMemory(512)) {
            assertThat(queue.read(drive.namespaces().getFirst(), 0, 1, memory, 0, 1)).isTrue();
            var before = waits();
            queue.await(TIMEOUT);
            assertThat(queue.succeeded()).isTrue();
            // without events, the thread would pause for about 60 us between two polls
            assertThat(waits() - before).isLessThan(500);
        }
    }

    /** Returns how often the current thread has waited in the kernel. */
    private static long waits() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/thread-self/status"))) {
            return lines.filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                    .map(line -> line.replaceAll("\\D", ""))
                    .mapToLong(Long::parseLong)
                    .sum();
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldWriteZeroes() throws Exception {
        try (var drive = connect();
                var queue = drive.newQueue(8);
                var memory = drive.newMemory(512)) {
            var namespace = drive.namespaces().getFirst();
            memory.segment().fill((byte) 7);
            assertThat(queue.write(namespace, 5, 1, memory, 0, 1)).isTrue();
            complete(queue);
            assertThat(queue.writeZeroes(namespace, 5, 1, 3)).isTrue();
            complete(queue);
            assertThat(queue.read(namespace, 5, 1, memory, 0, 1)).isTrue();
            complete(queue);
            assertThat(memory.segment().get(JAVA_LONG, 0)).isZero();
        }
    }

    private static void complete(NvmeQueue queue) throws FabricException {
        queue.await(TIMEOUT);
        if (!queue.succeeded()) {
            throw queue.failure();
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldReportTheStatusOfFailedCommands() throws Exception {
        try (var drive = connect();
                var queue = drive.newQueue(8);
                var memory = drive.newMemory(4096)) {
            var namespace = drive.namespaces().getFirst();
            assertThat(queue.read(namespace, BLOCKS, 1, memory, 0, 77)).isTrue();
            queue.await(TIMEOUT);
            assertThat(queue.succeeded()).isFalse();
            assertThat(queue.context()).isEqualTo(77);
            assertThat(queue.failure().status()).contains(Status.LBA_OUT_OF_RANGE);
            assertThat(queue.failure()).hasMessageContaining("read of 1 blocks from block 16384");
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldRefuseMemoryOfAnotherDrive() throws Exception {
        try (var drive = connect();
                var other = connect();
                var queue = drive.newQueue(8);
                var memory = other.newMemory(4096)) {
            var namespace = drive.namespaces().getFirst();
            assertThatThrownBy(() -> queue.read(namespace, 0, 1, memory, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldNameTheReasonOfARefusal() {
        assertThatThrownBy(() -> NvmeFabrics.connect(verbs, manager, address, NAME + "y", OPTIONS))
                .isInstanceOfSatisfying(
                        NvmeException.class,
                        e -> assertThat(e.status()).contains(Status.CONNECT_PARAMETERS))
                .hasMessageContaining("invalid parameter of the Connect command (0x182)");
        assertThatThrownBy(() -> NvmeFabrics.connect(verbs, manager, address, NAME + "x", OPTIONS))
                .hasMessageContaining("the host is not allowed to use the subsystem (0x184)");
    }

    @SoftFabricTest(devices = 2)
    void shouldLimitTheQueues() throws Exception {
        try (var drive = connect()) {
            assertThatThrownBy(() -> drive.newQueue(128))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("from 1 to 127");
            assertThatThrownBy(() -> drive.newQueue(0))
                    .isInstanceOf(IllegalArgumentException.class);
            var queues = new ArrayList<NvmeQueue>();
            for (var i = 0; i < 4; i++) {
                queues.add(drive.newQueue(127));
            }
            assertThatThrownBy(() -> drive.newQueue(1)).hasMessageContaining("all 4 queues");
            queues.getFirst().close();
            awaitAttached(drive, drive.newQueue(3));
        }
    }

    private static void awaitAttached(NvmeDrive drive, NvmeQueue queue) throws FabricException {
        assertThat(queue.flush(drive.namespaces().getFirst(), 1)).isTrue();
        complete(queue);
    }

    @SoftFabricTest(devices = 2)
    @Tag("slow")
    void shouldVerifyDataOnFourQueues() throws Exception {
        try (var drive = connect()) {
            FabricVerifier.verify(drive, 4, 1500);
        }
    }

    @SoftFabricTest(devices = 2, loss = 0.01)
    @Tag("slow")
    void shouldVerifyDataOnANetworkThatLosesPackets() throws Exception {
        try (var drive = connect()) {
            FabricVerifier.verify(drive, 2, 300);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldLoseNoAcknowledgedWriteIfTheTargetLosesPower() throws Exception {
        var options = OPTIONS.drive(OPTIONS.drive().writeThrough(true));
        try (var drive = connect(options);
                var executor = Executors.newFixedThreadPool(2)) {
            var verifiers =
                    List.of(
                            new FabricVerifier(drive, 8, 0, BLOCKS / 2),
                            new FabricVerifier(drive, 8, BLOCKS / 2, BLOCKS / 2));
            var results =
                    verifiers.stream().map(each -> executor.submit(() -> each.run(1800))).toList();
            for (var restart = 1; restart <= 3; restart++) {
                var enough = restart * 300;
                TestWaits.await(
                        () -> verifiers.stream().allMatch(each -> each.completed() > enough));
                target.close();
                storage.losePower();
                startTarget();
            }
            for (var result : results) {
                assertThat(result.get()).isEqualTo(1800);
            }
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldFailAfterTheLossTimeout() throws Exception {
        try (var drive = connect(OPTIONS.lossTimeout(Duration.ofMillis(200)));
                var queue = drive.newQueue(4);
                var memory = drive.newMemory(4096)) {
            var namespace = drive.namespaces().getFirst();
            assertThat(queue.read(namespace, 0, 1, memory, 0, 1)).isTrue();
            complete(queue);
            target.close();
            assertThat(queue.read(namespace, 0, 1, memory, 0, 1)).isTrue();
            assertThatThrownBy(() -> queue.await(TIMEOUT))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("could not be connected again");
            assertThatThrownBy(() -> drive.newQueue(1)).isInstanceOf(NvmeException.class);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldConnectAgainWithoutALimitOfTime() throws Exception {
        try (var drive = connect(OPTIONS.lossTimeout(Duration.ofSeconds(Long.MAX_VALUE)))) {
            var controller = (RdmaController) drive.controller();
            target.close();
            TestWaits.await(() -> controller.session() == null);
            Thread.sleep(200); // a first attempt fails
            startTarget();
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldStayConnectedWithoutCommands() throws Exception {
        var options = OPTIONS.keepAlive(Duration.ofMillis(600));
        try (var drive = connect(options);
                var queue = drive.newQueue(4)) {
            awaitAttached(drive, queue);
            Thread.sleep(1500); // more than twice the keep-alive timeout
            assertThat(target.connections()).isEqualTo(2);
            awaitAttached(drive, queue);
        }
        TestWaits.await(() -> target.connections() == 0);
    }

    @SoftFabricTest(devices = 2)
    void shouldExcludeAnotherHostByAReservation() throws Exception {
        var other = FabricsOptions.of(HostIdentity.of(new UUID(7, 26)));
        try (var drive = connect();
                var excluded = connect(other);
                var memory = excluded.newMemory(4096);
                var queue = excluded.newQueue(1)) {
            var reservations = drive.reservations(drive.namespaces().getFirst());
            reservations.register(5);
            reservations.acquire(5, ReservationType.WRITE_EXCLUSIVE);
            assertThat(reservations.report().registrants())
                    .singleElement()
                    .satisfies(each -> assertThat(each.host()).isEqualTo(HOST.identifier()));
            var namespace = excluded.namespaces().getFirst();
            assertThat(queue.write(namespace, 0, 1, memory, 0, 1)).isTrue();
            queue.await(TIMEOUT);
            assertThat(queue.failure().status()).contains(Status.RESERVATION_CONFLICT);
            reservations.clear(5);
            assertThat(queue.write(namespace, 0, 1, memory, 0, 1)).isTrue();
            complete(queue);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldExecuteAsynchronousOperations() throws Exception {
        try (var drive = connect();
                var queue = drive.newAsyncQueue(8);
                var memory = drive.newMemory(1 << 16)) {
            var namespace = drive.namespaces().getFirst();
            memory.segment().set(JAVA_LONG, 0, 77);
            queue.write(namespace, 3, 8, memory, 0).await(TIMEOUT);
            queue.read(namespace, 3, 8, memory, 4096).await(TIMEOUT);
            assertThat(memory.segment().get(JAVA_LONG, 4096)).isEqualTo(77);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldConfineAQueueToItsFirstThread() throws Exception {
        try (var drive = connect();
                var queue = drive.newQueue(4);
                var executor = Executors.newSingleThreadExecutor()) {
            executor.submit(
                            () -> {
                                awaitAttached(drive, queue);
                                return true;
                            })
                    .get();
            assertThatThrownBy(queue::next).isInstanceOf(WrongThreadException.class);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldFailOnlyTheQueuesThatExceedTheLimitsOfARestartedTarget() throws Exception {
        try (var drive = connect();
                var large = drive.newQueue(100);
                var small = drive.newQueue(4)) {
            awaitAttached(drive, large);
            awaitAttached(drive, small);
            target.close();
            startTarget(TargetOptions.DEFAULTS.ioQueues(4).entries(16));
            assertThat(large.flush(drive.namespaces().getFirst(), 1)).isTrue();
            assertThatThrownBy(() -> large.await(TIMEOUT))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("exceeds the new limits of the target: 4 queues");
            awaitAttached(drive, small);
            assertThat(target.connections()).isEqualTo(2);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldKeepTheControllerIfATargetRefusesAQueue() throws Exception {
        try (var drive = connect(OPTIONS.lossTimeout(Duration.ofSeconds(2)));
                var queue = drive.newQueue(4)) {
            awaitAttached(drive, queue);
            target.close();
            startTarget(TargetOptions.DEFAULTS.maxConnections(1));
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
            var session = ((RdmaController) drive.controller()).session();
            assertThat(queue.flush(drive.namespaces().getFirst(), 1)).isTrue();
            assertThatThrownBy(() -> queue.await(TIMEOUT))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("could not be connected within PT2S")
                    .hasMessageContaining("rejected queue 1");
            assertThat(((RdmaController) drive.controller()).session()).isSameAs(session);
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldCloseWithoutALongDelayWhileAKeepAliveCommandIsPending(
            SoftDevice ignored, SoftDevice remote) throws Exception {
        var drive = connect(OPTIONS.keepAlive(Duration.ofMillis(300)));
        remote.linkDown();
        Thread.sleep(200); // a keep-alive command is sent each 100 ms
        var start = System.nanoTime();
        drive.close();
        remote.linkUp();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
    }

    @SoftFabricTest(devices = 2)
    void shouldStayConnectedDuringALongAdminCommand() throws Exception {
        var keepAlive = Duration.ofMillis(500);
        try (var drive = connect(OPTIONS.keepAlive(keepAlive));
                var queue = drive.newQueue(4)) {
            var controller = (RdmaController) drive.controller();
            var session = controller.session();
            var end = System.nanoTime() + 3 * keepAlive.toNanos();
            var _ =
                    controller.read(
                            AdminPageKind.CONTROLLER,
                            0,
                            _ -> {
                                while (System.nanoTime() < end) { // other signs of life
                                    flush(drive, queue);
                                }
                                return true;
                            });
            assertThat(controller.session()).isSameAs(session);
        }
    }

    private static void flush(NvmeDrive drive, NvmeQueue queue) {
        try {
            awaitAttached(drive, queue);
        } catch (FabricException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Tag("slow")
    @SoftFabricTest(devices = 2)
    void shouldContinueAfterTheLinkWasDown(SoftDevice ignored, SoftDevice remote) throws Exception {
        try (var drive = connect(OPTIONS.keepAlive(Duration.ofSeconds(2)));
                var executor = Executors.newSingleThreadExecutor()) {
            var verifier = new FabricVerifier(drive, 8, 0, BLOCKS);
            var result = executor.submit(() -> verifier.run(900));
            TestWaits.await(() -> verifier.completed() > 300);
            remote.linkDown();
            Thread.sleep(10_000);
            assertThat(verifier.completed()).isLessThan(900);
            remote.linkUp();
            assertThat(result.get()).isEqualTo(900);
        }
    }
}
