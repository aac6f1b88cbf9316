package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class AcceptExecutorTest {

    private static final InetAddress HOSTILE = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("192.0.2.2");

    private static final int MAX_OF_ONE_NETWORK = AcceptExecutor.MAX_WAITING / 2;

    /** The tasks that free threads would run. */
    private final Queue<Runnable> threads = new ArrayDeque<>();

    private final AcceptExecutor executor = new AcceptExecutor(this::start, 2);
    private boolean outOfMemory;
    private final List<String> executed = new ArrayList<>();

    private void start(Runnable task) {
        if (outOfMemory) {
            throw new OutOfMemoryError("of the test");
        }
        threads.add(task);
    }

    private void runAll() {
        for (var task = threads.poll(); task != null; task = threads.poll()) {
            task.run();
        }
    }

    @Test
    void shouldNotDelayAClientByTheClientsAtAnotherAddress() {
        for (var i = 0; i < 10; i++) {
            assertThat(executor.tryExecute(HOSTILE, () -> executed.add("hostile"))).isTrue();
        }
        assertThat(executor.tryExecute(OTHER, () -> executed.add("other"))).isTrue();

        assertThat(threads).hasSize(3);
        runAll();

        assertThat(executed).hasSize(11).startsWith("hostile", "hostile", "other");
    }

    @Test
    void shouldRejectMoreAcceptsThanTheLimitUntilSomeHaveRun() {
        for (var i = 0; i < MAX_OF_ONE_NETWORK; i++) {
            assertThat(executor.tryExecute(HOSTILE, () -> executed.add("hostile"))).isTrue();
        }
        assertThat(executor.tryExecute(HOSTILE, () -> {})).isFalse();
        assertThat(executor.tryExecute(OTHER, () -> {})).isTrue();

        runAll();

        assertThat(executed).hasSize(MAX_OF_ONE_NETWORK);
        assertThat(executor.tryExecute(HOSTILE, () -> {})).isTrue();
    }

    @Test
    void shouldRunTheWaitingAcceptsIfNoThreadCanBeStarted() {
        for (var i = 0; i < 5; i++) {
            var number = "" + i;
            assertThat(executor.tryExecute(HOSTILE, () -> executed.add(number))).isTrue();
        }
        outOfMemory = true;

        runAll();

        assertThat(executed).containsExactly("0", "1", "2", "3", "4");
    }

    @Test
    void shouldNotKeepAnAcceptForWhichNoThreadCanBeStarted() {
        outOfMemory = true;
        assertThatThrownBy(() -> executor.tryExecute(HOSTILE, () -> executed.add("failed")))
                .isInstanceOf(OutOfMemoryError.class);
        outOfMemory = false;
        assertThat(executor.tryExecute(HOSTILE, () -> executed.add("next"))).isTrue();

        runAll();

        assertThat(executed).containsExactly("next");
    }

    /** A host can use any number of addresses of its network. */
    @Test
    void shouldLimitTheAcceptsOfAnIpv6NetworkLikeThoseOfOneAddress() {
        for (var i = 0; i < MAX_OF_ONE_NETWORK; i++) {
            var address = InetAddress.ofLiteral("2001:db8::" + Integer.toHexString(i));
            assertThat(executor.tryExecute(address, () -> {})).isTrue();
        }

        assertThat(executor.tryExecute(InetAddress.ofLiteral("2001:db8::1:0:0:1"), () -> {}))
                .isFalse();
        assertThat(executor.tryExecute(InetAddress.ofLiteral("2001:db8:0:1::1"), () -> {}))
                .isTrue();
        assertThat(threads).hasSize(3);
    }

    @Test
    void shouldLimitTheAcceptsOfAllClients() {
        for (var i = 0; i < AcceptExecutor.MAX_WAITING; i++) {
            var address = InetAddress.ofLiteral("192.0." + (i >> 8 & 0xff) + "." + (i & 0xff));
            assertThat(executor.tryExecute(address, () -> {})).isTrue();
        }

        assertThat(executor.tryExecute(InetAddress.ofLiteral("198.51.100.1"), () -> {})).isFalse();
        runAll();
        assertThat(executor.tryExecute(InetAddress.ofLiteral("198.51.100.1"), () -> {})).isTrue();
    }

    @Test
    void shouldKeepPlacesForOtherNetworksIfSeveralSendManyRequests() {
        for (var host = 1; host <= 4; host++) {
            var address = InetAddress.ofLiteral("192.0.2." + host);
            for (var accepted = true; accepted; ) {
                accepted = executor.tryExecute(address, () -> {});
            }
        }

        var other = InetAddress.ofLiteral("198.51.100.1");
        for (var i = 0; i < AcceptExecutor.MAX_WAITING / 32; i++) {
            assertThat(executor.tryExecute(other, () -> {})).isTrue();
        }
    }

    @Test
    void shouldRunTheNextAcceptIfOneFails() {
        executor.tryExecute(
                HOSTILE,
                () -> {
                    throw new IllegalStateException("thrown by an accept, on purpose");
                });
        executor.tryExecute(HOSTILE, () -> executed.add("next"));
        executor.tryExecute(HOSTILE, () -> executed.add("last"));
        try {
            threads.remove().run();
        } catch (IllegalStateException e) {
            // A thread pool replaces the thread.
        }

        runAll();

        assertThat(executed).containsExactly("next", "last");
    }
}
