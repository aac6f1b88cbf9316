package org.jrdma.verbs.cm;

import java.net.InetAddress;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.cm.model.RejectReason;

/**
 * An event of an {@link Identifier}, for example the outcome of a step or the request of a peer.
 *
 * <p>An event is an immutable value. The SDK acknowledges the native event when it takes the event,
 * so the program need not do so. In C: {@code struct rdma_cm_event}, with {@code
 * rdma_ack_cm_event}.
 */
public sealed interface ConnectionEvent {

    /**
     * The identifier that the event concerns. For a request, this is a new identifier for that
     * request.
     */
    Identifier identifier();

    /**
     * An event that reports the failure of one step of connecting, such as address resolution. No
     * other event follows for the same step.
     */
    sealed interface Failure extends ConnectionEvent {
        /** A description of the failure, as the end of a sentence. */
        String reason();

        /** The code of the failure: the status of a rejection, otherwise an errno. */
        int code();
    }

    /**
     * An event that reports a peer's request to a listener. A new identifier was created for this
     * request.
     */
    sealed interface Request extends ConnectionEvent {
        /** The identifier that listens and received the request. */
        Identifier listener();

        /** The private data that the peer's program sent, including padding. */
        PrivateData privateData();
    }

    /** The address was resolved, and the identifier is bound to a device. */
    record AddressResolved(Identifier identifier) implements ConnectionEvent {}

    /** The address is unreachable, or it is reachable but not through an RDMA device. */
    record AddressError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            return switch (code) {
                case Errno.ENODEV -> "no RDMA device can reach the address: ENODEV (19)";
                case Errno.ETIMEDOUT -> "no host answers to the address: ETIMEDOUT (110)";
                default -> Errno.describe(code);
            };
        }
    }

    /** The lookup of an address succeeded. {@link Identifier#addressInfo} returns the result. */
    record AddressInfoResolved(Identifier identifier) implements ConnectionEvent {}

    /**
     * The lookup of an address failed.
     *
     * @param code an errno, or a negative error code of {@code getaddrinfo}
     */
    record AddressInfoError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            if (code == Errno.EBUSY) {
                return "the result of the previous lookup has not been taken: EBUSY (16)";
            }
            return code < 0
                    ? "%s (%d)".formatted(AddressErrorMessages.descriptionOfLookUp(code), code)
                    : "the lookup failed: " + Errno.describe(code);
        }
    }

    /** The path through the fabric was resolved. */
    record RouteResolved(Identifier identifier) implements ConnectionEvent {}

    /** There is no path through the fabric. */
    record RouteError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            return "no route was found: " + Errno.describe(code);
        }
    }

    /**
     * A connect request, which the program answers with {@link Identifier#accept} or {@link
     * Identifier#reject}. Closing the identifier rejects the request.
     *
     * @param parameters the peer's parameters, as seen from this side
     */
    record ConnectRequest(
            Identifier identifier,
            Identifier listener,
            ConnectionParameters parameters,
            PrivateData privateData)
            implements Request {}

    /** A peer's request for the queue pair number and queue key of a datagram service. */
    record DatagramRequest(Identifier identifier, Identifier listener, PrivateData privateData)
            implements Request {}

    /**
     * The peer has accepted the connection. The program brings the queue pair to the state
     * READY_TO_SEND and then confirms the connection with {@link Identifier#establish}.
     *
     * @param parameters the peer's parameters, as seen from this side
     */
    record ConnectResponse(
            Identifier identifier, ConnectionParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /**
     * The connection is established.
     *
     * @param parameters the peer's parameters, as seen from this side; all zeros on the accepting
     *     side on RoCE and InfiniBand, where the request contained them
     */
    record Established(
            Identifier identifier, ConnectionParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /** The peer has returned the queue pair number and queue key of a datagram service. */
    record DatagramEstablished(
            Identifier identifier, DatagramParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /**
     * The peer has rejected the request.
     *
     * @param code a code of the InfiniBand specification; on iWARP, a negative errno
     */
    record Rejected(Identifier identifier, int code, PrivateData privateData) implements Failure {
        /** The reason of the rejection. */
        public RejectReason rejectReason() {
            return RejectReason.ofStatus(code);
        }

        @Override
        public String reason() {
            return "the peer rejected the request: %s (%s, %d)"
                    .formatted(rejectReason().meaning(), rejectReason(), code);
        }
    }

    /**
     * The peer did not answer a request, or it rejected a request for a datagram service.
     *
     * @param privateData the private data of the rejection; empty if the peer did not answer
     */
    record Unreachable(Identifier identifier, int code, PrivateData privateData)
            implements Failure {
        /** Descriptions of the status values of a service ID resolution response (SIDR_REP). */
        private static final String[] SERVICE_STATUS = {
            "",
            "it does not support datagram services",
            "its program rejected the request",
            "it has no queue pair for the service",
            "another port handles the service",
            "it does not support the protocol version"
        };

        @Override
        public String reason() {
            return code > 0 && code < SERVICE_STATUS.length
                    ? "the peer rejected the request: %s (%d)".formatted(SERVICE_STATUS[code], code)
                    : "the peer does not answer: " + Errno.describe(Math.abs(code));
        }
    }

    /** The connection failed while it was being established. */
    record ConnectError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            return Errno.describe(code);
        }
    }

    /**
     * Either side has disconnected. If it was the peer, {@link Identifier#disconnect} confirms the
     * disconnect.
     */
    record Disconnected(Identifier identifier) implements ConnectionEvent {}

    /**
     * A multicast group was joined. The program can send datagrams to the group. Queue pairs that
     * are {@link org.jrdma.verbs.DatagramQueuePair#attachMulticast attached} to the GID in {@code
     * parameters} receive the datagrams of the group.
     *
     * @param group the address of the group
     * @param parameters the destination for datagrams to the group
     */
    record MulticastJoined(Identifier identifier, InetAddress group, DatagramParameters parameters)
            implements ConnectionEvent {}

    /** A multicast group cannot be joined, or the membership was lost. */
    record MulticastError(Identifier identifier, InetAddress group, int code) implements Failure {
        @Override
        public String reason() {
            return "group %s: %s".formatted(group.getHostAddress(), Errno.describe(code));
        }
    }

    /** The device is being removed; all its objects must be closed. */
    record DeviceRemoved(Identifier identifier) implements ConnectionEvent {}

    /** The address of the network interface has changed, for example after a failover. */
    record AddressChanged(Identifier identifier) implements ConnectionEvent {}

    /**
     * The time-wait period after a connection has ended. No packet of the connection is in flight,
     * so the queue pair can be reused.
     */
    record TimeWaitExit(Identifier identifier) implements ConnectionEvent {}

    /**
     * An event that the program added with {@link Identifier#writeEvent}.
     *
     * @param status the status that the program passed
     * @param argument the argument that the program passed
     */
    record UserDefined(Identifier identifier, int status, long argument)
            implements ConnectionEvent {}

    /** An event of a type that this version of the SDK does not know. */
    record Other(Identifier identifier, int type, int status) implements ConnectionEvent {}
}
