package org.jrdma.tck.sisci.software;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.tck.sisci.FabricUnderTest;
import org.jrdma.tck.sisci.Peer;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Configures the conformance kit to test the software fabric. All peers are in this JVM, or with
 * the system property {@code jrdma.tck.processes} in separate JVMs. The property {@code
 * jrdma.tck.weak} enables weak memory.
 */
public final class SoftwareFabricSetup implements LauncherSessionListener {

    private static final int LOCAL_NODE = 4;
    private static final int PEER_NODE = 8;
    private static final int THIRD_NODE = 12;
    private static final int LENDING_NODE = 16;

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        try {
            var folder = FabricProcesses.fabricFolder();
            var weak = Boolean.getBoolean("jrdma.tck.weak");
            var library = new SoftSisci(options(folder, LOCAL_NODE, weak));
            FabricUnderTest.use(
                    new FabricUnderTest(
                            Sisci.from(library),
                            () -> peer(folder, PEER_NODE, weak),
                            () -> peer(folder, THIRD_NODE, weak),
                            () -> peer(folder, LOCAL_NODE, weak),
                            Optional.of(cable(library)),
                            Optional.of(new SoftwareLender(options(folder, LENDING_NODE, weak)))));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static SoftSisciOptions options(Path folder, int node, boolean weak) {
        return SoftSisciOptions.in(folder).node(node).faults(FaultOptions.NONE.weakMemory(weak));
    }

    private static Peer peer(Path folder, int node, boolean weak) throws IOException {
        return Boolean.getBoolean("jrdma.tck.processes")
                ? FabricProcesses.peer(folder, node, weak)
                : Peer.inThisJvm(Sisci.from(new SoftSisci(options(folder, node, weak))));
    }

    private static FabricUnderTest.Cable cable(SoftSisci library) {
        return new FabricUnderTest.Cable() {
            @Override
            public void cut() throws FabricException {
                library.cutLink(0);
            }

            @Override
            public void restore() throws FabricException {
                library.restoreLink(0);
            }
        };
    }
}
