package org.jrdma.sockets.rsocket;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A port at which rsockets are accepted: one that listens for each address, since one for all would
 * claim those of other devices too. Connections are accepted when they come, and wait here.
 *
 * <p>Each has a thread that blocks in raccept: rpoll learns of a connection half a second late,
 * because it waits for what another thread of the library's takes away.
 */
final class RsocketListener extends BypassListener {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketListener.class);
    private static final long PAUSE_MILLIS = 10;

    private final RsocketFabric fabric;
    private final InetSocketAddress address;
    private final int backlog;
    private final List<Integer> numbers;
    private final Queue<Arrival> arrivals = new ArrayDeque<>();
    private boolean closed;

    /** Of rsockets that listen. */
    RsocketListener(
            RsocketFabric fabric, InetSocketAddress address, List<Integer> numbers, int backlog) {
        this.fabric = fabric;
        this.address = address;
        this.backlog = backlog;
        this.numbers = List.copyOf(numbers);
    }

    void open() {
        for (var number : numbers) {
            Thread.ofPlatform()
                    .daemon()
                    .name("jrdma-rsocket-accept-" + address.getPort())
                    .start(() -> acceptAll(number));
        }
    }

    /** Until the rsocket is closed, which ends the wait in it. */
    private void acceptAll(int listener) {
        try {
            while (awaitRoom()) {
                var number = fabric.accept(listener, this::isOpen);
                if (number > 0) {
                    arrive(number);
                } else {
                    Thread.sleep(PAUSE_MILLIS); // a client that has gone, or no descriptor is left
                }
            }
        } catch (InterruptedException e) {
            LOG.error("Nobody is accepted at {} any more", address, e);
        }
    }

    private synchronized boolean awaitRoom() throws InterruptedException {
        while (!closed && arrivals.size() >= backlog) {
            wait();
        }
        return !closed;
    }

    private synchronized boolean isOpen() {
        return !closed;
    }

    private void arrive(int number) {
        Arrival arrival;
        try {
            var stream = new RsocketStream(fabric, number);
            var peer = fabric.calls().peerName(number);
            arrival = new Arrival(stream, stream.localAddress().orElseThrow(), peer);
        } catch (IllegalStateException e) {
            LOG.debug("A client of {} has gone: {}", address, e.getMessage());
            fabric.close(number);
            return;
        }
        synchronized (this) {
            if (!closed) {
                arrivals.add(arrival);
                arrival = null;
            }
        }
        if (arrival == null) {
            changed();
        } else {
            arrival.stream().close(true);
        }
    }

    @Override
    public synchronized @Nullable Arrival poll() {
        notifyAll();
        return arrivals.poll();
    }

    @Override
    public synchronized int ready() {
        return arrivals.isEmpty() ? 0 : SocketCalls.POLLIN;
    }

    @Override
    protected void arm(int events) {} // whoever comes is told of in any case

    @Override
    public void close() {
        Queue<Arrival> left;
        synchronized (this) {
            closed = true;
            left = new ArrayDeque<>(arrivals);
            arrivals.clear();
            notifyAll();
        }
        left.forEach(arrival -> arrival.stream().close(true));
        PlatformCalls.call(() -> {
            numbers.forEach(fabric::closeListener);
            return null;
        });
    }
}
