package org.jrdma.sockets;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * Adds a UEID (user-defined enterprise ID) to this machine. Hosts that share memory by SMC need a
 * common UEID. By default, a kernel has no UEID, and then even streams over the SMC loopback device
 * fall back to TCP. {@link #ensure} has the same effect as the command {@code smcd ueid add}, and
 * requires root privileges, as in the guest.
 */
final class SmcUeidSetup {

    private static final String UEID = "JRDMA.TEST";
    private static final int UEID_BYTES = 32;
    private static final String FAMILY = "SMC_GEN_NETLINK\0";

    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int NETLINK_GENERIC = 16;
    private static final short GENL_ID_CTRL = 16;
    private static final short NLM_F_REQUEST = 1;
    private static final short NLM_F_ACK = 4;
    private static final int NLMSG_ERROR = 2;
    private static final byte CTRL_CMD_GETFAMILY = 3;
    private static final short CTRL_ATTR_FAMILY_ID = 1;
    private static final short CTRL_ATTR_FAMILY_NAME = 2;
    private static final byte SMC_NETLINK_ADD_UEID = 10;
    private static final short SMC_NLA_EID_TABLE_ENTRY = 1;

    private static final int HEADER_BYTES = 20;

    private SmcUeidSetup() {}

    /** Adds the UEID of the tests to this machine, unless the machine already has it. */
    static void ensure() throws SocketException {
        var descriptor = check("socket", SocketCalls.socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC));
        try {
            var family =
                    query(
                            descriptor,
                            GENL_ID_CTRL,
                            CTRL_CMD_GETFAMILY,
                            CTRL_ATTR_FAMILY_NAME,
                            FAMILY);
            query(
                    descriptor,
                    familyId(family),
                    SMC_NETLINK_ADD_UEID,
                    SMC_NLA_EID_TABLE_ENTRY,
                    UEID + " ".repeat(UEID_BYTES - UEID.length()) + "\0");
        } finally {
            SocketCalls.close(descriptor);
        }
    }

    private static short familyId(ByteBuffer response) throws SocketException {
        for (var offset = HEADER_BYTES; offset + 6 <= response.limit(); ) {
            if (response.getShort(offset + 2) == CTRL_ATTR_FAMILY_ID) {
                return response.getShort(offset + 4);
            }
            offset += Math.max(4, (response.getShort(offset) + 3) & ~3);
        }
        throw new SocketException("The kernel has no " + FAMILY.strip());
    }

    /** Sends a request with one attribute, and returns the response. */
    private static ByteBuffer query(
            int descriptor, short type, byte command, short attribute, String text)
            throws SocketException {
        try (var scratch = Scratch.take()) {
            var memory = scratch.bytes();
            var request = memory.asByteBuffer().order(ByteOrder.nativeOrder());
            var acknowledge = type == GENL_ID_CTRL ? 0 : NLM_F_ACK;
            request.putInt(HEADER_BYTES + 4 + ((text.length() + 3) & ~3))
                    .putShort(type)
                    .putShort((short) (NLM_F_REQUEST | acknowledge))
                    .putInt(1)
                    .putInt(0)
                    .put(command)
                    .put((byte) 1)
                    .putShort((short) 0)
                    .putShort((short) (4 + text.length()))
                    .putShort(attribute)
                    .put(text.getBytes(US_ASCII))
                    .put(new byte[-text.length() & 3]);
            check("send", SocketCalls.send(descriptor, memory, request.position(), 0));
            var length = check("recv", SocketCalls.receive(descriptor, memory, Scratch.BYTES));
            var response = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
            response.put(request.slice(0, length)).flip();
            var error = response.getShort(4) == NLMSG_ERROR ? response.getInt(16) : 0;
            return error == -Errno.EEXIST
                    ? response
                    : response.limit(length + check("netlink", error));
        }
    }

    private static int check(String call, int result) throws SocketException {
        if (result < 0) {
            throw new SocketException("%s: %s".formatted(call, Errno.describe(-result)));
        }
        return result;
    }
}
