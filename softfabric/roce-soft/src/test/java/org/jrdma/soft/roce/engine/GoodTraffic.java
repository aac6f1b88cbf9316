package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.soft.roce.packet.Transport;

/**
 * Two queue pairs of a {@link Pair}'s engines that mind their own business, in a protection domain
 * and memory of their own: one operation after the other, each looked at when it completes.
 */
final class GoodTraffic {

    private static final int BYTES = 700;
    private static final int MTU = 256;
    private static final SendOperation[] OPERATIONS = {
        SendOperation.WRITE, SendOperation.READ, SendOperation.SEND, SendOperation.FETCH_AND_ADD
    };

    private final End left;
    private final End right;
    private final Pair pair;
    private long posted;
    private long completed;
    private long received;

    GoodTraffic(Pair pair) {
        this.pair = pair;
        left = new End(pair.left, this::sent);
        right = new End(pair.right, this::received);
        left.connect(right);
        right.connect(left);
    }

    /** A queue pair with memory between two guards. */
    private static final class End {

        final Pair.Side side;
        final MemorySegment all = Arena.ofAuto().allocate(3 * Pair.GUARD, 64).fill(Pair.CANARY);
        final MemorySegment memory = all.asSlice(Pair.GUARD, Pair.GUARD);
        final MemoryRegion region;
        final QueuePair queuePair;

        End(Pair.Side side, CompletionSink completions) {
            this.side = side;
            var domain = new ProtectionDomain();
            region = side.registry.register(domain, memory, memory.address(), Pair.ALL);
            queuePair = side.newQueuePair(Transport.RELIABLE, domain, completions);
        }

        void connect(End peer) {
            queuePair.initialize(Pair.ALL, 0xffff, 0);
            queuePair.readyToReceive(
                    new ReceiveParameters(
                            side.address,
                            peer.side.address,
                            peer.queuePair.number(),
                            MTU,
                            0,
                            1,
                            12));
            queuePair.readyToSend(new SendParameters(0, 14, 7, 7, 1));
        }

        boolean holdsNothingElse() {
            return all.asSlice(0, Pair.GUARD).mismatch(all.asSlice(2 * Pair.GUARD, Pair.GUARD)) < 0
                    && all.get(ValueLayout.JAVA_BYTE, 0) == Pair.CANARY
                    && memory.asSlice(BYTES, Pair.GUARD - BYTES)
                                    .mismatch(all.asSlice(0, Pair.GUARD - BYTES))
                            < 0;
        }
    }

    /** The memory that nobody else may touch, at the side that the attack is on. */
    long start() {
        return right.memory.address();
    }

    /** Its key, of no use to others. */
    int key() {
        return right.region.key();
    }

    /** How many operations are done, and right in every byte. */
    long completed() {
        return completed;
    }

    /** Begins the next operation if the last is done. */
    void goOn() {
        if (posted > completed) {
            return;
        }
        var operation = OPERATIONS[(int) (posted % OPERATIONS.length)];
        var bytes = operation.isAtomic() ? Long.BYTES : BYTES;
        var source = operation == SendOperation.READ ? right : left;
        for (var i = 0; i < bytes; i++) {
            source.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (posted * 31 + i * 7L));
        }
        if (operation == SendOperation.SEND) {
            right.queuePair.receives().claim().begin(posted).buffer(start(), BYTES, key());
            right.queuePair.receives().post();
        } else if (operation.isAtomic()) {
            right.memory.set(ValueLayout.JAVA_LONG, 0, posted);
        }
        left.queuePair
                .sends()
                .claim()
                .begin(posted, operation)
                .signaled()
                .buffer(left.memory.address(), bytes, left.region.key())
                .remote(start(), key())
                .atomic(1, 0);
        left.queuePair.sends().post();
        pair.left.engine.doorbell(left.queuePair);
        posted++;
    }

    private boolean sent(Completion completion) {
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(completion.id()).isEqualTo(completed);
        switch (OPERATIONS[(int) (completed % OPERATIONS.length)]) {
            case WRITE, READ -> assertSame();
            case SEND -> {
                assertSame();
                assertThat(received).isEqualTo(completed);
            }
            default -> {
                assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(completed);
                assertThat(right.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(completed + 1);
            }
        }
        completed++;
        return true;
    }

    private void assertSame() {
        assertThat(left.memory.mismatch(right.memory)).isEqualTo(-1);
        assertThat(left.holdsNothingElse()).isTrue();
        assertThat(right.holdsNothingElse()).isTrue();
    }

    private boolean received(Completion completion) {
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(completion.bytes()).isEqualTo(BYTES);
        received = completion.id();
        return true;
    }
}
