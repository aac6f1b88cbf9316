package org.jrdma.tck.software;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_ATOMIC;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.soft.roce.model.PacketListener;
import org.jrdma.soft.roce.model.TracedPacket;
import org.jrdma.soft.roce.model.TracedPacket.Direction;
import org.jrdma.tck.software.OperationSequence.Kind;
import org.jrdma.tck.software.OperationSequence.Operation;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedCompareAndSwap;
import org.jrdma.verbs.PreparedFetchAndAdd;
import org.jrdma.verbs.PreparedRead;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * A program for one of two processes that execute operations on each other. Two {@link
 * OperationSequence}s determine the operations of both sides. The program checks all results, and
 * ends with exit code 0 only if every byte, every completion and every counter is correct.
 */
final class MixedTraffic {

    private static final int RECEIVES = 64;
    private static final long RECEIVE = 1L << 32;

    /**
     * The acknowledge timeout of 34 ms. It is shorter than the default, so that the loss of the
     * last packet, which no later packet reveals, is detected faster.
     */
    private static final Duration TIMEOUT = Duration.ofNanos(4_096L << 13);

    private static final int POLLS = 1_000;
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

    private final int operations;
    private final OperationSequence ownOperations;
    private final OperationSequence peerOperations;
    private final Operation[] pending = new Operation[OperationSequence.DEPTH];
    private final MemoryRegion sources;
    private final MemoryRegion arrivals;
    private final PolledQueuePair queuePair;
    private final PreparedReceive[] receives = new PreparedReceive[RECEIVES];

    private final PreparedSend send;
    private final PreparedSend sendWithImmediate;
    private final PreparedWrite write;
    private final PreparedWrite writeWithImmediate;
    private final PreparedRead read;
    private final PreparedFetchAndAdd fetchAndAdd;
    private final PreparedCompareAndSwap compareAndSwap;

    private int completed;
    private long received;

    /**
     * Counts the request packets that the device sends again, because of a retransmission or of
     * fault injection.
     */
    private static final class Repetitions implements PacketListener {

        private int highest = -1;
        private int count;

        @Override
        public void seen(TracedPacket packet) {
            var name = packet.operation();
            if (packet.direction() != Direction.SENT
                    || name.contains("ACKNOWLEDGE")
                    || name.contains("RESPONSE")) {
                return;
            }
            var ahead = (packet.sequence() - highest) << 8 >> 8;
            if (highest >= 0 && ahead <= 0) {
                count++;
            } else {
                highest = packet.sequence();
            }
        }
    }

    /**
     * Runs the program.
     *
     * @param arguments the number of operations, the seed of this side, and the seed of the peer
     */
    static void main(String... arguments) throws Exception {
        var operations = Integer.parseInt(arguments[0]);
        var ownOperations = new OperationSequence(Long.parseLong(arguments[1]));
        var peerOperations = new OperationSequence(Long.parseLong(arguments[2]));
        var library = new SoftRoce();
        var repetitions = new Repetitions();
        var network = library.devices().getFirst();
        network.listen(repetitions);
        try (var device = Verbs.from(library).openFirst();
                var domain = device.newProtectionDomain();
                var memory =
                        domain.newArena(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC);
                var completions =
                        device.newCompletionQueue(
                                CompletionQueueOptions.capacity(OperationSequence.DEPTH + RECEIVES)
                                        .waitable());
                var cursor = completions.newCursor(32);
                var queuePair =
                        domain.newQueuePair(
                                reliable(completions)
                                        .sends(OperationSequence.DEPTH)
                                        .receives(RECEIVES))) {
            var target = memory.region(OperationSequence.TARGET_BYTES);
            IO.println(queuePair.endpoint() + " " + target.remote());
            var peer = IO.readln().split(" ", -1);
            queuePair.connect(
                    Endpoint.parse(peer[0]),
                    DirectConnectOptions.DEFAULT
                            .pathMtu(Mtu.ofBytes(OperationSequence.MTU))
                            .acknowledgeTimeout(TIMEOUT));
            var traffic =
                    new MixedTraffic(
                            operations,
                            ownOperations,
                            peerOperations,
                            queuePair,
                            memory.region(
                                    (long) OperationSequence.DEPTH * OperationSequence.LONGEST),
                            memory.region((long) RECEIVES * OperationSequence.LONGEST),
                            RemoteMemory.parse(peer[1]));
            IO.println("connected");
            IO.readln();
            traffic.run(cursor);
            IO.println("done, with %d requests repeated".formatted(repetitions.count));
            IO.println(network.faultCounts());
            // The peer has now completed its operations, so all its writes have arrived.
            IO.readln();
            traffic.check(target);
            IO.println("all results are correct");
            // The peer may still retransmit requests, and this side acknowledges them only while
            // its queue pair is open. The parent process therefore sends a line when both sides are
            // finished.
            IO.readln();
        }
    }

