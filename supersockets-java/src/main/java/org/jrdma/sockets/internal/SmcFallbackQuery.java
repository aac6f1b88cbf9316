package org.jrdma.sockets.internal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * The SMC sockets that have fallen back to TCP, and the reasons. An instance queries the kernel
 * once, when it is first used. For use by one thread. In C: {@code sock_diag} of {@code AF_SMC}.
 */
public final class SmcFallbackQuery {

    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int NETLINK_SOCK_DIAG = 4;
    private static final int SOCK_DIAG_BY_FAMILY = 20;
    private static final int NLM_F_REQUEST = 1;
    private static final int NLM_F_DUMP = 0x300;
    private static final int NLMSG_ERROR = 2;
    private static final int NLMSG_DONE = 3;

    private static final int SMC_DIAG_MODE_FALLBACK_TCP = 1;
    private static final int SMC_DIAG_FALLBACK = 5;

    private static final int HEADER_BYTES = 16;
    private static final int REQUEST_BYTES = HEADER_BYTES + 52;

    // Offsets in struct smc_diag_msg, by which the kernel describes one socket.
    private static final int MODE = 2;
    private static final int INODE = 56;
    private static final int SOCKET_BYTES = 64;

    /**
     * The descriptions of the most frequent reasons. The keys are the codes of the decline message
     * of the SMC protocol.
     */
    private static final Map<Integer, String> REASONS =
            Map.ofEntries(
                    Map.entry(0x0101_0000, "no memory"),
                    Map.entry(0x0201_0000, "the peer did not confirm the link in time"),
                    Map.entry(0x0202_0000, "the peer did not add a link in time"),
                    Map.entry(0x0301_0000, "the peer has no SMC"),
                    Map.entry(0x0302_0000, "IPsec is in use"),
                    Map.entry(0x0303_0000, "no SMC device is on this path"),
                    Map.entry(0x0303_0001, "no SMC-D device is on this path"),
                    Map.entry(0x0303_0002, "no RDMA device is on this path"),
                    Map.entry(0x0303_0007, "no SMC-Dv2 device is on this path"),
                    Map.entry(0x0303_0008, "the two hosts have no UEID in common"),
                    Map.entry(0x0304_0000, "one host requires RDMA, the other shared memory"),
                    Map.entry(0x0306_0000, "an unsupported socket option was set"),
                    Map.entry(0x0307_0000, "the hosts are in different IP networks"),
                    Map.entry(0x030a_0000, "no RDMA link is active"),
                    Map.entry(0x0500_0000, "the peer declined"));

    /** The reason for each fallback, by the inode number of the socket; null before the query. */
    private @Nullable Map<Long, String> fallbacks;

    /**
     * Returns the reason why an SMC socket uses TCP; empty if the socket does not use TCP, or if
     * the kernel cannot be queried.
     */
    public Optional<String> whyOverTcp(int descriptor) {
        try {
            var known = fallbacks;
            if (known == null) {
                known = query();
                fallbacks = known;
            }
            return Optional.ofNullable(known.get(inode(descriptor)));
        } catch (IOException _) { // The kernel has no CONFIG_SMC_DIAG, or denies access.
            return Optional.empty();
        }
    }

    /**
     * Returns the inode number of a socket. The link in {@code /proc/self/fd} contains it, for
     * example 4711 in {@code socket:[4711]}.
     */
    private static long inode(int descriptor) throws IOException {
        var name = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
        return Long.parseLong(name.substring(name.indexOf('[') + 1, name.indexOf(']')));
    }

    private static Map<Long, String> query() throws FabricException {
        var descriptor =
                check("socket", SocketCalls.socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG));
        try (var scratch = Scratch.take()) {
            var memory = scratch.bytes();
            var buffer = memory.asByteBuffer().order(ByteOrder.nativeOrder());
            request(memory, buffer);
            check("send", SocketCalls.send(descriptor, memory, REQUEST_BYTES, 0));
            var found = new HashMap<Long, String>();
            var more = true;
            // Each response is available when recv is called, so recv never fails with EAGAIN.
            while (more) {
                var length = check("recv", SocketCalls.receive(descriptor, memory, Scratch.BYTES));
                more = decode(buffer.slice(0, length).order(ByteOrder.nativeOrder()), found);
            }
            return found;
        } finally {
            SocketCalls.close(descriptor);
        }
    }

    private static void request(MemorySegment memory, ByteBuffer buffer) {
        memory.asSlice(0, REQUEST_BYTES).fill((byte) 0);
        buffer.putInt(0, REQUEST_BYTES);
        buffer.putShort(4, (short) SOCK_DIAG_BY_FAMILY);
        buffer.putShort(6, (short) (NLM_F_REQUEST | NLM_F_DUMP));
        buffer.put(HEADER_BYTES, (byte) SocketCalls.AF_SMC);
    }

    private static int check(String call, int result) throws FabricException {
        if (result < 0) {
            throw failure(call, -result);
        }
        return result;
    }

    private static FabricException failure(String call, int errno) {
        return new FabricException(
                "Cannot query the SMC sockets of the kernel: %s failed: %s"
                        .formatted(call, Errno.describe(errno)),
                errno,
                null);
    }

    /**
     * Adds the sockets of a response that have fallen back to TCP.
     *
     * @param found the reasons by inode number, to which this method adds
     * @return true if more responses follow
     */
    static boolean decode(ByteBuffer response, Map<Long, String> found) throws FabricException {
        var at = 0;
        while (at + HEADER_BYTES <= response.limit()) {
            var length = response.getInt(at);
            var type = response.getShort(at + 4);
            if (length < HEADER_BYTES || at + length > response.limit()) {
                throw new FabricException(
                        "Truncated sock_diag response: %d bytes end within a message of %d bytes"
                                .formatted(response.limit(), length));
            }
            switch (type) {
                case NLMSG_DONE -> {
                    return false;
                }
                case NLMSG_ERROR -> throw failure("sock_diag", -response.getInt(at + HEADER_BYTES));
                default -> decodeSocket(response.slice(at, length).order(response.order()), found);
            }
            at += (length + 3) & ~3;
        }
        return true;
    }

    private static void decodeSocket(ByteBuffer message, Map<Long, String> found) {
        if (message.limit() < HEADER_BYTES + SOCKET_BYTES
                || message.get(HEADER_BYTES + MODE) != SMC_DIAG_MODE_FALLBACK_TCP) {
            return;
        }
        var why = "no reason given";
        var at = HEADER_BYTES + SOCKET_BYTES;
        while (at + 4 <= message.limit()) {
            var length = message.getShort(at);
            if (message.getShort(at + 2) == SMC_DIAG_FALLBACK && at + 12 <= message.limit()) {
                why = explain(message.getInt(at + 4), message.getInt(at + 8));
            }
            at += Math.max(4, (length + 3) & ~3);
        }
        found.put(message.getLong(HEADER_BYTES + INODE), why);
    }

    private static String explain(int reason, int peerReason) {
        return peerReason == 0
                ? describe(reason)
                : "%s: %s".formatted(describe(reason), describe(peerReason));
    }

    private static String describe(int reason) {
        var number = "0x%08x".formatted(reason);
        var known = REASONS.get(reason);
        return known == null ? "reason " + number : "%s (%s)".formatted(known, number);
    }
}
