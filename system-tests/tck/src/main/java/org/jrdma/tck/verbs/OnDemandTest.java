package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.tck.verbs.DatagramSide.HEADER;

import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PreparedSendRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests transfers through regions with on-demand paging. No program has accessed the target pages,
 * so they are not in memory before the transfer.
 */
class OnDemandTest {

    private static final int BYTES = 1 << 18;
    private static final int MESSAGE = 1000; // The length of one packet, at the start of a page.
    private static final int FIRST = 3 * 4096;

    private final Fabric fabric = Fabric.underTest();

    private Pair pair() throws VerbsException {
        return requireOnDemand(Pair.connected());
    }

    /**
     * Skips the test if the device does not support on-demand paging. For example, rxe supports it
     * since Linux 6.15, and reports it as a capability.
     */
    private Pair requireOnDemand(Pair pair) throws VerbsException {
        fabric.needs(Feature.EXTENDED_ATTRIBUTES);
        if (!pair.device().extendedAttributes().onDemand()) {
            pair.close();
            throw new Fabric.Listed("the device does not support on-demand paging");
        }
        return pair;
    }

    private static MemoryRegion region(Side side, Access... additional) throws VerbsException {
        var access = Arrays.copyOf(Pair.ALL, Pair.ALL.length + 1 + additional.length);
        access[Pair.ALL.length] = Access.ON_DEMAND;
        System.arraycopy(additional, 0, access, Pair.ALL.length + 1, additional.length);
        return side.domain().newArena(access).region(BYTES);
    }

    private static MemoryRegion filled(Side side) throws VerbsException {
        var region = region(side);
        region.segment().fill((byte) 7);
        return region;
    }

    private static void assertHasMessage(MemoryRegion region) {
        assertHasMessage(region, FIRST, MESSAGE);
    }

    private static void assertHasMessage(MemoryRegion region, int first, int length) {
        assertThat(bytes(region, first, length)).containsOnly(7);
        assertThat(bytes(region, 0, first)).containsOnly(0);
        assertThat(bytes(region, first + length, 100)).containsOnly(0);
    }

