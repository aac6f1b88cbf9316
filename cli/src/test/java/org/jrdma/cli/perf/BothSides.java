package org.jrdma.cli.perf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The two ends of one {@link ControlChannel}, within this process. */
record BothSides(ControlChannel here, ControlChannel there) implements AutoCloseable {

    static BothSides connected() throws IOException {
        try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var here = new Socket(listener.getInetAddress(), listener.getLocalPort());
            return new BothSides(new ControlChannel(here), new ControlChannel(listener.accept()));
        }
    }

    @Override
    public void close() throws IOException {
        here.close();
        there.close();
    }
}
