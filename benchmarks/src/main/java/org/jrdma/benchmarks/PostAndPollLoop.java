package org.jrdma.benchmarks;

import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.AddressHandle;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledDatagramQueuePair;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PolledSharedReceiveQueue;
import org.jrdma.verbs.PreparedDatagram;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.DeviceOpenOption;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Loops in Java that post requests to the {@link NullProvider} and poll for their completions. The
 * methods of that class with the same names run equivalent loops in C. Confined to one thread.
 */
public final class PostAndPollLoop implements AutoCloseable {

    /** The number of requests in a chain, and the maximum number of completions of a poll. */
    public static final int BATCH = 16;

    private static final int BYTES = 64;
    private static final int QUEUE_KEY = 0x1111_1111;

    final PolledQueuePair queuePair;
    final PolledSharedReceiveQueue shared;
    final CompletionQueue completions;
    final MemorySegment element;

    final PolledDatagramQueuePair datagrams;
    final AddressHandle handle;

    private final Device device;
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final PreparedDatagram datagram;
    private final PreparedWrite write;
    private final PreparedReceive receive;
    private final PreparedReceive sharedReceive;
    private final PreparedRequest.Chain chain;
    private final CompletionCursor cursor;
    private @Nullable Extended extended;

    /** Creates queue pairs that are connected to themselves. */
    public PostAndPollLoop(DeviceOpenOption... options) throws FabricException {
        device = NullProvider.instance().verbs().open(NullProvider.DEVICE, options);
        domain = device.newProtectionDomain();
        completions = device.newCompletionQueue(6 * BATCH);
        queuePair = domain.newQueuePair(reliable(completions).sends(2 * BATCH).receives(BATCH));
        queuePair.connect(queuePair.endpoint());
        shared = domain.newPolledSharedReceiveQueue(BATCH);
        var sharing = domain.newQueuePair(reliable(completions).sends(1).sharedReceives(shared));
        sharing.connect(sharing.endpoint());
        region = domain.newArena(LOCAL_WRITE, REMOTE_WRITE).region(BYTES);
        element =
                NullProvider.element(
                        Arena.ofAuto(), region.segment().address(), BYTES, region.localKey());
        datagrams =
                domain.newQueuePair(
                        QueuePairOptions.datagrams(completions).sends(BATCH - 1).receives(1));
        datagrams.activate(QUEUE_KEY);
        handle = domain.newAddressHandle(datagrams.addressOf(datagrams.endpoint()));
        datagram =
                datagrams
                        .prepareSend(
                                region.slice(),
                                new Destination(handle, datagrams.number(), QUEUE_KEY))
                        .id(4);
        write = prepareWrite(queuePair).id(1);
        receive = queuePair.prepareReceive(region.slice()).id(2);
        sharedReceive = shared.prepareReceive(region.slice()).id(3);
        chain = prepareChain(queuePair);
        cursor = completions.newCursor(BATCH);
    }

    private PreparedWrite prepareWrite(PolledQueuePair from) {
        return from.prepareWrite(region.slice(), region.remote());
    }

    private PreparedRequest.Chain prepareChain(PolledQueuePair from) {
        return from.prepareChain(
                Stream.generate(() -> prepareWrite(from))
                        .limit(BATCH)
                        .toArray(PreparedRequest<?>[]::new));
    }

    /**
     * The objects for {@link #extendedWriteAndPoll} and the other loops through the extended
     * interfaces of libibverbs. Created by {@link #extended}.
     */
    final class Extended {

        final PolledQueuePair queuePair;
        final CompletionQueue completions;
        final PreparedWrite write;
        final PreparedRequest.Chain chain;
        final CompletionCursor cursor;

        Extended() throws FabricException {
            completions =
                    device.newCompletionQueue(
                            CompletionQueueOptions.capacity(3 * BATCH).fields(Set.of()));
            queuePair =
                    domain.newQueuePair(
                            reliable(completions).sends(2 * BATCH).receives(1).extendedPosts());
            queuePair.connect(queuePair.endpoint());
            write = prepareWrite(queuePair).id(5);
            chain = prepareChain(queuePair);
            cursor = completions.newCursor(BATCH);
        }
    }

    Extended extended() {
        if (extended == null) {
            try {
                extended = new Extended();
            } catch (FabricException e) {
                throw new IllegalStateException(e);
            }
        }
        return extended;
    }

    /** Like {@link #writeAndPoll}, but through the extended interfaces. */
    public long extendedWriteAndPoll(long rounds) throws VerbsException {
        var objects = extended();
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            objects.write.tryPost();
            successes += poll(objects.cursor, 1);
        }
        return successes;
    }

    /** Like {@link #chainAndPoll}, but through the extended interfaces. */
    public long extendedChainAndPoll(long rounds) throws VerbsException {
        var objects = extended();
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            objects.chain.tryPost();
            successes += poll(objects.cursor, BATCH);
        }
        return successes;
    }

    /**
     * Posts datagrams individually and polls for each completion. Returns the number of successes.
     */
    public long datagramAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            datagram.tryPost();
            successes += poll(cursor, 1);
        }
        return successes;
    }

    /** Posts writes individually and polls for each completion. Returns the number of successes. */
    public long writeAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            write.tryPost();
            successes += poll(cursor, 1);
        }
        return successes;
    }

    /**
     * Posts receives individually and polls for each completion. Returns the number of successes.
     */
    public long receiveAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            receive.tryPost();
            successes += poll(cursor, 1);
        }
        return successes;
    }

    /** Like {@link #receiveAndPoll}, but with a shared receive queue. */
    public long sharedReceiveAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            sharedReceive.tryPost();
            successes += poll(cursor, 1);
        }
        return successes;
    }

    /**
     * Posts chains of {@link #BATCH} writes and polls for all completions. Returns the number of
     * successes.
     */
    public long chainAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            chain.tryPost();
            successes += poll(cursor, BATCH);
        }
        return successes;
    }

    private static int poll(CompletionCursor cursor, int expected) {
        var successes = 0;
        for (var seen = 0; seen < expected; ) {
            cursor.poll();
            while (cursor.next()) {
                seen++;
                if (cursor.isSuccess()) {
                    successes++;
                }
            }
        }
        return successes;
    }

    @Override
    public void close() {
        cursor.close();
        device.close();
    }
}
