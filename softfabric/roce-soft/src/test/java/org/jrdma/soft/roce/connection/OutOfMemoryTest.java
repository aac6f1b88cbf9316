package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests connection managers in which allocations fail at random. No event may be reported twice or
 * lost, because a program might wait forever for a lost event.
 */
class OutOfMemoryTest {

    private static final int ROUNDS = 200;

    @ParameterizedTest
    @ValueSource(doubles = {0.02, 0.1})
    void shouldReportEachEventOnce(double probability) {
        for (var seed = 0; seed < ROUNDS; seed++) {
            var network = new SimulatedNetwork();
            var listener = network.there.listen(8);
            var random = new Random(seed);
            network.isMemoryExhausted = () -> random.nextDouble() < probability;

            var caller = new SimulatedNetwork.Peer[1];
            retry(
                    network,
                    () -> {
                        caller[0] = network.here.connect(network.there, 17, "");
                    });
            advanceUntil(network, () -> !listener.requests.isEmpty());
            var called = listener.requests.getFirst();
            retry(network, () -> called.reply(34, ""));
            advanceUntil(network, () -> !caller[0].events.isEmpty());
            retry(network, () -> caller[0].connection().confirm());
            advanceUntil(network, () -> !called.events.isEmpty());
            retry(network, () -> caller[0].connection().disconnect());
            advanceUntil(network, () -> called.events.size() == 2);
            retry(network, () -> called.connection().disconnect());
            network.advance(100_000);

            assertThat(listener.requests).hasSize(1);
            assertThat(caller[0].eventNames())
                    .containsExactly("Replied", "Disconnected", "TimeWaitExited");
            assertThat(called.eventNames())
                    .containsExactly("Established", "Disconnected", "TimeWaitExited");
            assertThat(network.here.manager.size()).isZero();
            assertThat(network.there.manager.size()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.1, 0.5, 0.9})
    void shouldReportThatAPeerIsUnreachable(double probability) {
        for (var seed = 0; seed < ROUNDS; seed++) {
            var network = new SimulatedNetwork();
            var random = new Random(seed);
            network.isMemoryExhausted = () -> random.nextDouble() < probability;
            network.lose(_ -> true);
            var caller = new SimulatedNetwork.Peer[1];
            retry(
                    network,
                    () -> {
                        caller[0] = network.here.connect(network.there, 17, "");
                    });

            network.advance(100_000);

            assertThat(caller[0].eventNames()).containsExactly("Unreachable");
            assertThat(network.here.manager.size()).isZero();
        }
    }

    /** Closing must not fail, because the program cannot repeat it. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldForgetAConnectionThatIsClosedInAnyState(int steps) {
        var network = new SimulatedNetwork();
        var listener = network.there.listen(8);
        var caller = network.here.connect(network.there, 17, "");
        network.deliver();
        var called = listener.requests.getFirst();
        if (steps > 0) {
            called.reply(34, "");
            network.deliver();
        }
        if (steps > 1) {
            caller.connection().confirm();
            network.deliver();
        }
        if (steps > 2) {
            caller.connection().disconnect();
            network.deliver();
        }
        network.isMemoryExhausted = () -> true;

        called.connection().close();
        caller.connection().close();

        network.isMemoryExhausted = () -> false;
        network.advance(200_000);
        assertThat(network.here.manager.size()).isZero();
        assertThat(network.there.manager.size()).isZero();
    }

    private static void advanceUntil(SimulatedNetwork network, BooleanSupplier condition) {
        for (var i = 0; i < 10_000 && !condition.getAsBoolean(); i++) {
            network.advance(10);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    /**
     * Performs an action of a program. The program repeats the action until memory is available.
     */
    private static void retry(SimulatedNetwork network, Runnable action) {
        while (true) {
            try {
                action.run();
                return;
            } catch (OutOfMemoryError e) {
                network.advance(1);
            }
        }
    }
}
