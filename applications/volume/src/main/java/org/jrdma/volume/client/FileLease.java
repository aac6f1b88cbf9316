package org.jrdma.volume.client;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.FileExtent;
import org.jrdma.volume.protocol.LeaseGrant;
import org.jrdma.volume.protocol.LeaseMode;
import org.jrdma.volume.protocol.Operation;

/**
 * A lease of one session on a file.
 *
 * @param session the session that the lease belongs to
 * @param attributes the attributes when the lease was granted
 * @param content the content, to which the lease gives access
 */
record FileLease(
        LeaseMode mode, long number, long session, Attributes attributes, FileContent content) {

    /** Requests a lease from the coordinator. */
    static FileLease request(
            ClientSession session, DataPathSelector paths, long file, LeaseMode mode)
            throws FabricException {
        var sessionBefore = session.id();
        var grant =
                LeaseGrant.decode(
                        session.call(
                                Operation.LEASE,
                                encoder -> {
                                    encoder.writeLong(file);
                                    encoder.writeEnum(mode);
                                }));
        var extents = new ArrayList<>(grant.extents());
        while (grant.hasMore() && !extents.isEmpty()) {
            var more = moreExtents(session, file, extents.getLast().endFileBlock());
            if (more.isEmpty()) {
                break;
            }
            extents.addAll(more);
        }
        return new FileLease(
                grant.mode(),
                grant.number(),
                sessionBefore,
                grant.attributes(),
                new FileContent(paths, sessionBefore, grant.attributes(), extents));
    }

    private static List<FileExtent> moreExtents(ClientSession session, long file, long fromBlock)
            throws FabricException {
        return session.call(
                        Operation.EXTENTS,
                        encoder -> {
                            encoder.writeLong(file);
                            encoder.writeLong(fromBlock);
                        })
                .readList(LeaseGrant.MAX_EXTENTS, FileExtent::decode);
    }

    /** Returns the lease for reading that remains after a recall. */
    FileLease forReading() {
        return new FileLease(LeaseMode.READ, number, session, attributes, content);
    }
}
