package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.processes.Program;
import org.jrdma.processes.Programs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the examples on the devices of a guest. The script system-tests/guest/examples-test runs
 * these tests.
 */
@Tag("real-kernel")
class RealKernelTest {

    private static final int PORT = 18515;
    private static final String SERVER = "10.77.0.1";
    private static final List<String> DEVICE = List.of("-d", "rxe0", "-g", "1");

    private static Program example(String name, List<String> arguments) throws IOException {
        var command = new ArrayList<>(List.of("example", name));
        command.addAll(arguments);
        return Programs.launch(command.toArray(String[]::new));
    }

    /** Notifies the server by messages only on iWARP, which has no immediate data. */
    @ParameterizedTest
    @CsvSource({"10.77.0.1, false", "10.77.1.1, true"})
    void shouldNotifyAServerOfWrittenData(String address, boolean byMessagesOnly) throws Exception {
        var clientArguments = byMessagesOnly ? List.of("-m", address) : List.of(address);
        try (var server = example("write-notify", List.of())) {
            server.awaitOutput("waiting at");
            try (var client = example("write-notify", clientArguments)) {
                assertThat(client.await()).as(client.output()).isZero();
            }
            assertThat(server.await()).as(server.output()).isZero();
            assertThat(server.output()).contains("\"Saluton, mondo 3\", notified by a message");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "simple-rdma-write, -d rxe0 -g 1 -p 9, 'No program listens on port 9 of 10.77.0.1: Connection refused'",
        "simple-rdma-write, -d rxe7, 'no RDMA device named rxe7. Available devices: rxe0, siw0.'",
    })
    void shouldReportTheCause(String name, String options, String message) throws Exception {
        var arguments = new ArrayList<>(List.of(options.split(" ")));
        arguments.add(SERVER);
        try (var program = example(name, arguments)) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).contains(message).doesNotContain("\tat ");
        }
    }

    @Test
    void shouldLoseNoIncrementMadeAtomicallyOrUnderALock() throws Exception {
        var arguments = new ArrayList<>(DEVICE);
        arguments.addAll(List.of("-n", "50"));
        try (var owner = example("atomics", arguments)) {
            owner.awaitListening(PORT);
            arguments.add(SERVER);
            try (var client = example("atomics", arguments)) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(owner.await()).as(owner.output()).isZero();
                assertThat(owner.output())
                        .containsPattern("\nwith a lock: +100\n")
                        .containsPattern("\nfetch-and-add: +100\n");
            }
        }
    }

    @Test
    void shouldReachAllMembersOfAGroup() throws Exception {
        try (var first = example("ud-multicast", DEVICE);
                var second = example("ud-multicast", DEVICE)) {
            first.awaitOutput("waiting in the group");
            second.awaitOutput("waiting in the group");
            var arguments = new ArrayList<>(DEVICE);
            arguments.add("Saluton, mondo");
            try (var sender = example("ud-multicast", arguments)) {
                assertThat(sender.await()).as(sender.output()).isZero();
            }
            for (var receiver : List.of(first, second)) {
                assertThat(receiver.await()).as(receiver.output()).isZero();
                assertThat(receiver.output())
                        .contains("received \"Saluton, mondo\" from ::ffff:10.77.0.1");
            }
        }
    }

    @Test
    void shouldWriteATextIntoTheOtherProcess() throws Exception {
        try (var writer = example("simple-rdma-write", DEVICE)) {
            writer.awaitListening(PORT);
            var arguments = new ArrayList<>(DEVICE);
            arguments.add(SERVER);
            try (var watcher = example("simple-rdma-write", arguments)) {
                assertThat(watcher.await()).as(watcher.output()).isZero();
                assertThat(writer.await()).as(writer.output()).isZero();
                assertThat(watcher.output()).contains("found \"Saluton, mondo\"");
                assertThat(writer.output()).contains("wrote \"Saluton, mondo\"");
            }
        }
    }
}
