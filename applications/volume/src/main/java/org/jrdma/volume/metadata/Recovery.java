package org.jrdma.volume.metadata;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;

/**
 * The result of reading a journal.
 *
 * @param namespace the namespace after all durable changes
 * @param area the area that was read
 * @param epoch the epoch of the coordinator that has written the area
 * @param generation the generation of the area
 * @param entries the number of entries that were applied to the snapshot
 */
public record Recovery(Namespace namespace, int area, long epoch, long generation, long entries) {

    /**
     * Reads the newest area of a journal: its snapshot, and all complete groups of records.
     *
     * @throws VolumeException if the journal is damaged in a way that an interruption of a write
     *     does not explain
     * @throws FabricException if the drive fails
     */
    public static Recovery read(Drive drive, Superblock superblock) throws FabricException {
        @Nullable Reader newest = null;
        @Nullable Reader invalid = null;
        for (var area = 0; area < 2; area++) {
            var reader = new Reader(area, JournalArea.of(drive, superblock, area));
            if (!reader.readHeader()) {
                invalid = reader;
            } else if (newest == null || reader.generation() > newest.generation()) {
                newest = reader;
            }
        }
        if (newest == null) {
            throw new VolumeException(
                    Failure.MALFORMED, "No area of the journal of %s is valid".formatted(drive));
        }
        if (invalid != null) {
            invalid.checkNoRecordsAfter(newest.generation());
        }
        return newest.read(superblock);
    }

    private static final class Reader {

        private final int number;
        private final JournalArea area;
        private @Nullable JournalBlockHeader header;
        private long snapshotBytes;
        private int recordsIndex;

        private final ByteArrayOutputStream group = new ByteArrayOutputStream();
        private int nextGroup = 1;
        private boolean isAtEnd;
        private long entries;

        Reader(int number, JournalArea area) {
            this.number = number;
            this.area = area;
        }

        private JournalBlockHeader header() {
            return java.util.Objects.requireNonNull(header);
        }

        long generation() {
            return header().generation();
        }

        boolean readHeader() throws FabricException {
            area.read(
                    0,
                    (index, block) -> {
                        var decoded = decode(block);
                        if (decoded != null
                                && decoded.kind() == JournalBlockHeader.Kind.HEADER
                                && decoded.index() == index) {
                            var payload = new Decoder(payload(block, decoded));
                            snapshotBytes = payload.readCount("a number of bytes");
                            header = decoded;
                        }
                        return false;
                    });
            return header != null;
        }

        /**
         * Distinguishes a header that was damaged from one that was not written: records are
         * written after the header is durable.
         */
        void checkNoRecordsAfter(long generation) throws FabricException {
            area.read(
                    1,
                    (index, block) -> {
                        var decoded = decode(block);
                        if (decoded != null
                                && decoded.kind() == JournalBlockHeader.Kind.RECORDS
                                && decoded.index() == index
                                && decoded.generation() > generation) {
                            throw new VolumeException(
                                    Failure.MALFORMED,
                                    "The journal is damaged in area %d: the header of generation %d is invalid"
                                            .formatted(number, decoded.generation()));
                        }
                        return true;
                    });
        }

        private @Nullable JournalBlockHeader decode(ByteBuffer block) {
            return JournalBlockHeader.decode(block, area.volume());
        }

        private static ByteBuffer payload(ByteBuffer block, JournalBlockHeader header) {
            return block.slice(JournalBlockHeader.HEADER_BYTES, header.used());
        }

        Recovery read(Superblock superblock) throws FabricException {
            var namespace = readSnapshot();
            if (!namespace.data().equals(superblock.data())) {
                throw damaged("its data blocks differ from those of the superblock");
            }
            area.read(recordsIndex, (index, block) -> readRecords(namespace, index, block));
            return new Recovery(
                    namespace, number, header().epoch(), header().generation(), entries);
        }

        private Namespace readSnapshot() throws FabricException {
            var capacity = (long) (area.blocks() - 1) * JournalBlockHeader.PAYLOAD_BYTES;
            if (snapshotBytes == 0 || snapshotBytes > capacity) {
                throw damaged("a snapshot of %d bytes".formatted(snapshotBytes));
            }
            recordsIndex = 1 + JournalBlockHeader.blocksFor(snapshotBytes);
            var snapshot = ByteBuffer.allocate((int) snapshotBytes);
            area.read(
                    1,
                    (index, block) -> {
                        var decoded = decode(block);
                        if (decoded == null
                                || !isCurrent(decoded, JournalBlockHeader.Kind.SNAPSHOT, index)
                                || decoded.used()
                                        != Math.min(
                                                snapshot.remaining(),
                                                JournalBlockHeader.PAYLOAD_BYTES)) {
                            throw damaged("block %d of the snapshot".formatted(index));
                        }
                        snapshot.put(payload(block, decoded));
                        return snapshot.hasRemaining();
                    });
            return Namespace.decode(new Decoder(snapshot.flip()));
        }

        private boolean isCurrent(
                JournalBlockHeader block, JournalBlockHeader.Kind kind, int index) {
            return block.kind() == kind
                    && block.index() == index
                    && block.generation() == header().generation()
                    && block.epoch() == header().epoch();
        }

        /**
         * Applies a group when its last block was read. The first invalid block is the end of the
         * journal. Behind it, only other blocks of the interrupted group can be valid, because a
         * group is written after the previous one was made durable.
         */
        private boolean readRecords(Namespace namespace, int index, ByteBuffer block)
                throws FabricException {
            var decoded = decode(block);
            if (decoded == null || !isCurrent(decoded, JournalBlockHeader.Kind.RECORDS, index)) {
                isAtEnd = true;
                return true;
            }
            if (decoded.group() > nextGroup || (isAtEnd && decoded.group() < nextGroup)) {
                throw damaged(
                        "a block of group %d in front of block %d".formatted(nextGroup, index));
            }
            if (isAtEnd) {
                return true;
            }
            group.writeBytes(toArray(payload(block, decoded)));
            if (decoded.isLast()) {
                var records = new Decoder(group.toByteArray());
                group.reset();
                while (records.remaining() > 0) {
                    var entry = new Decoder(records.readBytes(Journal.MAX_ENTRY_BYTES));
                    var _ = namespace.apply(JournalEntry.decode(entry));
                    entry.end();
                    entries++;
                }
                nextGroup++;
            }
            return true;
        }

        private static byte[] toArray(ByteBuffer buffer) {
            var bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return bytes;
        }

        private VolumeException damaged(String part) {
            return new VolumeException(
                    Failure.MALFORMED,
                    "The journal is damaged in area %d of generation %d: %s"
                            .formatted(number, header().generation(), part));
        }
    }
}
