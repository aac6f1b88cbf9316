package org.jrdma.tck.verbs;

import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;

/**
 * Two polled queue pairs of one device, which are connected unless {@link #unconnected} creates
 * them. Closing the pair closes the device.
 */
final class Pair implements AutoCloseable {

    static final Access[] ALL = {
        Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC
    };
    static final int REGION_BYTES = 64 << 10;
    static final int REQUESTS = 32;

    private final Device device;
    private final Side left;
    private final Side right;

    private Pair(Device device, Side left, Side right) {
        this.device = device;
        this.left = left;
        this.right = right;
    }

    static Pair connected() throws VerbsException {
        return connected(DirectConnectOptions.DEFAULT);
    }

    static Pair connected(DirectConnectOptions options) throws VerbsException {
        return connected(options, unchanged -> unchanged);
    }

    static Pair connected(UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws VerbsException {
        return connected(DirectConnectOptions.DEFAULT, change);
    }

    static Pair connected(
            DirectConnectOptions options, UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws VerbsException {
        Fabric.underTest().needs(Feature.MOVING_DATA);
        return connected(Fabric.underTest().open(), options, change);
    }

    /**
     * Creates a reliable pair.
     *
     * @param change changes the options of its completion queues
     */
    static Pair completing(UnaryOperator<CompletionQueueOptions> change) throws VerbsException {
        Fabric.underTest().needs(Feature.MOVING_DATA);
        var device = Fabric.underTest().open();
        return connect(
                new Pair(
                        device,
                        side(device, change, Pair::reliable),
                        side(device, change, Pair::reliable)),
                DirectConnectOptions.DEFAULT);
    }

    /** Creates a pair with unreliable connections. */
    static Pair unreliable() throws VerbsException {
        Fabric.underTest().needs(Feature.UNRELIABLE_CONNECTIONS);
        Fabric.underTest().needs(Feature.MOVING_DATA);
        var device = Fabric.underTest().open();
        return connect(
                new Pair(device, unreliableSide(device), unreliableSide(device)),
                DirectConnectOptions.DEFAULT);
    }

    /** Creates a reliable pair on an open device. Closing the pair closes the device. */
    static Pair connected(
            Device device,
            DirectConnectOptions options,
            UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws VerbsException {
        return connect(unconnected(device, change), options);
    }

    private static Pair connect(Pair pair, DirectConnectOptions options) throws VerbsException {
        Fabric.underTest().needs(Feature.CONNECTING_BY_MODIFY);
        pair.left.queuePair().connect(pair.right.queuePair().endpoint(), options);
        pair.right.queuePair().connect(pair.left.queuePair().endpoint(), options);
        return pair;
    }

    static Pair unconnected() throws VerbsException {
        return unconnected(Fabric.underTest().open(), unchanged -> unchanged);
    }

    private static Pair unconnected(
            Device device, UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws VerbsException {
        return new Pair(device, reliableSide(device, change), reliableSide(device, change));
    }

    private static Side reliableSide(
            Device device, UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws VerbsException {
        return side(
                device, unchanged -> unchanged, completions -> change.apply(reliable(completions)));
    }

    private static QueuePairOptions<PolledQueuePair> reliable(CompletionQueue completions) {
        return QueuePairOptions.reliable(completions).sends(REQUESTS).receives(REQUESTS);
    }

    private static Side unreliableSide(Device device) throws VerbsException {
        return side(
                device,
                unchanged -> unchanged,
                completions ->
                        QueuePairOptions.unreliable(completions)
                                .sends(REQUESTS)
                                .receives(REQUESTS));
    }

    private static Side side(
            Device device,
            UnaryOperator<CompletionQueueOptions> change,
            Function<CompletionQueue, QueuePairOptions<PolledQueuePair>> queuePair)
            throws VerbsException {
        var domain = device.newProtectionDomain();
        var options = change.apply(CompletionQueueOptions.capacity(256));
        var completions =
                device.newCompletionQueue(
                        !Fabric.underTest().profile().has(Feature.COMPLETION_EVENTS)
                                ? options
                                : options.waitable());
        return new Side(
                domain,
                completions,
                completions.newCursor(16),
                domain.newArena(ALL).region(REGION_BYTES),
                domain.newQueuePair(queuePair.apply(completions)));
    }

    Device device() {
        return device;
    }

    /** Returns the side that sends first in most tests. */
    Side left() {
        return left;
    }

    /** Returns the side that receives first in most tests. */
    Side right() {
        return right;
    }

    @Override
    public void close() {
        device.close();
    }
}
