package org.jrdma.sockets.sisci;

import static java.time.Duration.ofMillis;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates and checks the cookies by which clients prove to a listener that they own their IP
 * addresses.
 *
 * <p>SISCI identifies nodes, but a connect request contains an IP address, which any process can
 * forge. Therefore, a client first sends a datagram to a UDP socket of the listener. The socket is
 * bound to the address of the listener, and replies with a cookie to the address from which the
 * datagram came. The cookie is a hash of that address and a secret of the listener. The connect
 * request contains the cookie, so the client must have received a datagram at the address that it
 * claims, in the network of the listener. The listener keeps no state for a client. A reply is
 * shorter than a request, so that it is neither amplified nor answered by another listener.
 *
 * <p>A cookie does not prove the port of the client, only its address.
 */
final class AddressCookies implements AutoCloseable {

    /** The approximate time for which a cookie is valid. */
    private static final long PERIOD_NANOS = 30_000_000_000L;

    /** The length of a request: a random number, and padding. */
    private static final int REQUEST_BYTES = 3 * Long.BYTES;

    /** The length of a reply: the number of the request, and the cookie. */
    private static final int REPLY_BYTES = 2 * Long.BYTES;

    /** The maximum number of requests that one call of the polling thread answers. */
    private static final int BATCH = 64;

    /** The total time for which a client waits for a reply. */
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private static final int FIRST_WAIT_MILLIS = 100;
    private static final int SECRET_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Logger LOG = LoggerFactory.getLogger(AddressCookies.class);

    private final int socket;
    private final InternetFamily family;
    private final int port;
    private final byte[] secret = new byte[SECRET_BYTES];
    private final DescriptorWaiter waiter;
    private boolean closed;

    private AddressCookies(InetAddress address, int socket, InternetFamily family)
            throws IOException {
        this.socket = socket;
        this.family = family;
        family.bind(socket, new InetSocketAddress(address, 0));
        this.port = ((InetSocketAddress) family.localAddress(socket)).getPort();
        RANDOM.nextBytes(secret);
        this.waiter = DescriptorWaiter.watch(socket, this::reply);
    }

    /** Opens the UDP socket of a listener, at a free port. */
    static AddressCookies open(InetAddress address) throws FabricException {
        var family = address instanceof Inet6Address ? InternetFamily.IPV6 : InternetFamily.IPV4;
        var domain = family.isIpv6() ? SocketCalls.AF_INET6 : SocketCalls.AF_INET;
        try {
            return open(address, family, SocketCalls.socket(domain, SocketCalls.SOCK_DGRAM, 0));
        } catch (IOException e) {
            throw new FabricException(
                    "Cannot open a UDP socket at %s: %s"
                            .formatted(address.getHostAddress(), e.getMessage()),
                    0,
                    e);
        }
    }

    private static AddressCookies open(InetAddress address, InternetFamily family, int result)
            throws IOException {
        var socket = SocketFailure.check(result);
        try {
            var cookies = new AddressCookies(address, socket, family);
            cookies.arm();
            return cookies;
        } catch (Throwable e) {
            SocketCalls.close(socket);
            throw e;
        }
    }

    /** Returns the port of the UDP socket. */
    int port() {
        return port;
    }

    /** Returns true if a client has received the cookie at its address, at most a minute ago. */
    boolean isValid(InetAddress client, long cookie) {
        var period = period();
        return cookie == cookie(client, period) || cookie == cookie(client, period - 1);
    }

    private static long period() {
        return Math.floorDiv(System.nanoTime(), PERIOD_NANOS);
    }

    private long cookie(InetAddress client, long period) {
        try {
            // Only a part of the hash is sent. Otherwise, an attacker could compute hashes of
            // longer inputs from it.
            var hash = MessageDigest.getInstance("SHA-256");
            hash.update(secret);
            hash.update(ByteBuffer.allocate(Long.BYTES).putLong(0, period));
            return ByteBuffer.wrap(hash.digest(client.getAddress())).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // Each Java platform supports this algorithm.
        }
    }

