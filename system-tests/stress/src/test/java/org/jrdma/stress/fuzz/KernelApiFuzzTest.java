package org.jrdma.stress.fuzz;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Does the same as {@link ApiFuzzTest} with the system's libibverbs and librdmacm on a RoCE device
 * of the kernel, and with sockets over the kernel's transports. Requires the guest.
 */
@Tag("real-kernel")
class KernelApiFuzzTest {

    @ParameterizedTest
    @CsvSource({"rxe, 2000", "rsocket, 1000", "smc, 2000"})
    void shouldEndEachRandomCallAsDocumented(String target, long calls) throws Exception {
        // C2 is slow in User-Mode Linux.
        var jvmOptions = List.of("-XX:TieredStopAtLevel=1");
        ApiFuzzTest.run(target, target, calls, List.of(), jvmOptions);
    }
}
