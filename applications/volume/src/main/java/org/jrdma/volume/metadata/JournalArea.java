package org.jrdma.volume.metadata;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;

/** Reads and writes the blocks of one area of the journal. */
record JournalArea(Drive drive, UUID volume, long firstBlock, int blocks) {

    private static final int MAX_TRANSFER_BLOCKS = 128;

    static JournalArea of(Drive drive, Superblock superblock, int area) {
        return new JournalArea(
                drive, superblock.id(), superblock.areaBlock(area), superblock.areaBlocks());
    }

    /**
     * Writes a payload to consecutive blocks.
     *
     * @param first the header of the first block; the index of the others follows from it
     */
    void write(JournalBlockHeader first, ByteBuffer payload) throws FabricException {
        var index = first.index();
        do {
            var count =
                    Math.clamp(
                            JournalBlockHeader.blocksFor(payload.remaining()),
                            1,
                            MAX_TRANSFER_BLOCKS);
            try (var arena = Arena.ofConfined()) {
                var memory = arena.allocate((long) count * Drive.BLOCK_BYTES);
                for (var i = 0; i < count; i++) {
                    var used = Math.min(payload.remaining(), JournalBlockHeader.PAYLOAD_BYTES);
                    var block =
                            new JournalBlockHeader(
                                    first.kind(),
                                    first.epoch(),
                                    first.generation(),
                                    index + i,
                                    first.group(),
                                    used == payload.remaining(),
                                    used);
                    block.encode(
                            memory.asSlice((long) i * Drive.BLOCK_BYTES, Drive.BLOCK_BYTES)
                                    .asByteBuffer(),
                            volume,
                            payload);
                }
                drive.write(firstBlock + index, memory);
            }
            index += count;
        } while (payload.hasRemaining());
    }

    /** Receives the blocks of an area. */
    @FunctionalInterface
    interface Visitor {
        /**
         * Receives a block.
         *
         * @param block the whole block, of which the payload is a part
         * @return false if no further blocks are needed
         */
        boolean visit(int index, ByteBuffer block) throws FabricException;
    }

    /** Reads the blocks from an index on. */
    void read(int from, Visitor visitor) throws FabricException {
        for (var index = from; index < blocks; ) {
            var count = Math.min(MAX_TRANSFER_BLOCKS, blocks - index);
            try (var arena = Arena.ofConfined()) {
                var memory = arena.allocate((long) count * Drive.BLOCK_BYTES);
                drive.read(firstBlock + index, memory);
                for (var i = 0; i < count; i++) {
                    var block =
                            memory.asSlice((long) i * Drive.BLOCK_BYTES, Drive.BLOCK_BYTES)
                                    .asByteBuffer();
                    if (!visitor.visit(index + i, block)) {
                        return;
                    }
                }
            }
            index += count;
        }
    }
}
