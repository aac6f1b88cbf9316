package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests connections that follow others to the same listener on another SISCI node. */
@Timeout(60)
class SisciNextConnectionDelayTest {

    private static final String SERVER_IS_NODE_8 =
            """
            HOSTNAME: 127.0.0.1
            ADAPTER: server_a0 8 0 4
            """;

    private static final int ROUNDS = 5;

    /** A part of the period of the scans that find missed wake-ups, which is a second. */
    private static final Duration SOON = Duration.ofMillis(50);

    private FabricSelectorProvider provider;
    private ServerSocketChannel listener;

    @BeforeEach
    void open() throws Exception {
        var options = SoftSisciOptions.in(InProcessSoftwareSisciNode.newFabric());
        listener =
                ChannelPair.listener(InProcessSoftwareSisciNode.of(options.node(8)).provider(""));
        provider = InProcessSoftwareSisciNode.of(options.node(4)).provider(SERVER_IS_NODE_8);
    }

    @AfterEach
    void close() throws IOException {
        listener.close();
    }

    private ChannelPair connect() throws IOException {
        var client = provider.openSocketChannel();
        client.connect(listener.getLocalAddress());
        assertThat(OpenConnections.of(client).transport()).isEqualTo("sisci");
        return new ChannelPair(client, listener.accept());
    }

    private static int read(SocketChannel channel) throws IOException {
        return channel.read(ByteBuffer.allocate(1));
    }

    /**
     * The client requests the next connection by a wake-up. At that time, no thread of the server
     * waits for a stream.
     */
    @Test
    void shouldAcceptTheNextConnectionSoonAlthoughNoThreadWaitsForAStream() throws Exception {
        var times = new ArrayList<Duration>();
        try (var other = connect()) {
            for (var i = 0; i < ROUNDS; i++) {
                var pair = connect();
                pair.client().close();
                assertThat(read(pair.server())).isEqualTo(-1);
                // The wait of this thread ends that of the service thread.
                var reading = Tasks.start(() -> read(other.server()));
                Thread.sleep(SOON);
                other.client().write(ByteBuffer.allocate(1));
                assertThat(reading.get()).isEqualTo(1);
                pair.server().close();
                Thread.sleep(SOON);

                var start = System.nanoTime();
                var next = connect();

                times.add(Duration.ofNanos(System.nanoTime() - start));
                next.close();
            }
        }
        assertThat(times.stream().sorted().toList().get(ROUNDS / 2)).isLessThan(SOON);
    }
}
