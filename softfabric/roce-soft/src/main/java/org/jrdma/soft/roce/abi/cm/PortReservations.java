package org.jrdma.soft.roce.abi.cm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;

/**
 * The port numbers of the port spaces of librdmacm that each {@code rdma_cm_id} has reserved.
 * Guarded by the lock of {@link ConnectionExports}.
 */
final class PortReservations {

    private static final int FIRST_EPHEMERAL = 32_768;
    private static final int EPHEMERAL_END = 61_000;

    private final Map<Key, List<IdentifierObject>> holders = new HashMap<>();
    private final RandomGenerator random;

    private record Key(int portSpace, int port) {}

    PortReservations(RandomGenerator random) {
        this.random = random;
    }

    /**
     * Reserves a port number for an {@code rdma_cm_id}.
     *
     * @param requested the address and the port number; 0 to reserve any free port number
     * @return the address with the reserved port number
     * @throws ErrnoException if the port number is in use or no port number is free
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
     * Checks that only {@code identifier}, which will listen, has reserved its port number.
     *
     * @throws ErrnoException with {@code EADDRINUSE} if another {@code rdma_cm_id} has reserved the
     *     number for an overlapping address
     */
    void requireExclusive(IdentifierObject identifier) {
        for (var other : holders(identifier.type().portSpace(), identifier.name().port())) {
            ErrnoException.throwIf(
                    other != identifier && other.name().overlaps(identifier.name()),
                    Errno.EADDRINUSE);
        }
    }

    /**
     * Releases the port number of an {@code rdma_cm_id}. Has no effect if the {@code rdma_cm_id}
     * has not reserved it.
     */
    void release(IdentifierObject identifier, SocketName name) {
        var key = new Key(identifier.type().portSpace(), name.port());
        var identifiers = holders.get(key);
        if (identifiers != null && identifiers.remove(identifier) && identifiers.isEmpty()) {
            holders.remove(key);
        }
    }
}
