package org.jrdma.cli.perf;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/**
 * TCP ports without a listener, for child processes that cannot report the port that the system has
 * chosen.
 */
public final class FreePorts {

    private FreePorts() {}

    /** Returns different ports that are free at all local addresses. */
    public static List<Integer> of(int count) throws IOException {
        var sockets = new ArrayList<ServerSocket>();
        try {
            for (var i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0));
            }
            return sockets.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (var socket : sockets) {
                socket.close();
            }
        }
    }
}
