package org.jrdma.volume.drive;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jrdma.volume.model.VolumeException;

/**
 * A drive in memory, which records its writes, so that a test can create the content after an
 * interruption at any time. Fails on demand.
 */
public class MemoryDrive implements Drive {

    /** A write of one block; a flush if the block is negative. */
    @SuppressWarnings("ArrayRecordComponent") // writes are not compared
    private record Write(long block, byte[] content) {}

    private final MemorySegment memory;
    private final List<Write> writes = new ArrayList<>();
    private boolean isRecording;
    private volatile boolean isFailing;

    /** Creates a drive with zeroed blocks. */
    public MemoryDrive(long blocks) {
        this.memory = Arena.ofAuto().allocate(blocks * BLOCK_BYTES, BLOCK_BYTES);
    }

    private MemoryDrive(MemoryDrive other) {
        this(other.blocks());
        memory.copyFrom(other.memory);
    }

    /** Returns a drive with the same content. */
    public synchronized MemoryDrive copy() {
        return new MemoryDrive(this);
    }

    /** Starts to record. */
    public synchronized void record() {
        isRecording = true;
    }

    /** Returns the number of recorded writes of blocks and flushes. */
    public synchronized int recorded() {
        return writes.size();
    }

    /** Lets all calls fail, or succeed again. */
    public void fail(boolean isFailing) {
        this.isFailing = isFailing;
    }

    /**
     * Applies recorded writes to a copy of the content before them.
     *
     * @param before the content when the recording started
     * @param count the number of writes and flushes that were completed
     * @param random selects which writes after the last flush took effect, and which of them only
     *     in part; null for all of them
     */
    public synchronized MemoryDrive interrupted(MemoryDrive before, int count, Random random) {
        var result = before.copy();
        var lastFlush = 0;
        for (var i = 0; i < count; i++) {
            lastFlush = writes.get(i).block() < 0 ? i : lastFlush;
        }
        for (var i = 0; i < count; i++) {
            var write = writes.get(i);
            var choice = random == null || i < lastFlush ? 0 : random.nextInt(4);
            if (write.block() >= 0 && choice != 1) {
                var bytes = choice == 2 ? 512 * random.nextInt(8) : BLOCK_BYTES;
                MemorySegment.copy(
                        MemorySegment.ofArray(write.content()),
                        0,
                        result.memory,
                        write.block() * BLOCK_BYTES,
                        bytes);
            }
        }
        return result;
    }

    /** Changes one bit. */
    public synchronized void flipBit(long block, int bit) {
        var offset = block * BLOCK_BYTES + bit / 8;
        var value = memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, offset);
        memory.set(java.lang.foreign.ValueLayout.JAVA_BYTE, offset, (byte) (value ^ 1 << bit % 8));
    }

    @Override
    public long blocks() {
        return memory.byteSize() / BLOCK_BYTES;
    }

    @Override
    public synchronized void read(long block, MemorySegment target) throws VolumeException {
        check();
        Drive.checkRange(this, block, target);
        MemorySegment.copy(memory, block * BLOCK_BYTES, target, 0, target.byteSize());
    }

    @Override
    public synchronized void write(long block, MemorySegment source) throws VolumeException {
        check();
        Drive.checkRange(this, block, source);
        MemorySegment.copy(source, 0, memory, block * BLOCK_BYTES, source.byteSize());
        for (var i = 0L; isRecording && i < source.byteSize() / BLOCK_BYTES; i++) {
            writes.add(
                    new Write(
                            block + i,
                            source.asSlice(i * BLOCK_BYTES, BLOCK_BYTES)
                                    .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)));
        }
    }

    @Override
    public synchronized void flush() throws VolumeException {
        check();
        if (isRecording) {
            writes.add(new Write(-1, new byte[0]));
        }
    }

    private void check() throws VolumeException {
        if (isFailing) {
            throw new VolumeException("The drive fails on purpose");
        }
    }

    @Override
    public Fence fence() {
        return Fence.BY_CLOCK;
    }

    @Override
    public void close() {
        // the garbage collector frees the memory
    }

    @Override
    public String toString() {
        return "memory";
    }
}
