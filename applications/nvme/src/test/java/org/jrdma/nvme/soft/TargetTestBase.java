package org.jrdma.nvme.soft;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.Status;
import org.jrdma.soft.junit.SoftFabricTest;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A target on the software fabric, with a namespace of 4,096 blocks of 512 bytes. */
@Timeout(60)
@SoftFabricTest(devices = 2)
abstract class TargetTestBase {

    static final String NAME = "nqn.2014-08.org.jrdma:test";
    static final String PRIVATE_NAME = "nqn.2014-08.org.jrdma:private";
    static final TargetOptions OPTIONS =
            TargetOptions.DEFAULTS
                    .maxConnections(12)
                    .ioQueues(4)
                    .entries(64)
                    .connectTimeout(Duration.ofSeconds(2));

    final BlockStorage storage = Harness.storage();
    final Subsystem subsystem = new Subsystem("serial 1", "jrdma test", NAME);
    NvmeTarget target;
    Verbs library;
    ConnectionManager manager;
    ProtectionDomain domain;
    InetSocketAddress address;

    @BeforeEach
    final void listen(
            Verbs verbs,
            ConnectionManager connections,
            Device host,
            Device ignored,
            InetAddress hostAddress,
            InetAddress targetAddress)
            throws IOException {
        var _ = subsystem.addNamespace(storage);
        library = verbs;
        manager = connections;
        target =
                NvmeTarget.listen(
                        verbs, manager, new InetSocketAddress(targetAddress, 0), options());
        target.export(subsystem);
        target.export(new Subsystem("serial 2", "jrdma test", PRIVATE_NAME), Set.of("nqn.friend"));
        address = target.addresses().getFirst();
        domain = host.newProtectionDomain();
    }

    TargetOptions options() {
        return OPTIONS;
    }

    @AfterEach
    final void close() {
        domain.close();
        target.close();
        storage.close();
    }

    /** Returns a connected and enabled admin queue. */
    final UncheckedHostQueue admin() throws IOException {
        return admin(0);
    }

    final UncheckedHostQueue admin(int keepAliveMillis) throws IOException {
        var admin = UncheckedHostQueue.queue(manager, domain, address, 0, 0);
        var response = admin.connect(NAME, 0, ConnectData.ANY_CONTROLLER, keepAliveMillis);
        if (response.status() != 0) {
            throw new IOException(Status.describeFabrics(response.status()));
        }
        admin.enable();
        return admin;
    }

    /** Returns a connected I/O queue of the first controller. */
    final UncheckedHostQueue io(int queueId) throws IOException {
        var queue = UncheckedHostQueue.queue(manager, domain, address, queueId, 1);
        var response = queue.connect(NAME, queueId, 1, 0);
        if (response.status() != 0) {
            throw new IOException(Status.describeFabrics(response.status()));
        }
        return queue;
    }
}
