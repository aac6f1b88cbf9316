package org.jrdma.ffi.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.jrdma.ffi.ChildJvm;
import org.jrdma.ffi.LibraryOpeningProgram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BarrierSelectionTest {

    /** Creates a guard, runs a barrier, and prints the barrier that the process uses. */
    static final class Program {
        private Program() {}

        public static void main(String... arguments) {
            CallGuard.ofCurrentThread();
            CallGuard.awaitCallsInFlight();
            System.out.println(Barrier.ofThisProcess());
        }
    }

    @Test
    void shouldUseMembarrierIfTheKernelSupportsIt() {
        assumeTrue(Membarrier.register(), "This kernel does not support membarrier(2)");

        assertThat(Barrier.ofThisProcess()).isEqualTo(Barrier.MEMBARRIER);
        assertThat(Membarrier.run()).isTrue();
    }

    @Test
    void shouldUseHandshakesIfRequested() throws Exception {
        var result =
                ChildJvm.onModulePath(
                        Program.class,
                        "--enable-native-access=org.jrdma.ffi",
                        "-Djrdma.guard=handshake",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=debug");

        assertThat(result.output())
                .contains("close() uses thread handshakes because of -Djrdma.guard=handshake")
                .endsWith("HANDSHAKE\n");
        assertThat(result.exitCode()).isZero();
    }

    @Test
    void shouldRejectAnUnknownBarrier() throws Exception {
        var child = ChildJvm.onClassPath(LibraryOpeningProgram.class, "-Djrdma.guard=handshakes");

        assertThat(child.exitCode()).isOne();
        assertThat(child.output())
                .contains(
                        "IllegalArgumentException: The system property jrdma.guard is \"handshakes\". It must be membarrier or handshake.")
                .doesNotContain("Opened a test");
    }

    @Test
    void shouldLogTheBarrierOnce() throws Exception {
        var result =
                ChildJvm.onModulePath(
                        Program.class,
                        "--enable-native-access=org.jrdma.ffi",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=debug");

        assertThat(result.output()).containsOnlyOnce("close() uses ");
    }
}
