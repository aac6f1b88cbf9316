package org.jrdma.examples.simplerdmawrite;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
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
 * One RDMA WRITE: a process puts a text into the memory of another one, which does nothing for it
 * but to look.
 *
 * <p>The two find each other over TCP. There they swap what RDMA needs to know, and tell each other
 * when they are done; the text goes another way.
 */
public final class SimpleRdmaWrite {

    private static final String USAGE =
            """
            usage: simple-rdma-write [options]         waits for the other side, then writes into its memory
                   simple-rdma-write [options] HOST    connects to HOST and is written to

              -d DEVICE   the RDMA device (the first there is)
              -f FABRIC   "system", or "software" (that where the machine has no RDMA device)
              -g INDEX    the row of its GID table to send from (on RoCE the best there is)
              -p PORT     the TCP port (18515); 0 is any that is free\
            """;

    private static final String TEXT = "Saluton, mondo";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    // What is written: the text, and behind it a number that is 0 until the text is there.
    private static final int ARRIVED = 56;
    private static final int BYTES = ARRIVED + Long.BYTES;

    private String device = "";
    private String fabric = "";
    private int gidIndex = -1;
    private int port = 18515;
    private String host = "";

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            new SimpleRdmaWrite(arguments).run();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private void run() throws IOException {
        var verbs = Fabric.choose(fabric); // Verbs.system(), where there is a device
        try (var device = this.device.isEmpty() ? verbs.openFirst() : verbs.open(this.device);
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE);
                var completions = device.newCompletionDispatcher(16);
                var queuePair = domain.newQueuePair(options(completions));
                var peer = isWriter() ? Peer.waitOn(port) : Peer.at(host, port)) {

            // Zeroed, page aligned, and locked, so that the adapter can reach it without the
            // kernel.
            var buffer = memory.region(BYTES);

            // Where the queue pairs are: lid, number, first packet's number, and the GID, without
            // which there is no way on RoCE. Where the memory is: address, key, length.
            var theirEndpoint = Endpoint.parse(peer.swap(queuePair.endpoint()));
            var theirMemory = RemoteMemory.parse(peer.swap(buffer.remote()));
            IO.println("local:  " + queuePair.endpoint() + ", memory " + buffer.remote());
            IO.println("remote: " + theirEndpoint + ", memory " + theirMemory);

            queuePair.connect(theirEndpoint);
            peer.swap("connected");

            if (isWriter()) {
                write(queuePair, buffer, theirMemory);
            } else {
                watch(buffer);
            }
            // Neither side leaves before the other is done: a queue pair that is gone answers no
            // packets, and memory that is gone cannot be written.
            peer.swap("done");
        }
    }

    private static void write(
            AsyncQueuePair queuePair, MemoryRegion buffer, RemoteMemory theirMemory)
            throws IOException {
        buffer.segment().setString(0, TEXT);
        buffer.segment().set(JAVA_LONG, ARRIVED, 1);
        queuePair.write(buffer.slice(), theirMemory).await(PATIENCE);
        IO.println("wrote \"" + TEXT + "\"");
    }

    /**
     * Waits for the text. Adapters place the bytes of a write in rising order, so the number behind
     * the text comes last. No standard promises that: a program that must be sure writes with
     * immediate data, which the other side receives as a completion.
     */
    private static void watch(MemoryRegion buffer) throws IOException {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (buffer.readLongAcquire(ARRIVED) == 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("Nothing was written within " + PATIENCE.toSeconds() + " s.");
            }
            Thread.onSpinWait();
        }
        IO.println("found \"" + buffer.segment().getString(0) + "\"");
    }

    private boolean isWriter() {
        return host.isEmpty();
    }

    private QueuePairOptions<AsyncQueuePair> options(CompletionDispatcher completions) {
        var options = reliable(completions);
        return gidIndex < 0 ? options : options.gidIndex(gidIndex);
    }

    SimpleRdmaWrite(String... arguments) {
        for (var rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            var argument = rest.next();
            if (!argument.startsWith("-") && host.isEmpty()) {
                host = argument;
            } else if (List.of("-d", "-f", "-g", "-p").contains(argument) && rest.hasNext()) {
                var value = rest.next();
                switch (argument) {
                    case "-d" -> device = value;
                    case "-f" -> fabric = value;
                    case "-g" -> gidIndex = number(value);
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
