package org.jrdma.examples.simplerdmawrite;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import module org.jrdma.verbs;

import java.io.IOException;
import org.jrdma.examples.AbstractExample;
import org.jrdma.verbs.memory.MemoryRegion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * One RDMA WRITE: a process writes a text into the memory of another process, whose processor is
 * not involved.
 *
 * <p>The two processes exchange addresses and keys over TCP. Only the text is sent by RDMA.
 *
 * <pre>
 * ./jrdma example simple-rdma-write             # on the host "server"
 * ./jrdma example simple-rdma-write server      # on another host, or in another terminal
 * </pre>
 */
@Command(
        name = "simple-rdma-write",
        description = "One process writes a text into the memory of another")
public final class SimpleRdmaWrite extends AbstractExample {

    private static final String TEXT = "Saluton, mondo";

    // The layout of the memory: the text, and after it a number that is 0 until the text has
    // arrived.
    private static final int ARRIVED = 56;
    private static final int BYTES = ARRIVED + Long.BYTES;

    @Mixin private DeviceOptions deviceOptions;

    @Option(names = "-p", paramLabel = "PORT", description = "TCP port; 0 is any free port")
    private int port = 18515;

    @Parameters(
            arity = "0..1",
            paramLabel = "HOST",
            description = "host of the writer; without it, this process is the writer")
    private String host = "";

    static void main(String... arguments) {
        new SimpleRdmaWrite().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        // verbs() is Verbs.system() on a machine with an RDMA device.
        try (var device = deviceOptions.open(verbs());
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE);
                var completions = device.newCompletionDispatcher(16);
                var queuePair = domain.newQueuePair(deviceOptions.applyTo(reliable(completions)));
                var peer = Peer.at(host, port)) {

            // Registered memory: zeroed, page aligned, and locked, so that the adapter can access
            // it without the kernel.
            var buffer = memory.region(BYTES);

            // An endpoint is the address of a queue pair: LID, number, first packet sequence
            // number, and GID. Remote memory is an address, a key that grants access, and a length.
            var remoteEndpoint = Endpoint.parse(peer.exchange(queuePair.endpoint()));
            var remoteMemory = RemoteMemory.parse(peer.exchange(buffer.remote()));
            IO.println("local:  " + queuePair.endpoint() + ", memory " + buffer.remote());
            IO.println("remote: " + remoteEndpoint + ", memory " + remoteMemory);

            queuePair.connect(remoteEndpoint);
            peer.exchange("connected");

            if (host.isEmpty()) {
                write(queuePair, buffer, remoteMemory);
            } else {
                watch(buffer);
            }
            // Both sides wait for each other before they close their objects: a closed queue pair
            // acknowledges no packets, and deregistered memory cannot be written.
            peer.exchange("done");
        }
    }

    private static void write(
            AsyncQueuePair queuePair, MemoryRegion buffer, RemoteMemory remoteMemory)
            throws IOException {
        buffer.segment().setString(0, TEXT);
        buffer.segment().set(JAVA_LONG, ARRIVED, 1);
        queuePair.write(buffer.slice(), remoteMemory).await(TIMEOUT);
        IO.println("wrote \"" + TEXT + "\"");
    }

    /**
     * Waits for the text. Adapters place the bytes of a write in ascending order, so the number
     * after the text arrives last. No standard guarantees this order: see the example write-notify.
     */
    private static void watch(MemoryRegion buffer) throws IOException {
        spinUntil(() -> buffer.readLongAcquire(ARRIVED) != 0);
        IO.println("found \"" + buffer.segment().getString(0) + "\"");
    }
}
