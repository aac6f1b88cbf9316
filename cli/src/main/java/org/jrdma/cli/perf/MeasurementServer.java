package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs the remote side of measurements, for several clients at the same time. The number of clients
 * is limited, and so is the number of clients with the same IP address, so that one host cannot
 * exclude others.
 */
final class MeasurementServer {

    static final int MAX_CALLERS = 8;
    static final int MAX_CALLERS_OF_ADDRESS = 2;

    private final List<Path> paths;
    private final PrintWriter errors;

    /** The number of clients whose measurements are running, by their addresses. */
    private final Map<InetAddress, Integer> callers = new HashMap<>();

    MeasurementServer(List<Path> paths, PrintWriter errors) {
        this.paths = paths;
        this.errors = errors;
    }

    /**
     * Runs the remote side of each measurement that a client requests, until the listener is
     * closed.
     */
    void serve(ServerSocket listener) throws IOException {
        while (true) {
            var socket = listener.accept();
            if (admit(socket.getInetAddress())) {
                Thread.ofPlatform().daemon().name("jrdma-perf").start(() -> respond(socket));
            } else {
                refuse(socket);
            }
        }
    }

    private synchronized boolean admit(InetAddress address) {
        var total = callers.values().stream().mapToInt(Integer::intValue).sum();
        if (total == MAX_CALLERS || callers.getOrDefault(address, 0) == MAX_CALLERS_OF_ADDRESS) {
            return false;
        }
        callers.merge(address, 1, Integer::sum);
        return true;
    }

    private synchronized void dismiss(InetAddress address) {
        callers.computeIfPresent(address, (_, count) -> count == 1 ? null : count - 1);
    }

    private void respond(Socket socket) {
        try (var channel = new ControlChannel(socket)) {
            new Responder(channel, paths).run();
        } catch (IOException | RuntimeException e) {
            errors.println(ExceptionText.of(e));
        } finally {
            dismiss(socket.getInetAddress());
        }
    }

    private void refuse(Socket socket) {
        try (var channel = new ControlChannel(socket)) {
            channel.sendFailure(
                    new IOException(
                            "The server is busy: it serves %d callers at a time, %d of each address. Try again later."
                                    .formatted(MAX_CALLERS, MAX_CALLERS_OF_ADDRESS)));
        } catch (IOException e) {
            errors.println(ExceptionText.of(e));
        }
    }
}
