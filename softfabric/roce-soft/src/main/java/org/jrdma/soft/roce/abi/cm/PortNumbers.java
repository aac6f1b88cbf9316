package org.jrdma.soft.roce.abi.cm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;

/** The port numbers of identifiers. Guarded by the connection manager's lock. */
final class PortNumbers {

    private static final int FIRST_EPHEMERAL = 32_768;
    private static final int EPHEMERAL_END = 61_000;

    private final Map<Key, List<IdentifierObject>> holders = new HashMap<>();
    private final RandomGenerator random;

    private record Key(int portSpace, int port) {}

    PortNumbers(RandomGenerator random) {
        this.random = random;
    }

    /**
     * Reserves a port for an identifier; any free port if the requested port is 0. Returns the name
     * with the port.
     *
     * @throws ErrnoException if the port is in use
     */
    SocketName reserve(IdentifierObject identifier, SocketName requested) {
        if (requested.port() != 0) {
            for (var other : holders(identifier.type().portSpace(), requested.port())) {
                ErrnoException.throwIf(
                        other.name().overlaps(requested)
                                && !(identifier.options().reusesAddress
                                        && other.options().reusesAddress
                                        && !other.isListening()),
                        Errno.EADDRINUSE);
            }
            return hold(identifier, requested);
        }
        var count = EPHEMERAL_END - FIRST_EPHEMERAL;
        var start = random.nextInt(count);
        for (var i = 0; i < count; i++) {
            var port = FIRST_EPHEMERAL + (start + i) % count;
            if (holders(identifier.type().portSpace(), port).isEmpty()) {
                return hold(identifier, requested.withPort(port));
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
     * Checks that no other identifier has the port of an identifier that is about to listen.
     *
     * @throws ErrnoException if another identifier has the port
     */
    void requireExclusive(IdentifierObject identifier) {
        for (var other : holders(identifier.type().portSpace(), identifier.name().port())) {
            ErrnoException.throwIf(
                    other != identifier && other.name().overlaps(identifier.name()),
                    Errno.EADDRINUSE);
        }
    }

    /** Releases the port of an identifier, if it has one. */
    void release(IdentifierObject identifier, SocketName name) {
        var key = new Key(identifier.type().portSpace(), name.port());
        var identifiers = holders.get(key);
        if (identifiers != null && identifiers.remove(identifier) && identifiers.isEmpty()) {
            holders.remove(key);
        }
    }
}
