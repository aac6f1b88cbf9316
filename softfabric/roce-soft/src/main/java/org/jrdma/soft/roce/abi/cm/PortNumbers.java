package org.jrdma.soft.roce.abi.cm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;

/** Which port numbers identifiers have. Under the connection manager's lock. */
final class PortNumbers {

    private static final int FIRST_FREE = 32_768;
    private static final int AFTER_LAST_FREE = 61_000;

    private final Map<Key, List<IdentifierObject>> holders = new HashMap<>();
    private final RandomGenerator random;

    private record Key(int portSpace, int port) {}

    PortNumbers(RandomGenerator random) {
        this.random = random;
    }

    /**
     * Gives an identifier a port, any that is free for 0. Returns the name with it.
     *
     * @throws ErrnoException if it is taken
     */
    SocketName take(IdentifierObject identifier, SocketName wanted) {
        if (wanted.port() != 0) {
            for (var other : holders(identifier.type().portSpace(), wanted.port())) {
                ErrnoException.throwIf(
                        other.name().overlaps(wanted)
                                && !(identifier.options().reusesAddress
                                        && other.options().reusesAddress
                                        && !other.isListening()),
                        Errno.EADDRINUSE);
            }
            return hold(identifier, wanted);
        }
        var count = AFTER_LAST_FREE - FIRST_FREE;
        var start = random.nextInt(count);
        for (var i = 0; i < count; i++) {
            var port = FIRST_FREE + (start + i) % count;
            if (holders(identifier.type().portSpace(), port).isEmpty()) {
                return hold(identifier, wanted.withPort(port));
            }
        }
        throw new ErrnoException(Errno.EADDRNOTAVAIL);
    }

    private List<IdentifierObject> holders(int portSpace, int port) {
        return holders.getOrDefault(new Key(portSpace, port), List.of());
    }

    private SocketName hold(IdentifierObject identifier, SocketName name) {
        holders.computeIfAbsent(
                        new Key(identifier.type().portSpace(), name.port()), _ -> new ArrayList<>())
                .add(identifier);
        return name;
    }

    /**
     * Refuses an identifier that would listen where others are, too.
     *
     * @throws ErrnoException if there are
     */
    void refuseUnlessAlone(IdentifierObject identifier) {
        for (var other : holders(identifier.type().portSpace(), identifier.name().port())) {
            ErrnoException.throwIf(
                    other != identifier && other.name().overlaps(identifier.name()),
                    Errno.EADDRINUSE);
        }
    }

    /** Takes it back, if it has one. */
    void giveBack(IdentifierObject identifier, SocketName name) {
        var key = new Key(identifier.type().portSpace(), name.port());
        var those = holders.get(key);
        if (those != null && those.remove(identifier) && those.isEmpty()) {
            holders.remove(key);
        }
    }
}
