package org.jrdma.soft.roce.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.BiPredicate;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/** Two engines that are connected by a simulated link, with a simulated clock. */
final class EnginePair {

    static final byte CANARY = 0x5a;
    static final long REGION = 1 << 20;
    static final long GUARD = 4096;
    static final int ALL =
            Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC;

    /** The faults of the link. Each value is the probability that a packet is affected. */
    record Faults(double loss, double duplication, double reordering, double corruption) {

        static final Faults NONE = new Faults(0, 0, 0, 0);
    }

    /** A copy of a {@link Completion}. */
    record Done(
            long id,
            CompletionStatus status,
            CompletionKind kind,
            long bytes,
            boolean hasImmediate,
            int immediate,
            boolean solicited,
            int sourceQueuePair) {

        static Done copyOf(Completion completion) {
            return new Done(
                    completion.id(),
                    completion.status(),
                    completion.kind(),
                    completion.bytes(),
                    completion.hasImmediate(),
                    completion.immediate(),
                    completion.solicited(),
                    completion.sourceQueuePair());
        }
    }

    private static final long FOREVER = TimerQueue.NEVER - 1;

    private record PacketInFlight(long arrival, long order, Side to, PacketBuffer packet) {}

    final Side left;
    final Side right;
    Faults faults = Faults.NONE;

    /**
     * Returns true if the link may deliver a packet to a side. Evaluated before other faults are
     * applied.
     */
    BiPredicate<Side, PacketBuffer> passes = (to, packet) -> true;

    /** The unexpected exceptions that the engines have reported. */
    final List<Throwable> exceptions = new ArrayList<>();

    long now;
    long packets;

    private final Random random;
    private final PriorityQueue<PacketInFlight> inFlight =
            new PriorityQueue<>(
                    Comparator.comparingLong(PacketInFlight::arrival)
                            .thenComparingLong(PacketInFlight::order));
    private final ArrayDeque<PacketBuffer> freeBuffers = new ArrayDeque<>();
    private long order;

    EnginePair(Transport transport, long seed) {
        this(transport, seed, RoceGid.ipv4(0x7f000001), RoceGid.ipv4(0x7f000002));
    }

    EnginePair(Transport transport, long seed, RoceGid leftAddress, RoceGid rightAddress) {
        random = new Random(seed);
        left = new Side(leftAddress, transport, 0x10000, null);
        right = new Side(rightAddress, transport, 0x8000_0000L, new XrcDomainIdentity());
    }

    /**
     * One side of the link: an engine with a queue pair, and a memory region between two guard
     * areas that contain a known pattern.
     */
    final class Side implements NetworkPacketSender {

        final RoceGid address;
        final MemoryRegistry registry = new MemoryRegistry(random);
        final ProtectionDomain domain = new ProtectionDomain();
        final List<Done> done = new ArrayList<>();
        final List<QueuePairEvent> events = new ArrayList<>();
        final Engine engine;
        final Transport transport;
        final MemorySegment all = Arena.ofAuto().allocate(REGION + 2 * GUARD, 64);
        final MemorySegment memory = all.asSlice(GUARD, REGION);
        final long start;
        MemoryRegion region;
        QueuePair queuePair;

        /**
         * The XRC receive queue to which {@link #receive} posts, or null if it posts to the receive
         * queue of the queue pair.
         */
        @Nullable ReceiveQueue shared;

        @Nullable XrcReceiveQueue named;
        private final @Nullable XrcDomainIdentity extendedDomain;
        private final PacketBuffer outgoing = new PacketBuffer();
        private final InvariantCrc checksum = new InvariantCrc();

        /**
         * @param extendedDomain the XRC domain in which this side receives, or null if it only
         *     sends
         */
        Side(
                RoceGid address,
                Transport transport,
                long start,
                @Nullable XrcDomainIdentity extendedDomain) {
            this.address = address;
            this.transport = transport;
            this.start = start;
            this.extendedDomain = extendedDomain;
            all.fill(CANARY);
            memory.fill((byte) 0);
            region = registry.register(domain, memory, start, ALL);
            engine =
                    new Engine(
                            this,
                            registry,
                            EngineOptions.DEFAULTS,
                            random,
                            (_, cause) -> exceptions.add(cause));
            queuePair = newQueuePair(domain);
            if (transport == Transport.EXTENDED && extendedDomain != null) {
                shared = new ReceiveQueue(domain, 256, 4, () -> {});
                named = engine.newExtendedReceives(extendedDomain, shared, this::add);
            }
        }

        QueuePair newQueuePair(ProtectionDomain owner) {
            return newQueuePair(owner, this::add);
        }

        QueuePair newQueuePair(ProtectionDomain owner, CompletionSink completions) {
            return newQueuePair(transport, owner, completions);
        }

        QueuePair newQueuePair(Transport kind, ProtectionDomain owner, CompletionSink completions) {
            return newQueuePair(kind, owner, completions, null);
        }

        QueuePair newQueuePair(
                Transport kind,
                ProtectionDomain owner,
                CompletionSink completions,
                @Nullable ReceiveQueue sharedReceives) {
            return newQueuePair(kind, owner, completions, sharedReceives, extendedDomain);
        }

        QueuePair newQueuePair(
                Transport kind,
                ProtectionDomain owner,
                CompletionSink completions,
                @Nullable ReceiveQueue sharedReceives,
                @Nullable XrcDomainIdentity receivesIn) {
            var options =
                    new QueuePairOptions(
                            kind,
                            owner,
                            completions,
                            completions,
                            events::add,
                            256,
                            256,
                            4,
                            4,
                            64,
                            sharedReceives,
                            kind == Transport.EXTENDED ? receivesIn : null);
            return Objects.requireNonNull(
                    engine.newQueuePair(options, WorkQueues.of(options)), "no free number");
        }

