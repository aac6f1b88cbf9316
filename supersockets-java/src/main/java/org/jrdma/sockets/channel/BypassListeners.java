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

/** The bypasses by which clients can reach a listener, beside its socket. */
final class BypassListeners extends ReadinessSource {

    static final BypassListeners NONE = new BypassListeners(List.of());

    private static final String NOT_COME = "the client did not come by it";

    /** The listener of one bypass, or why it could not be opened. */
    private record Entry(@Nullable BypassListener listener, String whyNot, boolean isPortTaken) {}

    /**
     * A connection by one of the bypasses.
     *
     * @param index the index of the bypass
     */
    record Accepted(int index, BypassListener.Arrival arrival) {}

    private final List<Entry> entries;

    private BypassListeners(List<Entry> entries) {
        this.entries = entries;
    }

    static BypassListeners open(
            List<Bypass> bypasses, InetSocketAddress address, int backlog, int receiveBuffer) {
        var entries = new ArrayList<Entry>();
        for (var path : bypasses) {
            try {
                entries.add(
                        new Entry(
                                path.transport().listen(address, backlog, receiveBuffer),
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

    /** Whether one more bypass might be available at another port. */
    boolean lackTheirPort() {
        return entries.stream().anyMatch(Entry::isPortTaken);
    }

    /** The next connection; null if there is none now. */
    @Nullable Accepted poll() {
        for (var i = 0; i < entries.size(); i++) {
            var entry = entries.get(i).listener;
            var arrival = entry == null ? null : entry.poll();
            if (arrival != null) {
                return new Accepted(i, arrival);
            }
        }
        return null;
    }

    /** The kind of a stream that was accepted without the first {@code count} bypasses. */
    StreamKind past(StreamKind kind, int count) {
        var past = kind;
        for (var entry : entries.subList(0, Math.min(count, entries.size()))) {
            past = past.pastBypass(entry.listener == null ? entry.whyNot : NOT_COME);
        }
        return past;
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
    protected void arm(int events) {
        for (var entry : entries) {
            if (entry.listener != null) {
                entry.listener.readyOrArmed(events);
            }
        }
    }

    /** Why clients cannot use the bypass at this index; empty if they can. */
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
