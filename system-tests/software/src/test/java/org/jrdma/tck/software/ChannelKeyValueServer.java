package org.jrdma.tck.software;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ChannelClosedException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.ListenerClosedException;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.cm.TerminationCause;

/**
 * A key-value server that is written as a new user would write it, with a virtual thread and a
 * channel for each client.
 *
 * <p>The requests are {@code put KEY VALUE}, {@code get KEY} and {@code sleep MILLISECONDS}. A
 * sleep delays its own answer and those of the following requests of the client. Each request has
 * one answer.
 */
final class ChannelKeyValueServer implements AutoCloseable {

    private final ConcurrentMap<String, String> values = new ConcurrentHashMap<>();
    private final ConcurrentMap<TerminationCause.Cause, Integer> ends = new ConcurrentHashMap<>();
    private final ConcurrentMap<RdmaChannel, Boolean> open = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ProtectionDomain domain;
    private final RdmaChannelOptions options;
    private final Listener listener;

    ChannelKeyValueServer(
            ConnectionManager connections, ProtectionDomain domain, RdmaChannelOptions options)
            throws IOException {
        this.domain = domain;
        this.options = options;
        this.listener = connections.listen(domain.device(), 0);
        threads.execute(this::acceptClients);
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    /** The number of channels that have ended for each cause. */
    ConcurrentMap<TerminationCause.Cause, Integer> ends() {
        return ends;
    }

    private void acceptClients() {
        try {
            while (true) {
                var request = listener.next(ChronoUnit.FOREVER.getDuration());
                threads.execute(() -> serve(request));
            }
        } catch (ListenerClosedException e) {
            // The listener is closed because the server stops.
        } catch (IOException e) {
            System.err.println("The server accepts no more clients: " + e.getMessage());
        }
    }

    private void serve(ConnectionRequest request) {
        try (var channel = request.acceptChannel(domain, options, ofSeconds(10))) {
            open.put(channel, true);
            var requests = new ArrayDeque<String>();
            RdmaChannel.Handler handler = (buffer, length) -> requests.add(text(buffer, length));
            while (true) {
                // The result of await() does not matter: a client may be idle, and a free send slot
                // is used for the next answer.
                channel.await(handler, ofMinutes(10));
                while (!requests.isEmpty()) {
                    send(channel, answer(requests.remove()), handler);
                }
            }
        } catch (ChannelClosedException e) {
            ends.merge(e.termination().cause(), 1, Integer::sum);
        } catch (IOException | InterruptedException e) {
            System.err.println("A client was not served: " + e.getMessage());
        }
    }

    private String answer(String request) throws InterruptedException {
        var words = request.split(" ", 3);
        return switch (words[0]) {
            case "put" -> {
                values.put(words[1], words[2]);
                yield "ok";
            }
            case "get" -> values.getOrDefault(words[1], "");
            case "sleep" -> {
                Thread.sleep(Long.parseLong(words[1]));
                yield "ok";
            }
            default -> "unknown request";
        };
    }

    /** Sends a message. While the peer has no free receive slot, handles incoming messages. */
    static void send(RdmaChannel channel, String message, RdmaChannel.Handler handler)
            throws IOException {
        var bytes = MemorySegment.ofArray(message.getBytes(StandardCharsets.UTF_8));
        while (!channel.trySend(bytes)) {
            if (channel.await(handler, ofSeconds(20)) == RdmaChannel.WaitResult.TIMED_OUT) {
                throw new IOException("The peer handles no messages.");
            }
        }
    }

    static String text(MemorySegment buffer, long length) {
        var bytes = buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Stops accepting clients, and closes the channels of the connected clients. */
    void stop() {
        listener.close();
        open.keySet().forEach(RdmaChannel::close);
        threads.close();
    }

    @Override
    public void close() {
        stop();
    }

    /** Runs a server until the process is killed. */
    static void main() throws Exception {
        var device = Verbs.software().openFirst();
        var domain = device.newProtectionDomain();
        try (var server =
                new ChannelKeyValueServer(
                        ConnectionManager.software(),
                        domain,
                        RdmaChannelOptions.DEFAULT.window(4).messageBytes(256))) {
            var address = server.address();
            IO.println(address.getAddress().getHostAddress() + " " + address.getPort());
            IO.readln();
        }
    }
}
