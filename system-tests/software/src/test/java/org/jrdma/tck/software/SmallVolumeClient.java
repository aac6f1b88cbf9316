package org.jrdma.tck.software;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.RemoteMemory;

/** A client of the smallest volume that sends any request and any immediate data. */
final class SmallVolumeClient implements AutoCloseable {

    private static final int MESSAGE_BYTES = 256;
    private static final Duration TIMEOUT = ofSeconds(20);

    private final Device device;
    private final MemoryRegion in;
    private final MemoryRegion out;
    private final Connection<AsyncQueuePair> connection;

    SmallVolumeClient(String host, int port) throws IOException {
        var library = SoftRoce.onLoopback(1);
        device = Verbs.from(library).openFirst();
        try {
            var domain = device.newProtectionDomain();
            var memory = domain.newArena(Access.LOCAL_WRITE);
            in = memory.region(MESSAGE_BYTES);
            out = memory.region(256 * 4096);
            connection =
                    ConnectionManager.from(library)
                            .connect(
                                    new InetSocketAddress(host, port),
                                    domain,
                                    options(device.newCompletionDispatcher(64)),
                                    TIMEOUT);
        } catch (Throwable e) {
            device.close();
            throw e;
        }
    }

    private static ConnectionOptions<AsyncQueuePair> options(CompletionDispatcher completions) {
        return ConnectionOptions.of(QueuePairOptions.reliable(completions));
    }

    @FunctionalInterface
    private interface Post {
        Transfer to(AsyncQueuePair queuePair) throws IOException;
    }

    private String answer(Post post) throws IOException {
        var received = connection.queuePair().receive(in.slice());
        var _ = post.to(connection.queuePair()).await(TIMEOUT);
        var bytes = received.await(TIMEOUT).bytes();
        return UTF_8.decode(in.slice(0, bytes).segment().asByteBuffer()).toString();
    }

    private MemorySlice message(String text) {
        var bytes = text.getBytes(UTF_8);
        var _ = out.segment().asByteBuffer().put(bytes);
        return out.slice(0, bytes.length);
    }

    /** Sends a message, and returns the answer. */
    String request(String text) throws IOException {
        return answer(queuePair -> queuePair.send(message(text)));
    }

    /** Sends a message with immediate data, and returns the answer. */
    String requestWithImmediate(String text, int immediate) throws IOException {
        return answer(queuePair -> queuePair.sendWithImmediate(message(text), immediate));
    }

    /** Sends a request that reserves an extent with an expected number. */
    RemoteMemory reserve(String request, int number) throws IOException {
        var answer = request(request).split(" ", -1);
        assertThat(answer[0]).isEqualTo(Integer.toString(number));
        return RemoteMemory.parse(answer[1]);
    }

    /** Fills memory of the server, notifies it by immediate data, and returns the answer. */
    String write(RemoteMemory target, int immediate) throws IOException {
        return answer(queuePair ->
                queuePair.writeWithImmediate(out.slice(0, target.length()), target, immediate));
    }

    @Override
    public void close() {
        connection.close();
        device.close();
    }
}