    private MixedTraffic(
            int operations,
            OperationSequence ownOperations,
            OperationSequence peerOperations,
            PolledQueuePair queuePair,
            MemoryRegion sources,
            MemoryRegion arrivals,
            RemoteMemory remote)
            throws IOException {
        this.operations = operations;
        this.ownOperations = ownOperations;
        this.peerOperations = peerOperations;
        this.queuePair = queuePair;
        this.sources = sources;
        this.arrivals = arrivals;
        var nothing = sources.slice(0, 0);
        var number = sources.slice(0, Long.BYTES);
        var numbers = remote.at(OperationSequence.WINDOW);
        send = queuePair.prepareSend(nothing);
        sendWithImmediate = queuePair.prepareSend(nothing);
        write = queuePair.prepareWrite(nothing, remote);
        writeWithImmediate = queuePair.prepareWrite(nothing, remote);
        read = queuePair.prepareRead(nothing, remote);
        fetchAndAdd = queuePair.prepareFetchAndAdd(number, numbers);
        compareAndSwap = queuePair.prepareCompareAndSwap(number, numbers);
        for (var slot = 0; slot < RECEIVES; slot++) {
            receives[slot] =
                    queuePair.prepareReceive(
                            arrivals.slice(
                                    (long) slot * OperationSequence.LONGEST,
                                    OperationSequence.LONGEST));
            postReceive(slot);
        }
    }

    private void postReceive(long number) throws IOException {
        var receive = receives[(int) (number % RECEIVES)];
        expect(receive.id(RECEIVE + number).tryPost(), "a free slot for receive " + number);
    }

    private void run(CompletionCursor cursor) throws IOException {
        var expectedMessage = nextReceived();
        while (completed < operations || expectedMessage != null) {
            while (ownOperations.number() < operations && queuePair.freeSends() > 0) {
                post(ownOperations.next());
            }
            poll(cursor);
            while (cursor.next()) {
                expect(
                        cursor.isSuccess(),
                        "success, not %s, of request %x".formatted(cursor.status(), cursor.id()));
                if (cursor.id() >= RECEIVE) {
                    expect(expectedMessage != null, "no further completion of a receive");
                    checkReceived(cursor, expectedMessage);
                    expectedMessage = nextReceived();
                } else {
                    checkCompleted(cursor);
                }
            }
        }
    }

    /**
     * Polls the completion queue several times, and then waits for a completion. Polling lets the
     * device process packets.
     */
    private static void poll(CompletionCursor cursor) throws IOException {
        for (var i = 0; i < POLLS; i++) {
            if (cursor.poll() > 0) {
                return;
            }
        }
        expect(cursor.await(LONGEST_WAIT) > 0, "a completion within " + LONGEST_WAIT);
    }

    /**
     * Returns the peer's next operation that completes a receive of this side, or null if there are
     * no more.
     */
    private Operation nextReceived() {
        while (peerOperations.number() < operations) {
            var operation = peerOperations.next();
            if (operation.kind().takesReceive()) {
                return operation;
            }
        }
        return null;
    }

    private MemorySlice source(Operation operation) {
        var slot = operation.number() % OperationSequence.DEPTH;
        return sources.slice((long) slot * OperationSequence.LONGEST, operation.bytes().length);
    }

