package org.jrdma.tck.sisci.software;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.Sequence;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests stack overflows in calls of the fabric, which would terminate the JVM if an upcall threw a
 * StackOverflowError. Each test starts a JVM that calls the fabric at increasing stack depths until
 * its stack is full.
 */
@Timeout(120)
class DeepStackTest {

    private static final int SEGMENT = 7;

    @TempDir Path logs;

    static Stream<String> operations() {
        return Boolean.getBoolean("jrdma.test.quick")
                ? Stream.of("write", "trigger")
                : Stream.of("flush", "write", "copy", "trigger", "probe", "query");
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("operations")
    void shouldSurviveAStackThatOverflowsAtAnyDepth(String operation) throws Exception {
        var folder = FabricProcesses.fabricFolder();
        var errors = logs.resolve("errors");
        var process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xss512k",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Overflowing.class.getName(),
                                folder.toString(),
                                operation)
                        .redirectError(errors.toFile())
                        .start();

        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(output + Files.readString(errors)).isZero();
        assertThat(output).isEqualTo("10 overflows, then 42" + System.lineSeparator());
    }

    /** The program that calls the fabric until its stack overflows. */
    static final class Overflowing {

        private final MemorySegment message = Arena.global().allocate(64, 64);
        private final Node node;
        private final RemoteMap map;
        private final Sequence sequence;
        private final RemoteInterrupt interrupt;

        private Overflowing(Path folder) throws IOException {
            node = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder).node(4))).open();
            node.newSegment(SEGMENT, 4096).offer();
            map = node.connect(4, SEGMENT, ofSeconds(5)).map();
            sequence = map.newSequence();
            interrupt = node.connectInterrupt(4, node.newInterrupt().number(), ofSeconds(5));
        }

        public static void main(String... arguments) throws Exception {
            var program = new Overflowing(Path.of(arguments[0]));
            var overflows = 0;
            for (var round = 0; round < 10; round++) {
                try {
                    program.descend(arguments[1]);
                } catch (StackOverflowError e) {
                    overflows++;
                }
            }
            program.map.putLongRelease(128, 42);
            program.map.flush();
            System.out.println(overflows + " overflows, then " + program.map.getLong(128));
            program.node.close();
        }

        @SuppressWarnings("InfiniteRecursion") // intended: fills the stack
        private void descend(String operation) throws IOException {
            switch (operation) {
                case "flush" -> map.putLongRelease(0, 1);
                case "write" -> sequence.write(64, message, ofSeconds(5));
                case "copy" -> map.copyFrom(message, 64);
                case "trigger" -> interrupt.trigger();
                case "probe" -> node.probe(8);
                default -> node.cacheLineBytes();
            }
            descend(operation);
        }
    }
}
