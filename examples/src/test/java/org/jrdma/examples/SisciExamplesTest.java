package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jrdma.examples.borrowdevice.BorrowDevice;
import org.jrdma.examples.dmatransfer.TransferByDma;
import org.jrdma.examples.messagequeue.MessageQueue;
import org.jrdma.examples.piopingpong.PioPingPong;
import org.jrdma.examples.reflectivememory.ReflectiveMemory;
import org.jrdma.examples.remoteinterrupt.TriggerInterrupt;
import org.jrdma.examples.sharedsegment.SharedSegment;
import org.jrdma.processes.Program;
import org.jrdma.processes.Programs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the SISCI examples on the software fabric. Each side runs in a separate process. */
@Tag("slow")
class SisciExamplesTest {

    private static final String FIRST_LINE = "This runs on the software fabric, as requested.\n";
    private static final Pattern WAITING =
            Pattern.compile("waiting on node (\\d+), until \\d\\d:\\d\\d");

    private static final boolean QUICK = Boolean.getBoolean("jrdma.test.quick");

    private Path folder;

    @BeforeEach
    void createFabric() throws IOException {
        folder = Files.createTempDirectory(Path.of("/dev/shm"), "sisci-examples");
    }

    @AfterEach
    void deleteEmptyFabric() throws IOException {
        Files.delete(folder);
    }

    private Program start(Class<?> example, boolean weak, String... arguments) throws IOException {
        return Programs.example(
                List.of("-Djrdma.sisci.fabric=" + folder, "-Djrdma.sisci.weak=" + weak),
                example,
                Stream.concat(Stream.of("-f", "software"), Stream.of(arguments))
                        .toArray(String[]::new));
    }

    private static String node(Program waiting) throws IOException, InterruptedException {
        waiting.awaitOutput("waiting on node");
        return WAITING.matcher(waiting.output()).results().findFirst().orElseThrow().group(1);
    }

    private static void assertPrints(Program program, String regex) throws Exception {
        assertThat(program.await()).as(program.output()).isZero();
        assertThat(program.output()).startsWith(FIRST_LINE).containsPattern(regex);
    }