    private void post(Operation operation) throws IOException {
        var source = source(operation);
        if (operation.kind() == Kind.READ) {
            source.segment().fill((byte) 0x5a);
        } else {
            MemorySegment.copy(
                    operation.bytes(), 0, source.segment(), JAVA_BYTE, 0, source.length());
        }
        pending[operation.number() % OperationSequence.DEPTH] = operation;
        var number = operation.number();
        var posted =
                switch (operation.kind()) {
                    case SEND -> send.local(source).fenced(operation.fenced()).id(number).tryPost();
                    case SEND_WITH_IMMEDIATE ->
                            sendWithImmediate
                                    .local(source)
                                    .immediate(~number)
                                    .fenced(operation.fenced())
                                    .id(number)
                                    .tryPost();
                    case WRITE ->
                            write.remoteOffset(0)
                                    .local(source)
                                    .remoteOffset(operation.offset())
                                    .fenced(operation.fenced())
                                    .id(number)
                                    .tryPost();
                    case WRITE_WITH_IMMEDIATE ->
                            writeWithImmediate
                                    .remoteOffset(0)
                                    .local(source)
                                    .remoteOffset(operation.offset())
                                    .immediate(~number)
                                    .fenced(operation.fenced())
                                    .id(number)
                                    .tryPost();
                    case READ ->
                            read.remoteOffset(0)
                                    .local(source)
                                    .remoteOffset(operation.offset())
                                    .id(number)
                                    .tryPost();
                    case FETCH_AND_ADD ->
                            fetchAndAdd
                                    .local(source)
                                    .remoteOffset(operation.offset() - OperationSequence.WINDOW)
                                    .delta(operation.operand())
                                    .id(number)
                                    .tryPost();
                    case COMPARE_AND_SWAP ->
                            compareAndSwap
                                    .local(source)
                                    .remoteOffset(operation.offset() - OperationSequence.WINDOW)
                                    .values(operation.operand(), operation.replacement())
                                    .id(number)
                                    .tryPost();
                };
        expect(posted, "a free slot for operation " + number);
    }

    private void checkCompleted(CompletionCursor cursor) throws IOException {
        expect(cursor.id() == completed, "completion %d, not %d".formatted(completed, cursor.id()));
        var operation = pending[completed % OperationSequence.DEPTH];
        var memory = source(operation).segment();
        switch (operation.kind()) {
            case READ -> expectBytes(memory, operation);
            case FETCH_AND_ADD, COMPARE_AND_SWAP ->
                    expect(
                            memory.get(JAVA_LONG, 0) == operation.former(),
                            "the previous value of " + operation);
            default -> {}
        }
        completed++;
    }

    private void checkReceived(CompletionCursor cursor, Operation operation) throws IOException {
        expect(
                cursor.id() == RECEIVE + received,
                "receive %d, not %x".formatted(received, cursor.id()));
        expect(
                cursor.bytes() == operation.bytes().length,
                "the length of %s, not %d bytes".formatted(operation, cursor.bytes()));
        expect(
                cursor.hasImmediate() == (operation.kind() != Kind.SEND),
                "immediate data only if sent by " + operation);
        if (cursor.hasImmediate()) {
            expect(cursor.immediate() == ~operation.number(), "the immediate data of " + operation);
        }
        if (operation.kind() != Kind.WRITE_WITH_IMMEDIATE) {
            var slot = received % RECEIVES;
            expectBytes(
                    arrivals.slice(slot * OperationSequence.LONGEST, operation.bytes().length)
                            .segment(),
                    operation);
        }
        postReceive(received++ + RECEIVES);
    }

    /** Checks the content of the memory that the operations of the peer have changed. */
    private void check(MemoryRegion target) {
        var segment = target.segment();
        var found = segment.asSlice(0, OperationSequence.WINDOW).toArray(JAVA_BYTE);
        var difference = Arrays.mismatch(found, peerOperations.window());
        expect(
                difference < 0,
                "the bytes that the peer wrote; the first difference is at " + difference);
        for (var i = 0; i < OperationSequence.NUMBERS; i++) {
            var number = segment.get(JAVA_LONG, OperationSequence.WINDOW + (long) i * Long.BYTES);
            expect(
                    number == peerOperations.numbers()[i],
                    "each atomic operation executed once on counter " + i);
        }
    }

    private static void expectBytes(MemorySegment memory, Operation operation) {
        var difference = memory.mismatch(MemorySegment.ofArray(operation.bytes()));
        expect(difference < 0, "the bytes of %s at %d".formatted(operation, difference));
    }

    private static void expect(boolean condition, String expectation) {
        if (!condition) {
            throw new AssertionError("Expected " + expectation);
        }
    }
}
