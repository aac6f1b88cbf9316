package org.jrdma.stress;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Does the same as {@link ConnectionLeakTest} with the system's libibverbs and librdmacm on a RoCE
 * device of the kernel, and with the kernel's SMC over its loopback device. Requires the guest.
 */
@Tag("real-kernel")
class KernelConnectionLeakTest {

    private static final String DEVICE = "rxe0";
    private static final String ADDRESS = "10.77.0.1";

    @TempDir private Path folder;

    @ParameterizedTest
    @EnumSource(
            names = {"RDMA_CM", "RDMA_CHANNEL", "RDMA_LISTENER", "SOCKET_RSOCKET", "SOCKET_SMC"})
    void shouldHoldNoMoreResourcesAfterManyConnections(ConnectionCycles.Kind kind)
            throws Exception {
        ConnectionLeakTest.assertFlat(
                kind,
                folder,
                List.of(
                        // C2 is slow in User-Mode Linux.
                        "-XX:TieredStopAtLevel=1",
                        "-Djrdma.fabric=system",
                        "-Djrdma.test.device=" + DEVICE,
                        "-Djrdma.test.address=" + ADDRESS));
    }
}
