package org.jrdma.nvme.pcie;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.nvme.model.Configuration;

/**
 * Memory in huge pages, whose physical addresses do not change. Each allocation consists of pages
 * of 4,096 bytes in one {@link Chunk}. Safe for use by multiple threads.
 */
final class HugePages {

    private static final Path PAGE_MAP = Path.of("/proc/self/pagemap");
    private static final long FRAME_MASK = (1L << 55) - 1;

    private final List<Chunk> chunks = new ArrayList<>();

    /** One or more huge pages. */
    private static final class Chunk {

        final Arena arena;
        final MemorySegment memory;

        /** The physical address of each page of 4,096 bytes. */
        final long[] addresses;

        final BitSet used = new BitSet();

        /** The arenas of the allocations. */
        final Set<Arena> allocations = new HashSet<>();

        Chunk(Arena arena, MemorySegment memory, long[] addresses) {
            this.arena = arena;
            this.memory = memory;
            this.addresses = addresses;
        }

        /** Returns the first of some free pages, or -1. */
        int find(int pages) {
            var first = used.nextClearBit(0);
            while (first + pages <= addresses.length) {
                var next = used.nextSetBit(first);
                if (next < 0 || next - first >= pages) {
                    return first;
                }
                first = used.nextClearBit(next);
            }
            return -1;
        }
    }

    /** Allocates zeroed memory. */
    synchronized DmaAllocation allocate(long bytes) throws FabricException {
        var pages = Math.toIntExact(Math.ceilDiv(bytes, Configuration.PAGE_BYTES));
        for (var chunk : chunks) {
            var first = chunk.find(pages);
            if (first >= 0) {
                return allocate(chunk, first, pages);
            }
        }
        var chunk = newChunk(bytes);
        chunks.add(chunk);
        return allocate(chunk, 0, pages);
    }

    private DmaAllocation allocate(Chunk chunk, int first, int pages) {
        // the scope of an allocation ends when it is released; the huge pages remain mapped
        var arena = Arena.ofShared();
        var size = (long) pages * Configuration.PAGE_BYTES;
        var part = chunk.memory.asSlice((long) first * Configuration.PAGE_BYTES, size);
        chunk.allocations.add(arena);
        chunk.used.set(first, first + pages);
        return new DmaAllocation(
                Downcalls.memoryAt(part, size, arena).fill((byte) 0),
                Arrays.copyOfRange(chunk.addresses, first, first + pages),
                () -> release(chunk, arena, first, pages));
    }

    private synchronized void release(Chunk chunk, Arena arena, int first, int pages) {
        if (arena.scope().isAlive()) {
            arena.close();
            chunk.allocations.remove(arena);
            chunk.used.clear(first, first + pages);
        }
    }

    private static Chunk newChunk(long bytes) throws FabricException {
        var arena = Arena.ofShared();
        try {
            var hugePage = LinuxCalls.hugePageBytes();
            var count = Math.ceilDiv(bytes, hugePage);
            var memory = map(count, hugePage, arena).fill((byte) 0); // a page exists when touched
            return new Chunk(arena, memory, physicalAddresses(memory));
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
    }

    private static MemorySegment map(long count, long hugePage, Arena arena)
            throws FabricException {
        try {
            return LinuxCalls.mapHugePages(count * hugePage, arena);
        } catch (FabricException e) {
            if (e.code() != Errno.ENOMEM) {
                throw e;
            }
            throw new FabricException(
                    "This machine has no %d free huge pages of %d bytes for the NVMe driver. Reserve more pages: echo 64 > /proc/sys/vm/nr_hugepages"
                            .formatted(count, hugePage),
                    e.code(),
                    e);
        }
    }

    private static long[] physicalAddresses(MemorySegment memory) throws FabricException {
        var pages = Math.toIntExact(memory.byteSize() / Configuration.PAGE_BYTES);
        var entries = ByteBuffer.allocate(pages * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        var offset = memory.address() / Configuration.PAGE_BYTES * Long.BYTES;
        try (var map = FileChannel.open(PAGE_MAP)) {
            while (entries.hasRemaining()) {
                if (map.read(entries, offset + entries.position()) < 0) {
                    throw new IOException("unexpected end of file");
                }
            }
        } catch (IOException e) {
            throw new FabricException("Cannot read %s: %s".formatted(PAGE_MAP, e), 0, e);
        }
        var addresses = new long[pages];
        for (var page = 0; page < pages; page++) {
            var frame = entries.getLong(page * Long.BYTES) & FRAME_MASK;
            if (frame == 0) {
                throw new FabricException(
                        "The kernel does not show the physical addresses of memory in %s. Run the program as root, or give it CAP_SYS_ADMIN."
                                .formatted(PAGE_MAP));
            }
            addresses[page] = frame * Configuration.PAGE_BYTES;
        }
        return addresses;
    }

    /** Returns true if an allocation was not released. */
    synchronized boolean isInUse() {
        return chunks.stream().anyMatch(chunk -> !chunk.allocations.isEmpty());
    }

    /**
     * Frees all memory.
     *
     * @throws IllegalStateException if a native call uses memory; this method can be called again
     */
    synchronized void close() {
        for (var chunk : List.copyOf(chunks)) {
            for (var allocation : List.copyOf(chunk.allocations)) {
                allocation.close();
                chunk.allocations.remove(allocation);
            }
            chunk.arena.close();
            chunks.remove(chunk);
        }
    }
}
