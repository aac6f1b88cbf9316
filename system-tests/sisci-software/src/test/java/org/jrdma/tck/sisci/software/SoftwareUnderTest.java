package org.jrdma.tck.sisci.software;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.tck.sisci.Fabric;
import org.jrdma.tck.sisci.Peer;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Has the conformance kit test the software fabric: all in this JVM, or with the property {@code
 * jrdma.tck.processes} each peer in its own; with {@code jrdma.tck.weak} in weak memory.
 */
public final class SoftwareUnderTest implements LauncherSessionListener {

    private static final int HERE = 4;
    private static final int PEER = 8;
    private static final int THIRD = 12;

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        try {
            var folder = Jvm.fabricFolder();
            var weak = Boolean.getBoolean("jrdma.tck.weak");
            var library = new SoftSisci(options(folder, HERE, weak));
            Fabric.test(
                    new Fabric(
                            Sisci.from(library),
                            () -> peer(folder, PEER, weak),
                            () -> peer(folder, THIRD, weak),
                            () -> peer(folder, HERE, weak),
                            Optional.of(cable(library))));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static SoftSisciOptions options(Path folder, int node, boolean weak) {
        return SoftSisciOptions.in(folder)
                .asNode(node)
                .withFaults(FaultOptions.NONE.withWeakMemory(weak));
    }

    private static Peer peer(Path folder, int node, boolean weak) throws IOException {
        return Boolean.getBoolean("jrdma.tck.processes")
                ? Jvm.peer(folder, node, weak)
                : Peer.inThisJvm(Sisci.from(new SoftSisci(options(folder, node, weak))));
    }

    private static Fabric.Cable cable(SoftSisci library) {
        return new Fabric.Cable() {
            @Override
            public void cut() throws FabricException {
                library.cutLink(0);
            }

            @Override
            public void mend() throws FabricException {
                library.restoreLink(0);
            }
        };
    }
}
