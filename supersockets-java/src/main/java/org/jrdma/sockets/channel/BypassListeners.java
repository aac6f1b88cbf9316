package org.jrdma.sockets.channel;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jrdma.sockets.policy.TransportList.Bypass;
import org.jspecify.annotations.Nullable;

/**
 * The listeners that a channel has in addition to its listening socket, one for each transport
 * without a kernel socket.
 */
final class BypassListeners extends ReadinessSource {

    static final BypassListeners NONE = new BypassListeners(List.of());

    private static final String UNUSED = "the client did not connect over it";

    /**
     * The listener over one transport. If it could not be opened, {@code listener} is null, {@code
     * whyNot} is the reason, and {@code isPortTaken} is true if the port is in use.
     */
    private record Entry(@Nullable BypassListener listener, String whyNot, boolean isPortTaken) {}

    /**
     * A connection that one of the listeners has accepted.
     *
     * @param index the index of the transport in the list of the channel
     * @param arrival the connection
     */
    record Accepted(int index, BypassListener.Arrival arrival) {}

    private final List<Entry> entries;

    private BypassListeners(List<Entry> entries) {
        this.entries = entries;
    }

    /** Opens a listener for each transport that can use the address and port. */
    static BypassListeners open(
            List<Bypass> bypasses, InetSocketAddress address, int backlog, int receiveBuffer) {
        var entries = new ArrayList<Entry>();
        for (var bypass : bypasses) {
            try {
                entries.add(
                        new Entry(
                                bypass.transport().listen(address, backlog, receiveBuffer),
                                "",
                                false));
            } catch (FabricException e) {
                var isPortTaken = e.code() == Errno.EADDRINUSE;
                entries.add(new Entry(null, String.valueOf(e.getMessage()), isPortTaken));
            }
        }
        var all = new BypassListeners(List.copyOf(entries));
        for (var entry : entries) {
            if (entry.listener != null) {
                entry.listener.add(all::changed);
            }
        }
        return all;
    }

    /** Returns true if at least one listener could not be opened because its port is in use. */
    boolean isAnyPortTaken() {
        return entries.stream().anyMatch(Entry::isPortTaken);
    }

    /** Returns the next connection; null if there is none now. */
    @Nullable Accepted poll() {
        for (var i = 0; i < entries.size(); i++) {
            var listener = entries.get(i).listener;
            var arrival = listener == null ? null : listener.poll();
            if (arrival != null) {
                return new Accepted(i, arrival);
            }
        }
        return null;
    }

    /**
     * Returns a copy of {@code selected} for a stream that does not use the first {@code count}
     * transports of the list. The copy contains the reason for each of them.
     */
    SelectedTransport without(SelectedTransport selected, int count) {
        var remaining = selected;
        for (var entry : entries.subList(0, Math.min(count, entries.size()))) {
            remaining = remaining.withoutBypass(entry.listener == null ? entry.whyNot : UNUSED);
        }
        return remaining;
    }

    @Override
    public int ready() {
        var ready = 0;
        for (var entry : entries) {
            ready |= entry.listener == null ? 0 : entry.listener.ready();
        }
        return ready;
    }

    @Override
    protected void arm(int events, boolean parks) {
        for (var entry : entries) {
            if (entry.listener != null) {
                entry.listener.readyOrArmed(events);
            }
        }
    }

    /**
     * Returns the reason why clients cannot use the transport at an index; empty if they can use
     * it.
     */
    String whyNot(int index) {
        return entries.get(index).whyNot;
    }

    void close() {
        for (var entry : entries) {
            if (entry.listener != null) {
                entry.listener.close();
            }
        }
    }
}
