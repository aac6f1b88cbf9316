package org.jrdma.tck.software;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jrdma.processes.Program;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.Access;
import org.junit.jupiter.api.Test;

/** Tests the software fabric in a JVM whose threads have a small stack. */
class SmallStackTest {

    @Test
    void shouldTransferIfEachThreadHasAStackOf256Kilobytes() throws Exception {
        var command =
                List.of(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-Xss256k",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Transferring.class.getName());
        try (var program = Program.start(command)) {
            assertThat(program.await()).as(program.output()).isZero();

            assertThat(program.output()).endsWith("SUCCESS" + System.lineSeparator());
        }
    }

    /** The program of the child process. */
    static final class Transferring {

        private Transferring() {}

        public static void main(String... arguments) throws Exception {
            try (var device = Verbs.software().openFirst();
                    var domain = device.newProtectionDomain();
                    var completions = device.newCompletionDispatcher(32);
                    var memory = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
                    var queuePair = domain.newQueuePair(QueuePairOptions.reliable(completions))) {
                var region = memory.region(4096);
                queuePair.connect(queuePair.endpoint());
                var completion =
                        queuePair
                                .write(region.slice(0, 64), region.remote().slice(64, 64))
                                .await(ofSeconds(20));
                System.out.println(completion.status());
            }
        }
    }
}
