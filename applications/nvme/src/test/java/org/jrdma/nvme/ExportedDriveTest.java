package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.UUID;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** A target whose namespaces are those of a drive on PCIe. */
@Timeout(120)
@SoftFabricTest(devices = 2)
class ExportedDriveTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final DriveHarness harness = new DriveHarness();
    private final Subsystem subsystem = new Subsystem("serial 4", "exported drive");
    private Verbs library;
    private ConnectionManager connections;
    private NvmeDrive local;
    private BlockStorage storage;
    private NvmeTarget target;
    private NvmeDrive remote;

    @BeforeEach
    void export(Verbs verbs, ConnectionManager manager, InetAddress ignored, InetAddress address)
            throws FabricException {
        local = harness.open();
        storage = BlockStorage.onDrive(local, local.namespaces().getFirst());
        var _ = subsystem.addNamespace(storage);
        target =
                NvmeTarget.listen(
                        verbs, manager, new InetSocketAddress(address, 0), TargetOptions.DEFAULTS);
        target.export(subsystem);
        library = verbs;
        connections = manager;
        remote = connect(subsystem);
    }

    private NvmeDrive connect(Subsystem exported) throws FabricException {
        return NvmeFabrics.connect(
                library,
                connections,
                target.addresses().getFirst(),
                exported.qualifiedName(),
                FabricsOptions.of(HostIdentity.of(new UUID(1, 2))));
    }

    @AfterEach
    void close() {
        remote.close();
        target.close();
        storage.close();
        local.close();
        harness.close();
    }

    @SoftFabricTest(devices = 2)
    void shouldVerifyTransfersToTheDrive() throws Exception {
        assertThat(remote.namespaces()).isEqualTo(local.namespaces().subList(0, 1));
        FabricVerifier.verifySizes(remote);
        FabricVerifier.verify(remote, 3, 600);
    }

    @SoftFabricTest(devices = 2)
    void shouldStoreTheBlocksOnTheDrive() throws Exception {
        try (var sender = remote.newQueue(2);
                var sent = remote.newMemory(4096);
                var receiver = local.newQueue(2);
                var received = local.newMemory(4096)) {
            sent.segment().set(JAVA_LONG, 0, 1234567);
            var namespace = local.namespaces().getFirst();
            assertThat(sender.write(namespace, 9, 1, sent, 0, 1)).isTrue();
            complete(sender);
            assertThat(receiver.read(namespace, 9, 1, received, 0, 1)).isTrue();
            complete(receiver);
            assertThat(received.segment().get(JAVA_LONG, 0)).isEqualTo(1234567);
            assertThat(sender.writeZeroes(namespace, 9, 5000, 1)).isTrue();
            complete(sender);
            assertThat(receiver.read(namespace, 9, 1, received, 0, 1)).isTrue();
            complete(receiver);
            assertThat(received.segment().get(JAVA_LONG, 0)).isZero();
        }
    }

    private static void complete(NvmeQueue queue) throws FabricException {
        queue.await(TIMEOUT);
        if (!queue.succeeded()) {
            throw queue.failure();
        }
    }

    @SoftFabricTest(devices = 2)
    void shouldReportAMediaErrorIfTheDriveIsClosed() throws Exception {
        try (var queue = remote.newQueue(2);
                var memory = remote.newMemory(4096)) {
            local.close();
            var namespace = remote.namespaces().getFirst();
            assertThat(queue.read(namespace, 9, 1, memory, 0, 1)).isTrue();
            queue.await(TIMEOUT);
            assertThat(queue.failure().status()).contains(Status.UNRECOVERED_READ_ERROR);
            assertThat(queue.write(namespace, 9, 1, memory, 0, 1)).isTrue();
            queue.await(TIMEOUT);
            assertThat(queue.failure().status()).contains(Status.WRITE_FAULT);
        }
    }

    @SoftFabricTest(devices = 2)
    @Tag("slow")
    void shouldContinueAfterATimeoutOfTheDrive() throws Exception {
        var options =
                NvmeOptions.DEFAULTS
                        .ioTimeout(Duration.ofMillis(200))
                        .adminTimeout(Duration.ofMillis(500));
        var exported = new Subsystem("serial 5", "exported drive");
        try (var other = harness.other();
                var drive = other.open(options);
                var blocks = BlockStorage.onDrive(drive, drive.namespaces().getFirst())) {
            var _ = exported.addNamespace(blocks);
            target.export(exported);
            try (var host = connect(exported);
                    var queue = host.newQueue(2);
                    var memory = host.newMemory(4096)) {
                other.stopController();
                for (var i = 0; i < 20; i++) { // more than the storage has buffers
                    assertThat(isWritten(queue, memory)).isFalse();
                }
                other.resumeController();
                while (!isWritten(queue, memory)) {
                    Thread.sleep(100); // until the storage tries to use the drive again
                }
                for (var i = 0; i < 20; i++) {
                    assertThat(isWritten(queue, memory)).isTrue();
                }
            }
        }
    }

    /** Returns false if the target reports an error of the medium. */
    private boolean isWritten(NvmeQueue queue, DmaMemory memory) throws FabricException {
        var namespace = remote.namespaces().getFirst();
        assertThat(queue.write(namespace, 9, 1, memory, 0, 1)).isTrue();
        queue.await(TIMEOUT);
        if (!queue.succeeded()) {
            assertThat(queue.failure().status()).contains(Status.WRITE_FAULT);
        }
        return queue.succeeded();
    }
}
