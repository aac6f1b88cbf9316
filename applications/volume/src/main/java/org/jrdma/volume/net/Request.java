package org.jrdma.volume.net;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request of a peer.
 *
 * @param connection the connection over which the request arrived; a handler can make calls on it
 * @param message the message, which belongs to the handler
 * @param direction the direction of the bulk data, seen from the caller; null if the request has
 *     none
 * @param bulk the memory of the bulk data, which starts at a page boundary. The handler can use it
 *     until it returns. For {@code TO_PEER}, it contains the data of the caller; for {@code
 *     FROM_PEER}, the handler fills it completely, because it may contain data of earlier requests
 *     of the same peer. Over SISCI, the peer can change the memory at any time, so data must be
 *     copied before it is checked. The memory is empty if the request has no bulk data
 */
public record Request(
        NodeConnection connection,
        ByteBuffer message,
        BulkData.@Nullable Direction direction,
        MemorySegment bulk) {}
