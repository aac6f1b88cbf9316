package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The serving side, faced with what it must refuse. */
class HelperTest {

    private static final List<Path> PATHS =
            List.of(
                    new Path(
                            "idle",
                            "nothing",
                            1,
                            64,
                            false,
                            Optional.empty(),
                            (_, _, _) -> new Idle()),
                    new Path(
                            "gone",
                            "less",
                            1,
                            64,
                            false,
                            Optional.of("it broke"),
                            (_, _, _) -> new Idle()));

    private BothSides sides;
    private ControlChannel here;
    private ControlChannel there;

    @BeforeEach
    void connect() throws Exception {
        sides = BothSides.connected();
        here = sides.here();
        there = sides.there();
    }

    @AfterEach
    void disconnect() throws Exception {
        sides.close();
    }

    @ParameterizedTest
    @CsvSource({
        "GET / HTTP/1.1, is it a jrdma of this version",
        "open idle x, is it a jrdma of this version",
        "open idle -1, is it a jrdma of this version",
        "open idle 4294967295, is it a jrdma of this version",
        "open other 8, There is no \"other\"",
        "open gone 8, it broke",
        "open idle 65, does not move 65 bytes"
    })
    void shouldSayWhyItDoesNotHelp(String order, String reason) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var helping =
                    threads.submit(() -> {
                        new Helper(there, PATHS).help();
                        return null;
                    });
            assertThatIOException()
                    .isThrownBy(() -> here.swap(order))
                    .withMessageContaining(reason);
            assertThat(helping).failsWithin(ControlChannel.PATIENCE);
        }
    }

    @ParameterizedTest
    @CsvSource({"exchange 9 1, more than was said", "dance 8 1, is it a jrdma of this version"})
    void shouldEndAPathWhenAskedForWhatWasNotAgreed(String order, String reason) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var helping =
                    threads.submit(() -> {
                        new Helper(there, PATHS).help();
                        return null;
                    });
            assertThat(here.swap("open idle 8")).isEqualTo(Meter.DONE);

            assertThatIOException()
                    .isThrownBy(() -> {
                        here.swap(order);
                        here.hear();
                    })
                    .withMessageContaining(reason);
            assertThat(helping).failsWithin(ControlChannel.PATIENCE);
        }
    }

    /** From somebody who could be anybody. */
    @Test
    void shouldNotHearALineWithoutAnEnd() throws Exception {
        here.say("open idle 8 ".repeat(ControlChannel.LONGEST_LINE));

        assertThatIOException()
                .isThrownBy(() -> there.hear())
                .withMessageContaining("says too much");
    }

    @Test
    void shouldNotHearWhatATerminalWouldObey() throws Exception {
        here.say("\u001b[2J\u0007\u009bm");

        assertThat(there.hear()).isEqualTo("?[2J??m");
    }

    @Test
    void shouldSayAReasonThatTheOtherSideCanHear() throws Exception {
        here.sayFailure(new IOException("\u20ac".repeat(ControlChannel.LONGEST_LINE)));
        here.sayFailure(new IllegalStateException());

        assertThatIOException()
                .isThrownBy(() -> there.hear())
                .withMessageContaining("\u20ac".repeat(100));
        assertThatIOException()
                .isThrownBy(() -> there.hear())
                .withMessageContaining("IllegalStateException");
    }

    @Test
    void shouldEndWhenNobodyCanCall() throws Exception {
        var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        listener.close();

        assertThatIOException()
                .isThrownBy(() ->
                        Measuring.serve(listener, PATHS, new PrintWriter(Writer.nullWriter())));
    }

    @Test
    void shouldBeDoneWhenThePathIsClosed() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var helping =
                    threads.submit(() -> {
                        new Helper(there, PATHS).help();
                        return null;
                    });
            try (var meter = Meter.open(here, PATHS.getFirst(), 8)) {
                assertThat(meter.measure(8, java.time.Duration.ofMillis(5)).latency().samples())
                        .isPositive();
            }
            assertThat(helping).succeedsWithin(ControlChannel.PATIENCE);
        }
    }
}
