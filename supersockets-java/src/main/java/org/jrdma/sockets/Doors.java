package org.jrdma.sockets;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.Transports.ShortCut;
import org.jrdma.sockets.internal.ShortCutDoor;
import org.jrdma.sockets.internal.Source;
import org.jspecify.annotations.Nullable;

/** The ways past the kernel that lead to a listener, beside its socket. */
final class Doors extends Source {

    static final Doors NONE = new Doors(List.of());

    private static final String NOT_COME = "the client did not come by it";

    /** One for each short cut: it, or why it could not be opened. */
    private record Door(@Nullable ShortCutDoor open, String whyNot, boolean isPortTaken) {}

    /**
     * Who has come by one of them.
     *
     * @param door its place among the short cuts
     */
    record Guest(int door, ShortCutDoor.Arrival arrival) {}

    private final List<Door> doors;

    private Doors(List<Door> doors) {
        this.doors = doors;
    }

    static Doors open(
            List<ShortCut> shortCuts, InetSocketAddress address, int backlog, int receiveBuffer) {
        var doors = new ArrayList<Door>();
        for (var path : shortCuts) {
            try {
                doors.add(
                        new Door(
                                path.transport().listen(address, backlog, receiveBuffer),
                                "",
                                false));
            } catch (FabricException e) {
                var isPortTaken = e.code() == Errno.EADDRINUSE;
                doors.add(new Door(null, String.valueOf(e.getMessage()), isPortTaken));
            }
        }
        var all = new Doors(List.copyOf(doors));
        for (var door : doors) {
            if (door.open != null) {
                door.open.add(all::changed);
            }
        }
        return all;
    }

    /** Whether another port might have served one more of the short cuts. */
    boolean lackTheirPort() {
        return doors.stream().anyMatch(Door::isPortTaken);
    }

    /** The next who has come; null if there is none now. */
    @Nullable Guest poll() {
        for (var i = 0; i < doors.size(); i++) {
            var door = doors.get(i).open;
            var arrival = door == null ? null : door.poll();
            if (arrival != null) {
                return new Guest(i, arrival);
            }
        }
        return null;
    }

    /** What a stream is of that has come past so many of the short cuts. */
    StreamKind past(StreamKind kind, int count) {
        var past = kind;
        for (var door : doors.subList(0, Math.min(count, doors.size()))) {
            past = past.pastShortCut(door.open == null ? door.whyNot : NOT_COME);
        }
        return past;
    }

    @Override
    public int ready() {
        var ready = 0;
        for (var door : doors) {
            ready |= door.open == null ? 0 : door.open.ready();
        }
        return ready;
    }

    @Override
    protected void arm(int events) {
        for (var door : doors) {
            if (door.open != null) {
                door.open.readyOrArmed(events);
            }
        }
    }

    /** Why one of them, by its place among the short cuts, does not lead here; empty if it does. */
    String whyNot(int door) {
        return doors.get(door).whyNot;
    }

    void close() {
        for (var door : doors) {
            if (door.open != null) {
                door.open.close();
            }
        }
    }
}
