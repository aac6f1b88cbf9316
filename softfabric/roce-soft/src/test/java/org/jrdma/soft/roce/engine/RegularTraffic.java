package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.RouteHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Regular traffic between two additional queue pairs of a {@link EnginePair}, which have their own
 * protection domains and memory. Only one operation is outstanding at a time, and its result is
 * verified when it completes.
 */
final class RegularTraffic {

    private static final int MTU = 256;
    private static final int QUEUE_KEY = 0x5678;

    private final Transport transport;
    private final List<SendOperationKind> operations;

    /** The length in bytes of all messages except atomics. */
    private final int bytes;

    /** The offset in the receive buffer at which the message begins. */
    private final int offset;

    private final End left;
    private final End right;
    private final EnginePair pair;
    private long posted;
    private long sent;
    private long received;
    private long completed;

    RegularTraffic(EnginePair pair, Transport transport) {
        this.pair = pair;
        this.transport = transport;
        operations =
                switch (transport) {
                    case RELIABLE, EXTENDED ->
                            List.of(
                                    SendOperationKind.WRITE,
                                    SendOperationKind.READ,
                                    SendOperationKind.SEND,
                                    SendOperationKind.FETCH_AND_ADD);
                    case UNRELIABLE -> List.of(SendOperationKind.WRITE, SendOperationKind.SEND);
                    case DATAGRAM -> List.of(SendOperationKind.SEND);
                };
        bytes = transport == Transport.DATAGRAM ? 200 : 700;
        offset = transport == Transport.DATAGRAM ? RouteHeader.BYTES : 0;
        left = new End(pair.left, this::sent, null);
        right = new End(pair.right, this::received, new XrcDomainIdentity());
        left.connect(right);
        right.connect(left);
    }

    /** One end of the traffic: a queue pair with memory between two guard areas. */
    private final class End {

        final EnginePair.Side side;
        final MemorySegment all =
                Arena.ofAuto().allocate(3 * EnginePair.GUARD, 64).fill(EnginePair.CANARY);
        final MemorySegment memory = all.asSlice(EnginePair.GUARD, EnginePair.GUARD);
        final MemoryRegion region;
        final QueuePair queuePair;

        /** The receive queue for messages. On XRC connections, the sender names its number. */
        final ReceiveQueue receives;

        final int receiveQueue;

        End(
                EnginePair.Side side,
                CompletionSink completions,
                @Nullable XrcDomainIdentity extendedDomain) {
            this.side = side;
            var domain = new ProtectionDomain();
            region = side.registry.register(domain, memory, memory.address(), EnginePair.ALL);
            queuePair = side.newQueuePair(transport, domain, completions, null, extendedDomain);
            if (transport == Transport.EXTENDED && extendedDomain != null) {
                receives = new ReceiveQueue(domain, 256, 4, () -> {});
                receiveQueue =
                        side.engine
                                .newExtendedReceives(extendedDomain, receives, completions)
                                .number();
            } else {
                receives = queuePair.receives();
                receiveQueue = 0;
            }
        }

        void connect(End peer) {
            queuePair.initialize(EnginePair.ALL, 0xffff, QUEUE_KEY);
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

        /**
         * Returns true if the guard areas, and the memory after the message, still contain their
         * pattern.
         */
        boolean hasUnchangedGuards() {
            var used = offset + bytes;
            return all.asSlice(0, EnginePair.GUARD)
                                    .mismatch(all.asSlice(2 * EnginePair.GUARD, EnginePair.GUARD))
                            < 0
                    && all.get(ValueLayout.JAVA_BYTE, 0) == EnginePair.CANARY
                    && memory.asSlice(used, EnginePair.GUARD - used)
                                    .mismatch(all.asSlice(0, EnginePair.GUARD - used))
                            < 0;
        }
    }

    /**
     * Returns the address of the memory on the right side, which the fuzzed queue pair may not
     * access.
     */
    long start() {
        return right.memory.address();
    }

    /**
     * Returns the key of the memory on the right side, which is not valid for the fuzzed queue
     * pair.
     */
    int key() {
        return right.region.key();
    }

    /**
     * Returns the number of the XRC receive queue on the right side, which belongs to another XRC
     * domain than the fuzzed queue pair.
     */
    int receiveQueue() {
        return right.receiveQueue;
    }

    /** Returns the number of operations that completed with correct data. */
    long completed() {
        return completed;
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%,d %s", completed, transport);
    }

    private SendOperationKind operation(long number) {
        return operations.get((int) (number % operations.size()));
    }

    /**
     * Returns true if an operation consumes a receive. This includes a WRITE over an unreliable
     * connection: it carries immediate data, because otherwise its arrival would be unknown.
     */
    private boolean takesReceive(SendOperationKind operation) {
        return operation == SendOperationKind.SEND || transport == Transport.UNRELIABLE;
    }

    /** Starts the next operation if the previous one is complete. */
    void proceed() {
        if (posted > completed) {
            return;
        }
        var operation = operation(posted);
        var length = operation.isAtomic() ? Long.BYTES : bytes;
        var source = operation == SendOperationKind.READ ? right : left;
        for (var i = 0; i < length; i++) {
            source.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (posted * 31 + i * 7L));
        }
        if (takesReceive(operation)) {
            right.receives.claim().begin(posted).buffer(start(), offset + bytes, key());
            right.receives.post();
        } else if (operation.isAtomic()) {
            right.memory.set(ValueLayout.JAVA_LONG, 0, posted);
        }
        var work =
                left.queuePair
                        .sends()
                        .claim()
                        .begin(posted, operation)
                        .signaled()
                        .buffer(left.memory.address(), length, left.region.key())
                        .remote(start(), key())
                        .atomic(1, 0)
                        .receiveQueue(right.receiveQueue)
                        .datagram(right.side.address, right.queuePair.number(), QUEUE_KEY);
        if (operation == SendOperationKind.WRITE && takesReceive(operation)) {
            work.immediate((int) posted);
        }
        left.queuePair.sends().post();
        pair.left.engine.doorbell(left.queuePair);
        posted++;
    }

    private boolean sent(Completion completion) {
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(completion.id()).isEqualTo(completed);
        sent = posted;
        if (received == posted || !takesReceive(operation(completed))) {
            complete();
        }
        return true;
    }

    private boolean received(Completion completion) {
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(completion.id()).isEqualTo(completed);
        assertThat(completion.bytes()).isEqualTo(offset + bytes);
        received = posted;
        if (sent == posted) {
            complete();
        }
        return true;
    }

    private void complete() {
        if (operation(completed).isAtomic()) {
            assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(completed);
            assertThat(right.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(completed + 1);
        } else {
            var arrived = right.memory.asSlice(offset, bytes);
            assertThat(arrived.mismatch(left.memory.asSlice(0, bytes))).isEqualTo(-1);
            assertThat(left.hasUnchangedGuards()).isTrue();
            assertThat(right.hasUnchangedGuards()).isTrue();
        }
        completed++;
    }
}
