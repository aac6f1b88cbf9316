package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests flush requests ({@code ibv_wr_flush}) for data that was written to the memory of a peer.
 */
class FlushRequestTest {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Access[] RIGHTS = {
        Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.FLUSH_GLOBAL
    };

    private final Fabric fabric = Fabric.underTest();

    private Pair pair(Access... access) throws VerbsException {
        fabric.needs(Feature.FLUSHES);
        return Pair.connected(
                DirectConnectOptions.DEFAULT.access(access), options -> options.flushes());
    }

    private static MemoryRegion region(Pair pair, Access... access) throws VerbsException {
        return pair.right().domain().newArena(access).region(1 << 16);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCompleteAfterThePrecedingWrite(boolean wholeRegion) throws VerbsException {
        try (var pair = pair(RIGHTS)) {
            var left = pair.left();
            var region = region(pair, RIGHTS);
            left.fill(9);
            var remote = region.remote().slice(100, 30_000);
            var write = left.queuePair().prepareWrite(left.region().slice(0, 30_000), remote);
            var flush =
                    wholeRegion
                            ? left.queuePair().prepareRegionFlush(remote, FlushPlacement.GLOBAL)
                            : left.queuePair().prepareFlush(remote, FlushPlacement.GLOBAL);

            left.post(write.signaled(false));
            left.post(flush.id(2));
            var completed = left.take(1).getFirst();

            assertThat(completed.id()).isEqualTo(2);
            assertThat(completed.completion().isSuccess()).isTrue();
            assertThat(completed.completion().kind()).isEqualTo(CompletionKind.FLUSH);
            assertThat(region.segment().asSlice(100, 30_000).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(9);
        }
    }

    @Test
    void shouldCompleteAsAnAsyncOperation() throws Exception {
        fabric.needs(Feature.FLUSHES);
        fabric.needs(Feature.COMPLETION_EVENTS);
        try (var device = fabric.open()) {
            var domain = device.newProtectionDomain();
            var remote = domain.newArena(RIGHTS).region(64).remote();
            var queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(device.newCompletionDispatcher(32))
                                    .flushes());
            queuePair.connect(queuePair.endpoint(), DirectConnectOptions.DEFAULT.access(RIGHTS));

            assertThat(queuePair.flush(remote, FlushPlacement.GLOBAL).await(LONG).isSuccess())
                    .isTrue();
            assertThat(
                            queuePair
                                    .flushRegion(remote.slice(8, 8), FlushPlacement.GLOBAL)
                                    .await(LONG)
                                    .isSuccess())
                    .isTrue();
        }
    }

    @Test
    void shouldFailForARegionWithoutFlushAccess() throws VerbsException {
        try (var pair = pair(RIGHTS)) {
            var region = region(pair, Access.LOCAL_WRITE, Access.REMOTE_WRITE);

            assertRefused(pair, region.remote(), FlushPlacement.GLOBAL);
        }
    }

    @Test
    void shouldFailForAPlacementThatTheRegionDoesNotAllow() throws VerbsException {
        try (var pair =
                pair(
                        Access.LOCAL_WRITE,
                        Access.REMOTE_WRITE,
                        Access.FLUSH_GLOBAL,
                        Access.FLUSH_PERSISTENT)) {
            assertRefused(pair, region(pair, RIGHTS).remote(), FlushPlacement.PERSISTENT);
        }
    }

    private static void assertRefused(Pair pair, RemoteMemory remote, FlushPlacement placement)
            throws VerbsException {
        var left = pair.left();
        assertThat(left.complete(left.queuePair().prepareFlush(remote, placement)).status())
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldFailForAQueuePairWithoutFlushAccess() throws VerbsException {
        try (var pair = pair(Access.LOCAL_WRITE, Access.REMOTE_WRITE)) {
            var left = pair.left();
            var remote = region(pair, RIGHTS).remote();

            assertThat(
                            left.complete(
                                            left.queuePair()
                                                    .prepareFlush(remote, FlushPlacement.GLOBAL))
                                    .status())
                    .isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST);
        }
    }

    @Test
    void shouldRejectAFlushWithoutPlacementOrBeyondTheMemory() throws VerbsException {
        try (var pair = pair(RIGHTS)) {
            var queuePair = pair.left().queuePair();
            var remote = pair.right().region().remote();
            var flush = queuePair.prepareFlush(remote, FlushPlacement.GLOBAL);
            var huge = new RemoteMemory(0, remote.key(), 5L << 30);

            assertThatThrownBy(() -> queuePair.prepareFlush(remote))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> flush.range(1, remote.length()))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> queuePair.prepareFlush(huge, FlushPlacement.GLOBAL))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("whole region");
            assertThat(queuePair.prepareRegionFlush(huge, FlushPlacement.GLOBAL)).isNotNull();
        }
    }

    @Test
    void shouldRequireAQueuePairCreatedWithFlushes() throws VerbsException {
        try (var pair = Pair.connected()) {
            var remote = pair.right().region().remote();
            assertThatThrownBy(() ->
                            pair.left().queuePair().prepareFlush(remote, FlushPlacement.GLOBAL))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("flushes()");
        }
    }

    @Test
    void shouldReportThatFlushesAreNotSupported() throws VerbsException {
        fabric.needsLackOf(Feature.FLUSHES);
        fabric.needs(Feature.MOVING_DATA);
        try (var device = fabric.open();
                var completions = device.newCompletionQueue(16);
                var domain = device.newProtectionDomain()) {
            var options = QueuePairOptions.reliable(completions).flushes();

            assertThatThrownBy(() -> domain.newQueuePair(options))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageEndingWith(
                            "The device does not support extended posts for this queue pair type,"
                                    + " or it does not support all of [FLUSH].");
        }
    }
}