    static Stream<Arguments> pairs() {
        return Stream.of(
                        arguments(
                                SharedSegment.class,
                                "found \"Saluton, mondo\"",
                                "stored \"Saluton, mondo\""),
                        arguments(
                                PioPingPong.class,
                                "sent back 200 times",
                                "200 rounds, [\\d.]+ us each"),
                        arguments(
                                TransferByDma.class,
                                "1,048,576 bytes are right",
                                "pushed 1,048,576 bytes in [\\d,]+ us\npulled them back"),
                        arguments(
                                TriggerInterrupt.class,
                                "received \"200 interrupts follow\"\nwas interrupted 200 times",
                                "triggered 200 times"),
                        arguments(
                                MessageQueue.class,
                                "received 200 messages",
                                "sent 200 messages, [\\d.]+ us each"))
                .flatMap(pair ->
                        weakMemory()
                                .map(weak ->
                                        arguments(
                                                pair.get()[0],
                                                pair.get()[1],
                                                pair.get()[2],
                                                weak)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void shouldRunBothSidesToTheEnd(Class<?> example, String waiter, String caller, boolean weak)
            throws Exception {
        try (var waiting = start(example, weak);
                var calling = start(example, weak, callerArguments(example, node(waiting)))) {
            assertPrints(calling, caller);
            assertPrints(waiting, waiter);
        }
    }

    /**
     * Returns the arguments of the side that connects. Two of the examples have no option for the
     * number of repetitions.
     */
    private static String[] callerArguments(Class<?> example, String node) {
        return example == SharedSegment.class || example == TransferByDma.class
                ? new String[] {node}
                : new String[] {"-n", "200", node};
    }

    @Test
    void shouldReportImmediatelyWhichNodesItConnectsTo() throws Exception {
        try (var early = start(SharedSegment.class, false, "248")) {
            early.awaitOutput("connecting to node 248, until ");
        }
        try (var early = start(ReflectiveMemory.class, false, "Saluton")) {
            early.awaitOutput("connecting to a member of group 1, until ");
        }
        try (var next = start(SharedSegment.class, false, "300")) {
            assertThat(next.await()).isEqualTo(1); // also deletes the files of the killed processes
            assertThat(next.output())
                    .contains(
                            "node 300",
                            "Node ids are multiples of 4",
                            "highest id of the software fabric is 248")
                    .doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @MethodSource("weakMemory")
    void shouldUseADeviceOfAnotherProcess(boolean weak) throws Exception {
        try (var lender = Programs.example(List.of(), EduLender.class, folder.toString())) {
            lender.awaitOutput("lends device 0x401\n");

            try (var borrower = start(BorrowDevice.class, weak)) {
                assertPrints(
                        borrower,
                        "borrowed device 0x401, .+0x010000ed\n(\\d+! = .+\n){11}12! = 479,001,600\ncopied 4,096 bytes to the device and back\n$");
            }
        }
        try (var next = start(BorrowDevice.class, weak)) { // deletes the files of the lender
            assertThat(next.await()).isEqualTo(1);
            assertThat(next.output())
                    .isEqualTo(
                            FIRST_LINE
                                    + "No node lends the device edu. On another node: jrdma lend edu\n");
        }
    }

    static Stream<Boolean> weakMemory() {
        return Stream.of(false, true).limit(QUICK ? 1 : 2);
    }

    @ParameterizedTest
    @MethodSource("weakMemory")
    void shouldReachAllNodesWithOneStore(boolean weak) throws Exception {
        try (var first = start(ReflectiveMemory.class, weak);
                var second = start(ReflectiveMemory.class, weak)) {
            assertThat(node(first)).isNotEqualTo(node(second));
            try (var third = start(ReflectiveMemory.class, weak, "Saluton al vi")) {
                assertPrints(third, "stored \"Saluton al vi\" for all");
                assertPrints(first, "found \"Saluton al vi\"");
                assertPrints(second, "found \"Saluton al vi\"");
            }
        }
    }

    @Test
    void shouldUseTheSoftwareFabricWithoutALibrary() throws Exception {
        try (var program =
                Programs.example(List.of("-Djrdma.sisci.fabric=" + folder), SharedSegment.class)) {
            program.awaitOutput("waiting on node");

            assertThat(program.output())
                    .startsWith(
                            "This runs on the software fabric, because this machine has no libsisci.\n");
        }
        try (var next = start(SharedSegment.class, false, "none")) {
            assertThat(next.await()).isEqualTo(2);
            assertThat(next.output())
                    .contains(
                            "\"none\" is not a whole number from 0 to 2147483647", " See --help.");
        }
        try (var next = start(SharedSegment.class, false, "300")) {
            assertThat(next.await()).isEqualTo(1); // also deletes the files of the killed processes
        }
    }

    static Stream<Class<?>> examples() {
        var all =
                Stream.<Class<?>>of(
                        SharedSegment.class,
                        PioPingPong.class,
                        TransferByDma.class,
                        TriggerInterrupt.class,
                        ReflectiveMemory.class,
                        MessageQueue.class,
                        BorrowDevice.class);
        return all.limit(QUICK ? 1 : 7);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void shouldReportTheMissingLibraryAndTheAlternatives(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-f", "system")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output())
                    .contains("libsisci.so", "/opt/DIS/lib64", "software")
                    .doesNotContain("\tat ");
        }
        try (var program = Programs.example(example, "--help")) {
            assertThat(program.await()).isZero();
            assertThat(program.output()).startsWith("usage: ").contains("-f, --fabric=FABRIC");
        }
        try (var program = Programs.example(example, "-x")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output())
                    .contains("Unknown option: '-x'", " See --help.")
                    .hasLineCount(1);
        }
    }
}
