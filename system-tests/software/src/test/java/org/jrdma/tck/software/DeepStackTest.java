package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.Access;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a stack overflow during a call of the software fabric does not terminate the JVM,
 * although it would if the exception left a function that C has called. Each test starts a JVM that
 * recurses and calls the fabric at every depth until the stack overflows.
 */
@Tag("slow")
class DeepStackTest {

    @ParameterizedTest
    @ValueSource(strings = {"query", "attributes", "transfer", "domain", "queue", "open"})
    void shouldSurviveAStackOverflowAtAnyDepthOfACall(String call, @TempDir Path folder)
            throws Exception {
        // The file also contains warnings of the JVM, which are not failures.
        var errors = folder.resolve("stderr");
        var process =
                new ProcessBuilder(
                                ProcessHandle.current().info().command().orElseThrow(),
                                "-Xss512k",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Overflowing.class.getName(),
                                call)
                        .redirectError(errors.toFile())
                        .start();

        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(output + Files.readString(errors)).isZero();
        assertThat(output).isEqualTo("10 overflows, then SUCCESS" + System.lineSeparator());
    }

    /** The program of the child process. */
    static final class Overflowing {

        private final Verbs verbs = Verbs.software();
        private final Device device = verbs.openFirst();
        private final PreparedRequest<?> write;
        private final CompletionCursor cursor;

        private Overflowing() throws FabricException {
            var domain = device.newProtectionDomain();
            var region = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE).region(4096);
            var completions = device.newCompletionQueue(128);
            var queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(completions).sends(64).receives(1));
            queuePair.connect(queuePair.endpoint());
            write = queuePair.prepareWrite(region.slice(0, 64), region.remote());
            cursor = completions.newCursor(32);
        }

        public static void main(String... arguments) throws Exception {
            var program = new Overflowing();
            var overflows = 0;
            for (var round = 0; round < 10; round++) {
                try {
                    program.descend(arguments[0]);
                } catch (StackOverflowError e) {
                    overflows++;
                }
            }
            System.out.println(overflows + " overflows, then " + program.transferOnce());
            System.exit(0);
        }

        @SuppressWarnings("InfiniteRecursion") // The recursion ends when the stack is full.
        private void descend(String call) throws FabricException {
            switch (call) {
                case "query" -> device.port(1);
                case "transfer" -> {
                    write.tryPost();
                    consumeCompletions();
                }
                case "attributes" -> device.attributes();
                case "domain" -> device.newProtectionDomain().close();
                case "queue" ->
                        device.newCompletionQueue(CompletionQueueOptions.capacity(1).waitable())
                                .close();
                default -> verbs.open(device.name()).close();
            }
            descend(call);
        }

        private void consumeCompletions() {
            cursor.poll();
            while (cursor.next()) {
                // The poll removes the completion, so that another request can be posted.
            }
        }

        private String transferOnce() throws Exception {
            while (!write.tryPost()) {
                consumeCompletions();
            }
            while (!cursor.next()) {
                cursor.poll();
            }
            return cursor.status().toString();
        }
    }
}
