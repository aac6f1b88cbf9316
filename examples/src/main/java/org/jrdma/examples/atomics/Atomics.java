package org.jrdma.examples.atomics;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_ATOMIC;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jrdma.examples.Fabric;
import org.jrdma.examples.Peer;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * Two processes count in the memory of one of them, in three ways: each reads the number, adds one
 * and writes it; each does so holding a lock, which is compare-and-swap; and each leaves it to the
 * adapter, which is fetch-and-add. In the first way they overwrite what the other has counted.
 *
 * <p>The side that has the memory counts over RDMA too, by a queue pair that is connected to
 * itself: an adapter's atomics are atomic against each other, but most are not against a processor.
 */
public final class Atomics {

    private static final String USAGE =
            """
            usage: atomics [options]         has the memory, and waits for the other side to count with it
                   atomics [options] HOST    connects to HOST and counts in its memory

              -d DEVICE   the RDMA device (the first there is)
              -f FABRIC   "system", or "software" (that where the machine has no RDMA device)
              -g INDEX    the row of its GID table to send from (on RoCE the best there is)
              -n COUNT    how far each side counts (1000)
              -p PORT     the TCP port (18515); 0 is any that is free\
            """;

    private static final Duration PATIENCE = ofSeconds(30);

    // Where the numbers are, 8 bytes each: atomics are at multiples of 8.
    private static final long CARELESS = 0;
    private static final long LOCKED = 8;
    private static final long ADDED = 16;
    private static final long LOCK = 24;
    private static final long FREE = 0;
    private static final int BYTES = 32;

    private String device = "";
    private String fabric = "";
    private int gidIndex = -1;
    private int count = 1000;
    private int port = 18515;
    private String host = "";

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            new Atomics(arguments).run();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private void run() throws IOException {
        var verbs = Fabric.choose(fabric);
        try (var device = this.device.isEmpty() ? verbs.openFirst() : verbs.open(this.device);
                var domain = device.newProtectionDomain();
                var memory =
                        domain.newArena(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC);
                var numbers = memory.region(BYTES);
                var result = memory.region(Long.BYTES);
                var completions = device.newCompletionDispatcher(64);
                var toPeer = domain.newQueuePair(options(completions));
                var toItself = domain.newQueuePair(options(completions));
                var peer = hasMemory() ? Peer.waitOn(port) : Peer.at(host, port)) {

            var theirEndpoint = Endpoint.parse(peer.swap(toPeer.endpoint()));
            var theirNumbers = RemoteMemory.parse(peer.swap(numbers.remote()));
            toPeer.connect(theirEndpoint);
            toItself.connect(toItself.endpoint());

            var counter =
                    hasMemory()
                            ? new Counter(toItself, numbers.remote(), result, 1)
                            : new Counter(toPeer, theirNumbers, result, 2);
            for (var way : List.<Way>of(counter::carelessly, counter::locked, counter::added)) {
                peer.swap("ready"); // so that both count at the same time
                for (var i = 0; i < count; i++) {
                    way.countOne();
                }
            }
            var theirCount = Integer.parseInt(peer.swap(count));
            if (hasMemory()) {
                IO.println("together, both sides counted to " + (count + theirCount));
                show("read, add, write", numbers, CARELESS);
                show("the same with a lock", numbers, LOCKED);
                show("fetch-and-add", numbers, ADDED);
            }
            IO.println("the lock was held by the other side %d times".formatted(counter.refused));
            peer.swap("done"); // neither leaves before the other needs it no more
        }
    }

    private static void show(String way, MemoryRegion numbers, long offset) {
        IO.println("%-22s %d".formatted(way + ":", numbers.segment().get(JAVA_LONG, offset)));
    }

    @FunctionalInterface
    private interface Way {
        void countOne() throws IOException;
    }

    /** Adds to numbers in memory that may be another process's, one operation after the other. */
    private static final class Counter {

        private final AsyncQueuePair queuePair;
        private final RemoteMemory numbers;
        private final MemoryRegion result;
        private final long name;
        private int refused;

        /**
         * @param name what says who has the lock
         */
        Counter(AsyncQueuePair queuePair, RemoteMemory numbers, MemoryRegion result, int name) {
            this.queuePair = queuePair;
            this.numbers = numbers;
            this.result = result;
            this.name = name;
        }

        /** Loses what the other side writes between the read and the write. */
        void carelessly() throws IOException {
            readAddWrite(CARELESS);
        }

        void locked() throws IOException {
            var deadline = System.nanoTime() + PATIENCE.toNanos();
            while (swap(FREE, name) != FREE) {
                refused++;
                if (System.nanoTime() - deadline > 0) {
                    throw new IOException(
                            "The other side keeps the lock; look there for the reason.");
                }
            }
            readAddWrite(LOCKED);
            swap(name, FREE);
        }

        /** The adapter of the memory reads, adds and writes, and nothing comes between. */
        void added() throws IOException {
            queuePair.fetchAndAdd(result.slice(), numbers.at(ADDED), 1).await(PATIENCE);
        }

        private void readAddWrite(long offset) throws IOException {
            queuePair.read(result.slice(), numbers.at(offset)).await(PATIENCE);
            result.segment().set(JAVA_LONG, 0, result.segment().get(JAVA_LONG, 0) + 1);
            queuePair.write(result.slice(), numbers.at(offset)).await(PATIENCE);
        }

        /** What was in the lock. It is replaced only if that is what was expected. */
        private long swap(long expected, long replacement) throws IOException {
            queuePair
                    .compareAndSwap(result.slice(), numbers.at(LOCK), expected, replacement)
                    .await(PATIENCE);
            return result.segment().get(JAVA_LONG, 0);
        }
    }

    private boolean hasMemory() {
        return host.isEmpty();
    }

    private QueuePairOptions<AsyncQueuePair> options(CompletionDispatcher completions) {
        var options = reliable(completions);
        return gidIndex < 0 ? options : options.gidIndex(gidIndex);
    }

    private Atomics(String... arguments) {
        for (var rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            var argument = rest.next();
            if (!argument.startsWith("-") && host.isEmpty()) {
                host = argument;
            } else if (List.of("-d", "-f", "-g", "-n", "-p").contains(argument) && rest.hasNext()) {
                var value = rest.next();
                switch (argument) {
                    case "-d" -> device = value;
                    case "-f" -> fabric = value;
                    case "-g" -> gidIndex = number(value);
                    case "-n" -> count = number(value);
                    default -> port = number(value);
                }
            } else {
                throw new IllegalArgumentException(
                        argument + " is too much, or misses its value.\n\n" + USAGE);
            }
        }
    }

    private static int number(String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(value + " is not a number.\n\n" + USAGE, e);
        }
    }
}
