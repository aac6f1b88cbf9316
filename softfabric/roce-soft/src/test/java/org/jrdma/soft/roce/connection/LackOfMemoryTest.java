package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests connection managers in which allocations fail at random: no event may be lost or reported
 * twice, because a program might wait for it forever.
 */
class LackOfMemoryTest {

    private static final int ROUNDS = 200;

    @ParameterizedTest
    @ValueSource(doubles = {0.02, 0.1})
    void shouldReportEachEventOnce(double probability) {
        for (var seed = 0; seed < ROUNDS; seed++) {
            var world = new World();
            var listener = world.there.listen(8);
            var random = new Random(seed);
            world.memoryLacks = () -> random.nextDouble() < probability;

            var caller = new World.Peer[1];
            retry(
                    world,
                    () -> {
                        caller[0] = world.here.connect(world.there, 17, "");
                    });
            advanceUntil(world, () -> !listener.requests.isEmpty());
            var called = listener.requests.getFirst();
            retry(world, () -> called.reply(34, ""));
            advanceUntil(world, () -> !caller[0].events.isEmpty());
            retry(world, () -> caller[0].connection().confirm());
            advanceUntil(world, () -> !called.events.isEmpty());
            retry(world, () -> caller[0].connection().disconnect());
            advanceUntil(world, () -> called.events.size() == 2);
            retry(world, () -> called.connection().disconnect());
            world.advance(100_000);

            assertThat(listener.requests).hasSize(1);
            assertThat(caller[0].eventNames())
                    .containsExactly("Replied", "Disconnected", "TimeWaitExited");
            assertThat(called.eventNames())
                    .containsExactly("Established", "Disconnected", "TimeWaitExited");
            assertThat(world.here.manager.size()).isZero();
            assertThat(world.there.manager.size()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.1, 0.5, 0.9})
    void shouldReportThatAPeerIsUnreachable(double probability) {
        for (var seed = 0; seed < ROUNDS; seed++) {
            var world = new World();
            var random = new Random(seed);
            world.memoryLacks = () -> random.nextDouble() < probability;
            world.lose(_ -> true);
            var caller = new World.Peer[1];
            retry(
                    world,
                    () -> {
                        caller[0] = world.here.connect(world.there, 17, "");
                    });

            world.advance(100_000);

            assertThat(caller[0].eventNames()).containsExactly("Unreachable");
            assertThat(world.here.manager.size()).isZero();
        }
    }

    /** Closing must not fail, because the program cannot repeat it. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldForgetAConnectionThatIsClosedInAnyState(int steps) {
        var world = new World();
        var listener = world.there.listen(8);
        var caller = world.here.connect(world.there, 17, "");
        world.deliver();
        var called = listener.requests.getFirst();
        if (steps > 0) {
            called.reply(34, "");
            world.deliver();
        }
        if (steps > 1) {
            caller.connection().confirm();
            world.deliver();
        }
        if (steps > 2) {
            caller.connection().disconnect();
            world.deliver();
        }
        world.memoryLacks = () -> true;

        called.connection().close();
        caller.connection().close();

        world.memoryLacks = () -> false;
        world.advance(200_000);
        assertThat(world.here.manager.size()).isZero();
        assertThat(world.there.manager.size()).isZero();
    }

    private static void advanceUntil(World world, BooleanSupplier condition) {
        for (var i = 0; i < 10_000 && !condition.getAsBoolean(); i++) {
            world.advance(10);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    /**
     * Performs an action of a program. The program repeats the action until memory is available.
     */
    private static void retry(World world, Runnable action) {
        while (true) {
            try {
                action.run();
                return;
            } catch (OutOfMemoryError e) {
                world.advance(1);
            }
        }
    }
}
