package org.jrdma.nvme.soft;

import org.jrdma.nvme.model.IdentifyNamespace;

/**
 * A namespace: its blocks and its reservations. Its monitor is held during each I/O command, so
 * that a reservation takes effect between two commands of all controllers.
 */
final class Namespace {

    /** All types of reservations, and the handling of keys of revision 1.3. */
    private static final int RESERVATION_CAPABILITIES = 0xfe;

    private final int id;
    private final BlockStorage storage;
    private final Reservations reservations;

    Namespace(int id, BlockStorage storage, Reservations.Listener listener) {
        this.id = id;
        this.storage = storage;
        this.reservations = new Reservations(listener);
    }

    int id() {
        return id;
    }

    BlockStorage storage() {
        return storage;
    }

    Reservations reservations() {
        return reservations;
    }

    IdentifyNamespace identify() {
        return new IdentifyNamespace(
                storage.blocks(), storage.blockShift(), 0, true, RESERVATION_CAPABILITIES, true);
    }
}
