package org.jrdma.benchmarks;

import static org.jrdma.verbs.Access.LOCAL_WRITE;
import static org.jrdma.verbs.Access.REMOTE_WRITE;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DeviceOption;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PolledSharedReceiveQueue;
import org.jrdma.verbs.PreparedChain;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.VerbsException;

/**
 * What Java does, against {@link NullProvider}, where {@link NullProvider#writeAndPoll} and {@link
 * NullProvider#receiveAndPoll} and so on do the same in C. For one thread.
 */
public final class Loop implements AutoCloseable {

    /** How many requests a chain has, and how many completions a poll takes at most. */
    public static final int BATCH = 16;

    private static final int BYTES = 64;

    final PolledQueuePair queuePair;
    final PolledSharedReceiveQueue shared;
    final CompletionQueue completions;
    final MemorySegment element;

    private final Device device;
    private final PreparedWrite write;
    private final PreparedReceive receive;
    private final PreparedReceive sharedReceive;
    private final PreparedChain chain;
    private final CompletionCursor cursor;

    /** Connects a queue pair to itself. */
    public Loop(DeviceOption... options) throws FabricException {
        device = NullProvider.instance().verbs().open(NullProvider.DEVICE, options);
        var domain = device.newProtectionDomain();
        completions = device.newCompletionQueue(5 * BATCH);
        queuePair = domain.newQueuePair(reliable(completions).sends(2 * BATCH).receives(BATCH));
        queuePair.connect(queuePair.endpoint());
        shared = domain.newSharedReceiveQueue(BATCH);
        var sharing = domain.newQueuePair(reliable(completions).sends(1).sharedReceives(shared));
        sharing.connect(sharing.endpoint());
        var region = domain.newArena(LOCAL_WRITE, REMOTE_WRITE).region(BYTES);
        element =
                NullProvider.element(
                        Arena.ofAuto(), region.segment().address(), BYTES, region.localKey());
        write = prepareWrite(region).id(1);
        receive = queuePair.prepareReceive(region.slice()).id(2);
        sharedReceive = shared.prepareReceive(region.slice()).id(3);
        chain =
                queuePair.prepareChain(
                        Stream.generate(() -> prepareWrite(region))
                                .limit(BATCH)
                                .toArray(PreparedRequest<?>[]::new));
        cursor = completions.newCursor(BATCH);
    }

    private PreparedWrite prepareWrite(MemoryRegion region) {
        return queuePair.prepareWrite(region.slice(), region.remote());
    }

    /** Posts writes, one by one, and polls for each completion. Returns how many succeeded. */
    public long writeAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            write.tryPost();
            successes += poll(1);
        }
        return successes;
    }

    /** Posts receives, one by one, and polls for each completion. Returns how many succeeded. */
    public long receiveAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            receive.tryPost();
            successes += poll(1);
        }
        return successes;
    }

    /** The same with receives of a queue that is shared. */
    public long sharedReceiveAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            sharedReceive.tryPost();
            successes += poll(1);
        }
        return successes;
    }

    /** Posts chains of {@link #BATCH} writes and polls for all completions. */
    public long chainAndPoll(long rounds) throws VerbsException {
        var successes = 0L;
        for (var round = 0L; round < rounds; round++) {
            chain.tryPost();
            successes += poll(BATCH);
        }
        return successes;
    }

    private int poll(int wanted) {
        var successes = 0;
        for (var seen = 0; seen < wanted; ) {
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