    private static byte[] bytes(MemoryRegion region, long offset, long length) {
        return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private static void assertSucceeds(Side side, PreparedSendRequest<?> request)
            throws VerbsException {
        assertThat(side.complete(request).status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSendFromAndReceiveIntoRegions(boolean receiverIsPinned) throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            var target =
                    receiverIsPinned
                            ? right.domain().newArena(Pair.ALL).region(BYTES)
                            : region(right);
            right.post(right.queuePair().prepareReceive(target.slice(FIRST, MESSAGE)));

            assertSucceeds(left, left.queuePair().prepareSend(filled(left).slice(FIRST, MESSAGE)));

            assertThat(right.next().bytes()).isEqualTo(MESSAGE);
            assertHasMessage(target);
        }
    }

    @Test
    void shouldWriteAndBeWritten() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var target = region(pair.right());

            assertSucceeds(
                    left,
                    left.queuePair()
                            .prepareWrite(
                                    filled(left).slice(0, MESSAGE),
                                    target.remote().slice(FIRST, MESSAGE)));

            assertHasMessage(target);
        }
    }

    @Test
    void shouldReadAndBeRead() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var target = region(left);
            var source = filled(pair.right());

            assertSucceeds(
                    left,
                    left.queuePair()
                            .prepareRead(
                                    target.slice(FIRST, MESSAGE),
                                    source.remote().slice(0, MESSAGE)));

            assertHasMessage(target);
        }
    }

    @Test
    void shouldTransferDataAtAnyOffsetAcrossPages() throws VerbsException {
        fabric.needs(Feature.ON_DEMAND_WITHIN_PAGES);
        var first = FIRST + 100;
        var length = 20_000;
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            var source = filled(left).slice(first, length);
            var written = region(right);
            var received = region(right);
            var read = region(right);
            right.post(right.queuePair().prepareReceive(received.slice(first, length)));

            assertSucceeds(left, left.queuePair().prepareSend(source));
            assertSucceeds(
                    left,
                    left.queuePair().prepareWrite(source, written.remote().slice(first, length)));
            assertThat(right.next().isSuccess()).isTrue();
            assertSucceeds(
                    right,
                    right.queuePair().prepareRead(read.slice(first, length), source.remote()));

            assertHasMessage(written, first, length);
            assertHasMessage(received, first, length);
            assertHasMessage(read, first, length);
        }
    }

    @Test
    void shouldRunAtomics() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var result = region(left);
            var target = region(pair.right());
            var remote = target.remote();

            assertSucceeds(
                    left,
                    left.queuePair()
                            .prepareCompareAndSwap(result.slice(8, 8), remote.slice(4096, 8))
                            .values(0, 5));
            assertSucceeds(
                    left,
                    left.queuePair()
                            .prepareFetchAndAdd(result.slice(4096, 8), remote.slice(4096, 8))
                            .delta(37));

            assertThat(target.segment().get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(42);
            assertThat(result.segment().get(ValueLayout.JAVA_LONG, 8)).isZero();
            assertThat(result.segment().get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(5);
        }
    }

    @Test
    void shouldBeWrittenAtomically() throws VerbsException {
        fabric.needs(Feature.ATOMIC_WRITES);
        try (var pair = requireOnDemand(Pair.connected(options -> options.atomicWrites()))) {
            var left = pair.left();
            var target = region(pair.right());

            assertSucceeds(
                    left,
                    left.queuePair()
                            .prepareAtomicWrite(target.remote())
                            .value(42)
                            .remoteOffset(8192));

            assertThat(target.segment().get(ValueLayout.JAVA_LONG, 8192)).isEqualTo(42);
        }
    }

    @Test
    void shouldBeFlushed() throws VerbsException {
        fabric.needs(Feature.FLUSHES);
        var rights = new Access[] {Access.REMOTE_WRITE, Access.FLUSH_GLOBAL};
        try (var pair =
                requireOnDemand(
                        Pair.connected(
                                DirectConnectOptions.DEFAULT.access(rights),
                                options -> options.flushes()))) {
            var left = pair.left();
            var target = region(pair.right(), Access.FLUSH_GLOBAL);
            var remote = target.remote().slice(FIRST, MESSAGE);

            left.post(left.queuePair().prepareWrite(filled(left).slice(0, MESSAGE), remote));
            left.post(left.queuePair().prepareFlush(remote, FlushPlacement.GLOBAL));

            assertThat(left.take(2)).allMatch(completed -> completed.completion().isSuccess());
            assertHasMessage(target);
        }
    }

    @Test
    void shouldSendDatagrams() throws VerbsException {
        fabric.needs(Feature.DATAGRAMS);
        try (var pair = pair()) {
            var sender = DatagramSide.active(pair.device());
            var receiver = DatagramSide.active(pair.device());
            var source =
                    sender.domain().newArena(Access.LOCAL_WRITE, Access.ON_DEMAND).region(8192);
            source.segment().fill((byte) 7);
            receiver.receive(0, 500);

            var send = sender.queuePair().prepareSend(source.slice(4096, 500), sender.to(receiver));

            assertThat(sender.complete(send).isSuccess()).isTrue();
            assertThat(receiver.next().bytes()).isEqualTo(HEADER + 500);
            assertThat(receiver.message(0, 500).toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeWrittenAfterAdviceOnItsPages(PageAdvice advice) throws VerbsException {
        fabric.needs(Feature.ADVICE);
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            var source = filled(left);
            for (var waits : new boolean[] {false, true}) {
                var target = region(right);
                var place = target.slice(FIRST, MESSAGE);
                if (waits) {
                    right.domain().adviseAndWait(advice, place);
                } else {
                    right.domain().advise(advice, place);
                }

                assertSucceeds(
                        left,
                        left.queuePair().prepareWrite(source.slice(0, MESSAGE), place.remote()));

                assertHasMessage(target);
            }
        }
    }
}
