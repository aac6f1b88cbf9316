package org.jrdma.verbs.queue;

import java.util.OptionalInt;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The source address of a queue pair on the fabric.
 *
 * @param port the attributes of the port when the queue pair was created
 * @param entry the GID table entry whose GID the queue pair sends from; null if the port needs no
 *     GID
 */
public record SourceAddress(PortAttributes port, @Nullable GidEntry entry) {

    /**
     * Returns the source address at a port, with the requested entry of the GID table. If no entry
     * is requested, an Ethernet port uses the best entry, and other ports use none.
     */
    public static SourceAddress at(DeviceHandle device, int portNumber, OptionalInt gidIndex)
            throws VerbsException {
        var port = device.port(portNumber);
        if (gidIndex.isPresent()) {
            var table = device.gids(portNumber);
            var entry =
                    table.stream()
                            .filter(row -> row.index() == gidIndex.getAsInt())
                            .findFirst()
                            .orElseThrow(() ->
                                    new VerbsException(
                                            "ibv_query_gid_table",
                                            "Port %d of %s has no GID with index %d. Available: %s"
                                                    .formatted(
                                                            portNumber,
                                                            device.name(),
                                                            gidIndex.getAsInt(),
                                                            table)));
            return new SourceAddress(port, entry);
        }
        var needed = port.linkLayer() == LinkLayer.ETHERNET;
        return new SourceAddress(
                port, needed ? device.chooseGid(portNumber).best().orElse(null) : null);
    }

    /** Returns the GID to send from, or {@link Gid#NONE}. */
    public Gid gid() {
        return entry == null ? Gid.NONE : entry.gid();
    }
}
