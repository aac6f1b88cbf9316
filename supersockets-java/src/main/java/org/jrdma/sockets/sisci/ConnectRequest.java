package org.jrdma.sockets.sisci;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.jrdma.ffi.FabricException;

/**
 * A request of a client for a connection. The client sends it by a data interrupt of the listener.
 * If segments are still connected from an earlier stream to the same listener, the client stores it
 * into the listener's segment instead.
 *
 * @param node the node of the client
 * @param segment the id of the client's segment, into which the listener stores its reply and the
 *     bytes that it sends
 * @param wakeUp the number of the interrupt that wakes up the process of the client
 * @param cookie the cookie that proves the address of the client, see {@link AddressCookies}; 0 in
 *     a request over connected segments, because the client has proved its address when they were
 *     connected
 * @param client the address of the client
 * @param target the address that the client connects to
 */
record ConnectRequest(
        int node,
        int segment,
        int wakeUp,
        long cookie,
        InetSocketAddress client,
        InetSocketAddress target) {

    private static final int VERSION = 0x6a72_0003;
    static final int MAX_BYTES = 64;

    byte[] encode() {
        var buffer = ByteBuffer.allocate(MAX_BYTES);
        buffer.putInt(VERSION).putInt(node).putInt(segment).putInt(wakeUp).putLong(cookie);
        put(buffer, client);
        put(buffer, target);
        var bytes = new byte[buffer.flip().remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private static void put(ByteBuffer buffer, InetSocketAddress address) {
        var ip = address.getAddress().getAddress();
        buffer.put((byte) ip.length).put(ip).putShort((short) address.getPort());
    }

    /**
     * Decodes a request.
     *
     * @throws FabricException if the request is malformed, or has another version
     */
    static ConnectRequest decode(byte[] bytes) throws FabricException {
        var buffer = ByteBuffer.wrap(bytes);
        try {
            if (buffer.getInt() != VERSION) {
                throw new FabricException("Unknown version of a connect request");
            }
            var request =
                    new ConnectRequest(
                            buffer.getInt(),
                            buffer.getInt(),
                            buffer.getInt(),
                            buffer.getLong(),
                            address(buffer),
                            address(buffer));
            if (buffer.hasRemaining()) {
                throw new FabricException(
                        "A connect request has extra bytes: %d".formatted(buffer.remaining()));
            }
            return request;
        } catch (BufferUnderflowException | UnknownHostException e) {
            throw new FabricException(
                    "Malformed connect request of %d bytes".formatted(bytes.length), 0, e);
        }
    }

    private static InetSocketAddress address(ByteBuffer buffer) throws UnknownHostException {
        var length = buffer.get();
        if (length != 4 && length != 16) {
            throw new UnknownHostException("Invalid address of %d bytes".formatted(length));
        }
        var ip = new byte[length];
        buffer.get(ip);
        return new InetSocketAddress(InetAddress.getByAddress(ip), buffer.getShort() & 0xffff);
    }
}
