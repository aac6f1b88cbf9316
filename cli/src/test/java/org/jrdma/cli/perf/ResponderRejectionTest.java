package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that the responder rejects invalid requests. */
class ResponderRejectionTest {

    /** The watchdog may run at the moment at which a request ends. */
    @Test
    void shouldNotInterruptTheThreadAfterTheEndOfARequest() {
        var limit = new Responder.TimeLimit();
        assertThat(limit.end()).isFalse();
        limit.run();
        assertThat(Thread.interrupted()).isFalse();

        var exceeded = new Responder.TimeLimit();
        exceeded.run();
        assertThat(exceeded.end()).isTrue();
        assertThat(Thread.interrupted()).isFalse();
    }

    private static final List<Path> PATHS =
            List.of(
                    new Path(
                            "idle",
                            "nothing",
                            1,
                            64,
                            false,
                            Optional.empty(),
                            (_, _, _) -> new NoOpLink()),
                    new Path(
                            "gone",
                            "less",
                            1,
                            64,
                            false,
                            Optional.of("it broke"),
                            (_, _, _) -> new NoOpLink()));

    private ControlChannelPair sides;
    private ControlChannel measuringSide;
    private ControlChannel respondingSide;

    @BeforeEach
    void connect() throws Exception {
        sides = ControlChannelPair.connected();
        measuringSide = sides.here();
        respondingSide = sides.there();
    }

    @AfterEach
    void disconnect() throws Exception {
        sides.close();
    }

    @ParameterizedTest
    @CsvSource({
        "GET / HTTP/1.1, same version",
        "open idle x, same version",
        "open idle -1, same version",
        "open idle 4294967295, same version",
        "open other 8, There is no path \"other\"",
        "open gone 8, it broke",
        "open idle 65, does not support messages of 65 bytes"
    })
    void shouldReportWhyItRejectsARequest(String request, String reason) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var responding =
                    threads.submit(() -> {
                        new Responder(respondingSide, PATHS).run();
                        return null;
                    });
            assertThatIOException()
                    .isThrownBy(() -> measuringSide.exchange(request))
                    .withMessageContaining(reason);
            assertThat(responding).failsWithin(ControlChannel.TIMEOUT);
        }
    }

    @ParameterizedTest
    @CsvSource({"exchange 9 1, exceed the agreed maximum", "dance 8 1, same version"})
    void shouldRejectAnInvalidRequestForAnOpenPath(String request, String reason) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var responding =
                    threads.submit(() -> {
                        new Responder(respondingSide, PATHS).run();
                        return null;
                    });
            assertThat(measuringSide.exchange("open idle 8")).isEqualTo(MeasuringSide.DONE);

            assertThatIOException()
                    .isThrownBy(() -> {
                        measuringSide.exchange(request);
                        measuringSide.receive();
                    })
                    .withMessageContaining(reason);
            assertThat(responding).failsWithin(ControlChannel.TIMEOUT);
        }
    }

    @Test
    void shouldRejectALineThatIsTooLong() throws Exception {
        measuringSide.send("open idle 8 ".repeat(ControlChannel.MAX_LINE));

        assertThatIOException()
                .isThrownBy(() -> respondingSide.receive())
                .withMessageContaining("more than 1024 bytes");
    }

    @Test
    void shouldReplaceControlCharacters() throws Exception {
        measuringSide.send("\u001b[2J\u0007\u009bm\u202e");

        assertThat(respondingSide.receive()).isEqualTo("?[2J??m?");
    }

    @Test
    void shouldTruncateAFailureToTheLongestLine() throws Exception {
        measuringSide.sendFailure(new IOException("\u20ac".repeat(ControlChannel.MAX_LINE)));
        measuringSide.sendFailure(new IllegalStateException());

        assertThatIOException()
                .isThrownBy(() -> respondingSide.receive())
                .withMessageContaining("\u20ac".repeat(100));
        assertThatIOException()
                .isThrownBy(() -> respondingSide.receive())
                .withMessageContaining("IllegalStateException");
    }

    @Test
    void shouldRejectAMessageThatArrivesTooSlowly() throws Exception {
        try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var slow = new Socket(listener.getInetAddress(), listener.getLocalPort());
                var channel = new ControlChannel(listener.accept());
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var sending =
                    threads.submit(() -> {
                        while (true) {
                            slow.getOutputStream().write('x');
                            Thread.sleep(10);
                        }
                    });

            assertThatIOException()
                    .isThrownBy(() -> channel.receive(Duration.ofMillis(100)))
                    .withMessage("The peer sent no message within 100 ms.");
            sending.cancel(true);
        }
    }

    @Test
    void shouldEndARequestThatTakesTooLong() throws Exception {
        var stalled =
                new LinkEnd() {
                    @Override
                    public void exchange(int bytes) {}

                    @Override
                    public void answer(int bytes, int count) throws IOException {
                        SpinWait.until(() -> false); // the peer does not send its messages
                    }

                    @Override
                    public void stream(int bytes, int count) {}

                    @Override
                    public void close() {}
                };
        var path =
                new Path("idle", "nothing", 1, 64, false, Optional.empty(), (_, _, _) -> stalled);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var responding =
                    threads.submit(() -> {
                        new Responder(respondingSide, List.of(path), Duration.ofMillis(100)).run();
                        return null;
                    });
            assertThat(measuringSide.exchange("open idle 8")).isEqualTo(MeasuringSide.DONE);
            assertThat(measuringSide.exchange("exchange 8 1")).isEqualTo(MeasuringSide.DONE);

            assertThatIOException()
                    .isThrownBy(() -> measuringSide.receive(Duration.ofSeconds(20)))
                    .withMessage("The peer reports: The request was not complete within 100 ms.");
            assertThat(responding).failsWithin(ControlChannel.TIMEOUT);
        }
    }

    @Test
    void shouldEndWhenThePathIsClosed() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var responding =
                    threads.submit(() -> {
                        new Responder(respondingSide, PATHS).run();
                        return null;
                    });
            try (var meter = MeasuringSide.open(measuringSide, PATHS.getFirst(), 8)) {
                assertThat(meter.measureOnce(8, Duration.ofMillis(5)).latency().samples())
                        .isPositive();
            }
            assertThat(responding).succeedsWithin(ControlChannel.TIMEOUT);
        }
    }
}
