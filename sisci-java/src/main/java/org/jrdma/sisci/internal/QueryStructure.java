package org.jrdma.sisci.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import org.jrdma.abi.sisci.sci_query_local_segment_t;
import org.jrdma.abi.sisci.sci_query_map_t;
import org.jrdma.abi.sisci.sci_query_remote_segment_t;

/**
 * The C structures for {@code SCIQuery} about an object. Each contains the arguments and the result
 * of the query.
 */
public enum QueryStructure {
    LOCAL_SEGMENT {
        @Override
        MemorySegment allocate(SegmentAllocator allocator, MemorySegment handle, int subcommand) {
            var query = sci_query_local_segment_t.allocate(allocator);
            sci_query_local_segment_t.segment(query, handle);
            sci_query_local_segment_t.subcommand(query, subcommand);
            return query;
        }

        @Override
        long result(MemorySegment query) {
            return sci_query_local_segment_t.data.ioaddr(sci_query_local_segment_t.data(query));
        }
    },
    REMOTE_SEGMENT {
        @Override
        MemorySegment allocate(SegmentAllocator allocator, MemorySegment handle, int subcommand) {
            var query = sci_query_remote_segment_t.allocate(allocator);
            sci_query_remote_segment_t.segment(query, handle);
            sci_query_remote_segment_t.subcommand(query, subcommand);
            return query;
        }

        @Override
        long result(MemorySegment query) {
            return sci_query_remote_segment_t.data.ioaddr(sci_query_remote_segment_t.data(query));
        }
    },
    MAP {
        @Override
        MemorySegment allocate(SegmentAllocator allocator, MemorySegment handle, int subcommand) {
            var query = sci_query_map_t.allocate(allocator);
            sci_query_map_t.map(query, handle);
            sci_query_map_t.subcommand(query, subcommand);
            return query;
        }

        @Override
        long result(MemorySegment query) {
            return sci_query_map_t.data(query);
        }
    };

    abstract MemorySegment allocate(
            SegmentAllocator allocator, MemorySegment handle, int subcommand);

    abstract long result(MemorySegment query);
}