    /** Answers the requests that have arrived. Called by the polling thread. */
    private void reply() {
        try (var scratch = Scratch.take()) {
            for (var i = 0; i < BATCH; i++) {
                if (!replyToOne(scratch)) {
                    arm();
                    return;
                }
            }
        }
        waiter.callAgain();
    }

    /** Answers one request. Returns false if there is none. */
    private boolean replyToOne(Scratch scratch) {
        var message = scratch.value(REQUEST_BYTES + 1); // A longer datagram is truncated.
        var name = scratch.name();
        var length = SocketCalls.receiveFrom(socket, message, REQUEST_BYTES + 1, name);
        if (length == REQUEST_BYTES) {
            var cookie = cookie(family.read(name).getAddress(), period());
            message.asByteBuffer().putLong(Long.BYTES, cookie);
            var _ = SocketCalls.sendTo(socket, message, REPLY_BYTES, name.memory(), name.length());
        }
        return length != SocketCalls.AGAIN;
    }

    private void arm() {
        try {
            waiter.arm();
        } catch (FabricException e) {
            LOG.error("SISCI clients can no longer prove their addresses at UDP port {}", port, e);
        }
    }

    /**
     * Requests a cookie from a listener. Blocks for at most a second.
     *
     * <p>The socket is first connected to the listener, so that the kernel reports a closed port
     * immediately. If no reply arrives, the socket is disconnected, because a listener at the
     * wildcard address may reply from another address than that of the request.
     *
     * @param from the address of the client
     * @param listener the address of the listener, with the port of its UDP socket
     * @throws FabricException if the listener does not reply
     */
    static long request(InetAddress from, InetSocketAddress listener, Deadline deadline)
            throws FabricException {
        var until = deadline.earlier(Deadline.after(TIMEOUT));
        var number = RANDOM.nextLong();
        var request = ByteBuffer.allocate(REQUEST_BYTES).putLong(0, number).array();
        var reply = new DatagramPacket(new byte[REPLY_BYTES], REPLY_BYTES);
        try (var socket = new DatagramSocket(new InetSocketAddress(from, 0))) {
            socket.connect(listener);
            for (var wait = FIRST_WAIT_MILLIS; !until.hasPassed(); wait *= 2) {
                socket.send(new DatagramPacket(request, REQUEST_BYTES, listener));
                if (receives(
                        socket, reply, number, until.earlier(Deadline.after(ofMillis(wait))))) {
                    return ByteBuffer.wrap(reply.getData()).getLong(Long.BYTES);
                }
                socket.disconnect();
            }
        } catch (PortUnreachableException e) {
            throw unconfirmed(from, listener, "the port is closed", e);
        } catch (IOException e) {
            throw unconfirmed(from, listener, String.valueOf(e.getMessage()), e);
        }
        throw unconfirmed(from, listener, "no reply", null);
    }

    /** Waits for the reply to a request. Returns false if it does not arrive in time. */
    private static boolean receives(
            DatagramSocket socket, DatagramPacket reply, long number, Deadline until)
            throws IOException {
        while (!until.hasPassed()) {
            socket.setSoTimeout((int) Math.max(1, until.remainingNanos() / 1_000_000));
            try {
                reply.setLength(REPLY_BYTES);
                socket.receive(reply);
                if (reply.getLength() == REPLY_BYTES
                        && ByteBuffer.wrap(reply.getData()).getLong(0) == number) {
                    return true;
                }
            } catch (SocketTimeoutException e) {
                return false;
            }
        }
        return false;
    }

    private static FabricException unconfirmed(
            InetAddress from, InetSocketAddress listener, String reason, @Nullable Exception e) {
        return new FabricException(
                "its listener did not confirm the address %s of this client over UDP port %d of %s: %s"
                        .formatted(
                                from.getHostAddress(),
                                listener.getPort(),
                                listener.getAddress().getHostAddress(),
                                reason),
                0,
                e);
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        waiter.close();
        SocketCalls.close(socket);
    }
}
