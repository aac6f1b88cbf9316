package org.jrdma.volume.client;

import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.FileExtent;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.protocol.BlockRangeEncoding;
import org.jrdma.volume.protocol.Operation;

/** The requests about a file that need a lease for writing. */
record WriterRequests(ClientSession session, long file) {

    /** The number of blocks that are reserved together: 4 MiB. */
    private static final long RESERVED_BLOCKS = 1024;

    /**
     * Reserves blocks.
     *
     * @param needed the minimum number of blocks
     */
    List<Range> allocate(FileContent content, long needed) throws FabricException {
        var reply =
                session.call(
                        Operation.ALLOCATE,
                        encoder -> {
                            encoder.writeLong(file);
                            encoder.writeLong(needed);
                            encoder.writeLong(Math.max(needed, RESERVED_BLOCKS));
                            encoder.writeLong(content.lastDriveBlock());
                        });
        return BlockRangeEncoding.decode(reply);
    }

    /** Commits a size, and some of the extents that were added. */
    Attributes commit(FileContent content, List<FileExtent> added) throws FabricException {
        return Attributes.decode(
                session.callOnce(
                        content.session(),
                        Operation.COMMIT,
                        encoder -> {
                            encoder.writeLong(file);
                            encoder.writeLong(content.size());
                            encoder.writeLong(content.modified());
                            encoder.writeList(added, (target, extent) -> extent.encode(target));
                        }));
    }

    /** Changes the size. */
    Attributes truncate(FileContent content, long size) throws FabricException {
        return Attributes.decode(
                session.callOnce(
                        content.session(),
                        Operation.TRUNCATE,
                        encoder -> {
                            encoder.writeLong(file);
                            encoder.writeLong(size);
                        }));
    }
}