        boolean add(Completion completion) {
            return done.add(Done.copyOf(completion));
        }

        @Override
        public PacketBuffer claim() {
            return outgoing;
        }

        @Override
        public void send(PacketBuffer packet) {
            checksum.seal(packet);
            transmit(packet, packet.destinationLow() == left.address.low() ? left : right);
        }

        SendWork work(long id, SendOperationKind operation) {
            return queuePair
                    .sends()
                    .claim()
                    .begin(id, operation)
                    .signaled()
                    .receiveQueue(right.named == null ? 0 : right.named.number());
        }

        void post() {
            queuePair.sends().post();
            engine.doorbell(queuePair);
        }

        /** Posts a WRITE to the send queue of a queue pair. */
        void write(QueuePair from, long id, int bytes, Side peer) {
            from.sends()
                    .claim()
                    .begin(id, SendOperationKind.WRITE)
                    .signaled()
                    .buffer(start, bytes, region.key())
                    .remote(peer.start, peer.region.key());
            from.sends().post();
            engine.doorbell(from);
        }

        /** Connects a queue pair of this side to a queue pair number at a peer. */
        void connect(QueuePair local, Side peer, int number, int timeout, int retries) {
            local.initialize(ALL, 0xffff, 0x1234);
            local.readyToReceive(
                    new ReceiveParameters(address, peer.address, number, 4096, 0, 4, 12));
            local.readyToSend(new SendParameters(0, timeout, retries, 7, 4));
        }

        void receive(long id, long offset, int bytes) {
            var receives = receives();
            receives.claim().begin(id).buffer(start + offset, bytes, region.key());
            receives.post();
            engine.doorbell(queuePair);
        }

        ReceiveQueue receives() {
            return shared == null ? queuePair.receives() : shared;
        }

        /** Returns true if both guard areas still contain their pattern. */
        boolean guardsAreIntact() {
            return all.asSlice(0, GUARD).mismatch(guard()) < 0
                    && all.asSlice(GUARD + REGION, GUARD).mismatch(guard()) < 0;
        }

        void fill(long offset, long bytes, int seed) {
            for (var i = 0L; i < bytes; i++) {
                memory.set(
                        ValueLayout.JAVA_BYTE, offset + i, (byte) (seed * 31L + i * 7 + i / 251));
            }
        }

        /**
         * Returns true if a range of this side's memory is equal to a range of the other side's
         * memory.
         */
        boolean holds(long offset, long bytes, Side other, long otherOffset) {
            return memory.asSlice(offset, bytes).mismatch(other.memory.asSlice(otherOffset, bytes))
                    < 0;
        }
    }

    private static MemorySegment guard() {
        return Arena.ofAuto().allocate(GUARD).fill(CANARY);
    }

    void connect(int mtu, int sequence) {
        connect(mtu, sequence, 14, 7, 7, 4, ALL);
    }

    void connect(int mtu, int sequence, int timeout, int retries, int rnr, int reads, int access) {
        connectOne(left, right, mtu, sequence, timeout, retries, rnr, reads, access);
        connectOne(right, left, mtu, sequence, timeout, retries, rnr, reads, access);
    }

    private static void connectOne(
            Side side,
            Side peer,
            int mtu,
            int sequence,
            int timeout,
            int retries,
            int rnr,
            int reads,
            int access) {
        side.queuePair.initialize(access, 0xffff, 0x1234);
        side.queuePair.readyToReceive(
                new ReceiveParameters(
                        side.address,
                        peer.address,
                        peer.queuePair.number(),
                        mtu,
                        sequence,
                        reads,
                        12));
        side.queuePair.readyToSend(new SendParameters(sequence, timeout, retries, rnr, reads));
    }

    private void transmit(PacketBuffer packet, Side to) {
        packets++;
        if (!passes.test(to, packet)) {
            return;
        }
        if (random.nextDouble() < faults.loss) {
            return;
        }
        var copies = random.nextDouble() < faults.duplication ? 2 : 1;
        for (var i = 0; i < copies; i++) {
            var copy = freeBuffers.isEmpty() ? new PacketBuffer() : freeBuffers.removeLast();
            copy.copyFrom(packet);
            var delay = 1_000L;
            if (random.nextDouble() < faults.reordering) {
                delay += random.nextInt(20_000);
            }
            if (random.nextDouble() < faults.corruption) {
                var offset = PacketBuffer.START + random.nextInt(copy.length());
                var bit = 1 << random.nextInt(8);
                copy.memory()
                        .set(
                                ValueLayout.JAVA_BYTE,
                                offset,
                                (byte) (copy.memory().get(ValueLayout.JAVA_BYTE, offset) ^ bit));
            }
            inFlight.add(new PacketInFlight(now + delay, order++, to, copy));
        }
    }

    /**
     * Delivers packets and advances the clock until no packet is in flight and no timer is running,
     * or until a deadline is reached.
     */
    void run(long until) {
        while (true) {
            left.engine.transmit();
            right.engine.transmit();
            var next = Math.min(left.engine.nextDeadline(), right.engine.nextDeadline());
            if (!inFlight.isEmpty()) {
                next = Math.min(next, inFlight.element().arrival());
            }
            if (next > until) {
                now = until == FOREVER ? now : until;
                return;
            }
            now = Math.max(now, next);
            left.engine.advance(now);
            right.engine.advance(now);
            while (!inFlight.isEmpty() && inFlight.element().arrival() <= now) {
                var arrived = inFlight.remove();
                arrived.to().engine.receive(arrived.packet());
                freeBuffers.addLast(arrived.packet());
            }
            left.engine.expireTimers();
            right.engine.expireTimers();
        }
    }

    void run() {
        run(FOREVER);
    }
}
