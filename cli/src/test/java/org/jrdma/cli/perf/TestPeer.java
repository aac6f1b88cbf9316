package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.util.List;

/** A peer in this process that serves the paths of a test. */
final class TestPeer implements AutoCloseable {

    private final ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());

    TestPeer(Path... paths) throws IOException {
        Thread.startVirtualThread(() -> {
            try {
                new MeasurementServer(List.of(paths), new PrintWriter(Writer.nullWriter()))
                        .serve(listener);
            } catch (IOException _) {
                // the test has closed the listener
            }
        });
    }

    SocketAddress socketAddress() {
        return listener.getLocalSocketAddress();
    }

    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
