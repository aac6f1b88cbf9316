package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.NvmeTarget;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.nvme.soft.TargetOptions;
import org.jrdma.soft.junit.SoftFabricTest;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A host on a network, and a target whose namespaces change. */
@Timeout(120)
@SoftFabricTest(devices = 2)
class NamespaceNoticesTest {

    private static final String NAME = "nqn.2014-08.org.jrdma:test";
    private static final FabricsOptions OPTIONS =
            FabricsOptions.of(HostIdentity.of(new UUID(7, 25)))
                    .reconnectDelay(Duration.ofMillis(50));
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final BlockStorage storage = BlockStorage.inMemory(16_384, 512);
    private final BlockStorage other = BlockStorage.inMemory(64, 4096);
    private Verbs verbs;
    private ConnectionManager manager;
    private InetSocketAddress address;
    private NvmeTarget target;
    private Subsystem subsystem;
    private NvmeDrive drive;

    @BeforeEach
    void connect(
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
        drive = NvmeFabrics.connect(verbs, manager, address, NAME, OPTIONS);
        assertThat(drive.namespaces()).hasSize(1);
    }

    private void startTarget() throws FabricException {
        subsystem = new Subsystem("serial 9", "jrdma drive", NAME);
        var _ = subsystem.addNamespace(storage);
        target = NvmeTarget.listen(verbs, manager, address, TargetOptions.DEFAULTS);
        target.export(subsystem);
    }

    @AfterEach
    void close() {
        drive.close();
        target.close();
        storage.close();
        other.close();
    }

    private void awaitNamespaces(NvmeNamespace... expected) {
        TestWaits.await(() -> drive.namespaces().equals(List.of(expected)));
    }

    @SoftFabricTest(devices = 2)
    void shouldUseAddedAndResizedNamespacesAndNoticeTheirRemoval() throws Exception {
        var first = drive.namespaces().getFirst();
        try (var queue = drive.newQueue(4);
                var memory = drive.newMemory(4096)) {
            assertThat(subsystem.addNamespace(other)).isEqualTo(2);
            var second = new NvmeNamespace(2, 64, 12);
            awaitNamespaces(first, second);
            memory.segment().set(JAVA_LONG, 0, 77);
            assertThat(queue.write(second, 63, 1, memory, 0, 1)).isTrue();
            complete(queue);

            subsystem.resizeNamespace(2, 128);
            var resized = new NvmeNamespace(2, 128, 12);
            awaitNamespaces(first, resized);
            memory.segment().fill((byte) 0);
            assertThat(queue.read(resized, 63, 1, memory, 0, 1)).isTrue();
            complete(queue);
            assertThat(memory.segment().get(JAVA_LONG, 0)).isEqualTo(77);
            assertThat(queue.read(resized, 127, 1, memory, 0, 1)).isTrue();
            complete(queue);

            subsystem.removeNamespace(2);
            awaitNamespaces(first);
            assertThat(queue.read(resized, 0, 1, memory, 0, 1)).isTrue();
            queue.await(TIMEOUT);
            assertThat(queue.succeeded()).isFalse();
            assertThat(queue.failure().status()).contains(Status.INVALID_NAMESPACE);
            assertThat(queue.read(first, 0, 1, memory, 0, 1)).isTrue();
            complete(queue);
        }
    }

    private static void complete(NvmeQueue queue) throws FabricException {
        queue.await(TIMEOUT);
        if (!queue.succeeded()) {
            throw queue.failure();
        }
    }

    /** Events then arrive while the host waits for the response to another command. */
    @SoftFabricTest(devices = 2)
    void shouldNoticeChangesDuringOtherAdminCommands() throws Exception {
        var session = ((RdmaController) drive.controller()).session();
        var isEnded = new AtomicBoolean();
        try (var executor = Executors.newSingleThreadExecutor()) {
            var reader =
                    executor.submit(() -> {
                        var reads = 0;
                        for (; !isEnded.get(); reads++) {
                            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
                        }
                        return reads;
                    });
            for (var blocks = 65; blocks < 90; blocks++) {
                subsystem.resizeNamespace(1, blocks);
                awaitNamespaces(new NvmeNamespace(1, blocks, 9));
            }
            isEnded.set(true);
            assertThat(reader.get()).isPositive();
        } finally {
            isEnded.set(true);
        }
        assertThat(((RdmaController) drive.controller()).session()).isSameAs(session);
    }

    @SoftFabricTest(devices = 2)
    void shouldReadTheNamespacesAgainAfterItHasConnectedAgain() throws Exception {
        var first = drive.namespaces().getFirst();
        target.close();
        startTarget();
        var _ = subsystem.addNamespace(other);
        var second = new NvmeNamespace(2, 64, 12);
        awaitNamespaces(first, second);
        subsystem.removeNamespace(2); // the new controller reports changes, too
        awaitNamespaces(first);
    }

    @SoftFabricTest(devices = 2)
    void shouldOpenADriveWhileNamespacesAreRemoved() throws Exception {
        var isEnded = new AtomicBoolean();
        try (var executor = Executors.newSingleThreadExecutor()) {
            var changes =
                    executor.submit(() -> {
                        var rounds = 0;
                        for (; !isEnded.get() && rounds < 900; rounds++) {
                            var id = subsystem.addNamespace(other);
                            Thread.sleep(0, 300_000);
                            subsystem.removeNamespace(id);
                        }
                        return rounds;
                    });
            for (var i = 0; i < 20; i++) {
                NvmeFabrics.connect(verbs, manager, address, NAME, OPTIONS).close();
            }
            isEnded.set(true);
            assertThat(changes.get()).isPositive();
        } finally {
            isEnded.set(true);
        }
        awaitNamespaces(new NvmeNamespace(1, 16_384, 9));
    }

    @SoftFabricTest(devices = 2)
    void shouldRejectTheResizeOfANamespaceOnADrive() throws Exception {
        try (var exported = BlockStorage.onDrive(drive, drive.namespaces().getFirst())) {
            var exporter = new Subsystem("serial 5", "exported drive");
            var id = exporter.addNamespace(exported);
            assertThatThrownBy(() -> exporter.resizeNamespace(id, 5))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThat(exported.blocks()).isEqualTo(16_384);
        }
    }
}
