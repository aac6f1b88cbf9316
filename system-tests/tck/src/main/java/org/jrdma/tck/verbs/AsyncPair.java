package org.jrdma.tck.verbs;

import java.time.Duration;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.VerbsException;

/**
 * Two connected async queue pairs of one device, and their memory. Closing the pair closes the
 * device.
 *
 * @param here the memory region of the left queue pair
 * @param there the memory region of the right queue pair
 */
record AsyncPair(
        Device device,
        ProtectionDomain domain,
        CompletionDispatcher completions,
        MemoryRegion here,
        MemoryRegion there,
        AsyncQueuePair left,
        AsyncQueuePair right)
        implements AutoCloseable {

    static final Duration TIMEOUT = Duration.ofSeconds(20);

    static AsyncPair connected() throws VerbsException {
        return connected(Pair.REQUESTS);
    }

    static AsyncPair connected(int requests) throws VerbsException {
        return connected(requests, Duration.ofMillis(300));
    }

    static AsyncPair connected(int requests, Duration slotTimeout) throws VerbsException {
        var fabric = Fabric.underTest();
        fabric.needs(Feature.MOVING_DATA);
        fabric.needs(Feature.COMPLETION_EVENTS);
        fabric.needs(Feature.CONNECTING_BY_MODIFY);
        var device = fabric.open();
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionDispatcher(4 * requests);
        var memory = domain.newArena(Pair.ALL);
        var options =
                QueuePairOptions.reliable(completions)
                        .sends(requests)
                        .receives(requests)
                        .slotTimeout(slotTimeout);
        var left = domain.newQueuePair(options);
        var right = domain.newQueuePair(options);
        left.connect(right.endpoint(), DirectConnectOptions.DEFAULT);
        right.connect(left.endpoint(), DirectConnectOptions.DEFAULT);
        return new AsyncPair(
                device,
                domain,
                completions,
                memory.region(Pair.REGION_BYTES),
                memory.region(Pair.REGION_BYTES),
                left,
                right);
    }

    @Override
    public void close() {
        device.close();
    }
}
