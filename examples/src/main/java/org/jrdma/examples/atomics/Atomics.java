package org.jrdma.examples.atomics;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_ATOMIC;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import module org.jrdma.verbs;

import java.io.IOException;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Two processes increment counters in the memory of one of them: with a read and a write, which
 * lose updates, with a read and a write under a lock, and with fetch-and-add.
 *
 * <pre>
 * ./jrdma example atomics             # on the host "owner", which has the counters
 * ./jrdma example atomics owner       # on another host, or in another terminal
 * </pre>
 */
@Command(name = "atomics", description = "Two processes count in one memory, with and without lock")
public final class Atomics extends AbstractExample {

    // Offsets of the counters and of the lock. Atomics need addresses that are multiples of 8.
    private static final long UNPROTECTED = 0;
    private static final long LOCKED = 8;
    private static final long ADDED = 16;
    private static final long LOCK = 24;
    private static final long FREE = 0;
    private static final long HELD = 1;
    private static final int BYTES = 32;

    @Mixin private DeviceOptions deviceOptions;

    @Option(names = "-n", paramLabel = "COUNT", description = "increments of each counter")
    private int count = 1000;

    @Option(names = "-p", paramLabel = "PORT", description = "TCP port; 0 is any free port")
    private int port = 18515;

    @Parameters(arity = "0..1", paramLabel = "HOST", description = "host that has the counters")
    private String host = "";

    private AsyncQueuePair queuePair;
    private RemoteMemory counters;
    private MemoryRegion result;

    static void main(String... arguments) {
        new Atomics().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        try (var device = deviceOptions.open(verbs());
                var domain = device.newProtectionDomain();
                var memory =
                        domain.newArena(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC);
                var completions = device.newCompletionDispatcher(64);
                var peer = Peer.at(host, port)) {
            var options = deviceOptions.applyTo(reliable(completions));
            var own = memory.region(BYTES);
            result = memory.region(Long.BYTES);
            queuePair = domain.newQueuePair(options); // Closed with its domain.
            var remote = Endpoint.parse(peer.exchange(queuePair.endpoint()));
            counters = RemoteMemory.parse(peer.exchange(own.remote()));
            queuePair.connect(remote);
            if (host.isEmpty()) {
                // The owner also counts by RDMA, over a queue pair connected to itself, because the
                // atomics of most adapters are not atomic with respect to the processor.
                queuePair = domain.newQueuePair(options);
                queuePair.connect(queuePair.endpoint());
                counters = own.remote();
            }
            peer.exchange("ready"); // Both sides wait here, so that they count at the same time.
            for (var i = 0; i < count; i++) {
                readAndWrite(UNPROTECTED);
            }
            peer.exchange("ready");
            for (var i = 0; i < count; i++) {
                spinUntil(() -> compareAndSwap(FREE, HELD) == FREE);
                readAndWrite(LOCKED);
                compareAndSwap(HELD, FREE);
            }
            peer.exchange("ready");
            for (var i = 0; i < count; i++) {
                queuePair.fetchAndAdd(result.slice(), counters.at(ADDED), 1).await(TIMEOUT);
            }
            var total = count + Integer.parseInt(peer.exchange(count));
            if (host.isEmpty()) {
                IO.println("together, both sides counted to " + total);
                var values = own.segment();
                IO.println("read, add, write:      " + values.get(JAVA_LONG, UNPROTECTED));
                IO.println("with a lock:           " + values.get(JAVA_LONG, LOCKED));
                IO.println("fetch-and-add:         " + values.get(JAVA_LONG, ADDED));
            }
            peer.exchange("done"); // The owner keeps its memory until both sides have finished.
        }
    }

    /** Increments a counter. Loses increments made between the read and the write. */
    private void readAndWrite(long offset) throws IOException {
        queuePair.read(result.slice(), counters.at(offset)).await(TIMEOUT);
        result.segment().set(JAVA_LONG, 0, result.segment().get(JAVA_LONG, 0) + 1);
        queuePair.write(result.slice(), counters.at(offset)).await(TIMEOUT);
    }

    /** Returns the previous value of the lock, which changes only if it is the expected value. */
    private long compareAndSwap(long expected, long next) throws IOException {
        var lock = counters.at(LOCK);
        queuePair.compareAndSwap(result.slice(), lock, expected, next).await(TIMEOUT);
        return result.segment().get(JAVA_LONG, 0);
    }
}
