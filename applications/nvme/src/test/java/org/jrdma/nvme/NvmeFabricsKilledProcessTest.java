package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Executors;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.NvmeTarget;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.nvme.soft.TargetOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A host and a target in two processes, of which one is killed. */
@Timeout(180)
class NvmeFabricsKilledProcessTest {

    private static final FabricsOptions OPTIONS =
            FabricsOptions.of(HostIdentity.of(new UUID(1, 2)))
                    .keepAlive(NvmeFabricsProcess.KEEP_ALIVE)
                    .connectTimeout(Duration.ofSeconds(5))
                    .drive(
                            NvmeOptions.DEFAULTS
                                    .adminTimeout(Duration.ofSeconds(5))
                                    .writeThrough(true));

    @TempDir Path folder;

    @Test
    @Tag("slow")
    void shouldLoseNoAcknowledgedWriteIfTheTargetIsKilled() throws Exception {
        var file = folder.resolve("blocks");
        var first = NvmeFabricsProcess.startTarget(file, new InetSocketAddress(ownAddress(), 0));
        var address =
                new InetSocketAddress(
                        InetAddress.getByName(first.nextLine()),
                        Integer.parseInt(first.nextLine()));
        NvmeFabricsProcess second = null;
        try (var executor = Executors.newSingleThreadExecutor();
                var drive =
                        NvmeFabrics.connect(
                                Verbs.software(),
                                ConnectionManager.software(),
                                address,
                                NvmeFabricsProcess.NAME,
                                OPTIONS)) {
            var verifier = new FabricVerifier(drive, 8, 0, NvmeFabricsProcess.BLOCKS);
            var result = executor.submit(() -> verifier.run(1200));
            TestWaits.await(() -> verifier.completed() > 150);
            first.kill();
            second = NvmeFabricsProcess.startTarget(file, address);
            assertThat(second.nextLine()).isEqualTo(address.getAddress().getHostAddress());
            assertThat(result.get()).isEqualTo(1200);
        } finally {
            first.close();
            if (second != null) {
                second.close();
            }
        }
    }

    @Test
    @Tag("slow")
    void shouldFreeTheQueuesOfAKilledHostWithinItsKeepAliveTimeout() throws Exception {
        try (var device = Verbs.software().openFirst();
                var storage = BlockStorage.inMemory(NvmeFabricsProcess.BLOCKS, 512);
                var target =
                        NvmeTarget.listen(
                                Verbs.software(),
                                ConnectionManager.software(),
                                new InetSocketAddress("0.0.0.0", 0),
                                TargetOptions.DEFAULTS)) {
            assertThat(device.isOpen()).isTrue(); // the target is reachable through it
            var subsystem = new Subsystem("serial 3", "jrdma process", NvmeFabricsProcess.NAME);
            var _ = subsystem.addNamespace(storage);
            target.export(subsystem);
            try (var host = NvmeFabricsProcess.startHost(target.addresses().getFirst())) {
                assertThat(host.nextLine()).isEqualTo("ready");
                TestWaits.await(() -> target.connections() == 2);
                host.kill();
                TestWaits.await(
                        () -> target.connections() == 0,
                        NvmeFabricsProcess.KEEP_ALIVE.plusSeconds(5));
            }
        }
    }

    /** Returns an address that no other process uses while the target is restarted. */
    private static String ownAddress() {
        var pid = ProcessHandle.current().pid();
        return "127.78.%d.%d".formatted(pid >>> 8 & 0xff, 1 + pid % 254);
    }
}
