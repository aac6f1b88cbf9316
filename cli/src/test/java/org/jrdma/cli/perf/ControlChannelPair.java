package org.jrdma.cli.perf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Both ends of a {@link ControlChannel} within this process. The end {@code here} has connected to
 * the end {@code there}.
 */
record ControlChannelPair(ControlChannel here, ControlChannel there) implements AutoCloseable {

    static ControlChannelPair connected() throws IOException {
        try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var here = new Socket(listener.getInetAddress(), listener.getLocalPort());
            return new ControlChannelPair(
                    new ControlChannel(here), new ControlChannel(listener.accept()));
        }
    }

    @Override
    public void close() throws IOException {
        here.close();
        there.close();
    }
}
