package org.jrdma.verbs.cm;

import java.net.InetAddress;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.cm.model.RejectReason;

/**
 * An event of an {@link Identifier}: the outcome of a step, or a request of a peer. A value: the
 * native event is acknowledged when it is taken, so that a program cannot forget to. In C: {@code
 * struct rdma_cm_event}, with {@code rdma_ack_cm_event}.
 */
public sealed interface ConnectionEvent {

    /** The identifier of the event; for a request, the new identifier. */
    Identifier identifier();

    /** The failure of a step. No further event of the step follows. */
    sealed interface Failure extends ConnectionEvent {
        /** The reason in words, as the end of a sentence. */
        String reason();

        /** The reason as a code: of a rejection its status, otherwise an errno. */
        int code();
    }

    /** A request of a peer to a listener. Its identifier is new, and serves this request. */
    sealed interface Request extends ConnectionEvent {
        /** The identifier that listens. */
        Identifier listener();
    }

    /** The address was resolved, and the identifier is bound to a device. */
    record AddressResolved(Identifier identifier) implements ConnectionEvent {}

    /** The address cannot be reached, or not through an RDMA device. */
    record AddressError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            return switch (code) {
                case Errno.ENODEV -> "no RDMA device leads there: ENODEV (19)";
                case Errno.ETIMEDOUT -> "nobody there answers to the address: ETIMEDOUT (110)";
                default -> Errno.describe(code);
            };
        }
    }

    /** The look-up succeeded; {@link Identifier#addressInfo} has its result. */
    record AddressInfoResolved(Identifier identifier) implements ConnectionEvent {}

    /**
     * The look-up failed.
     *
     * @param code an errno, or below zero an error of {@code getaddrinfo}
     */
    record AddressInfoError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            if (code == Errno.EBUSY) {
                return "what was looked up before is not taken: EBUSY (16)";
            }
            return code < 0
                    ? "nobody knows it: %s (%d)"
                            .formatted(AddressErrors.meaningOfLookUp(code), code)
                    : "nobody knows it: " + Errno.describe(code);
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
     * A request for a connection, which {@link Identifier#accept} or {@link Identifier#reject}
     * answers. Closing the identifier rejects it.
     *
     * @param listener the identifier that listens
     * @param parameters the peer's parameters, from the view of this side
     */
    record ConnectRequest(
            Identifier identifier,
            Identifier listener,
            ConnectionParameters parameters,
            PrivateData privateData)
            implements Request {}

    /** A request for the destination of a service's datagrams. */
    record DatagramRequest(Identifier identifier, Identifier listener, PrivateData privateData)
            implements Request {}

    /**
     * The peer has accepted. The queue pair must be brought to READY_TO_SEND, and then {@link
     * Identifier#establish} confirms the connection.
     *
     * @param parameters the peer's parameters, from the view of this side
     */
    record ConnectResponse(
            Identifier identifier, ConnectionParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /**
     * The connection is established.
     *
     * @param parameters the peer's parameters, from the view of this side; zeros on the accepting
     *     side on RoCE and InfiniBand, which had them with the request
     */
    record Established(
            Identifier identifier, ConnectionParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /** The destination of a service's datagrams is known. */
    record DatagramEstablished(
            Identifier identifier, DatagramParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /**
     * The peer has rejected the request.
     *
     * @param code a code of the InfiniBand specification; on iWARP, an errno below zero
     */
    record Rejected(Identifier identifier, int code, PrivateData privateData) implements Failure {
        /** The reason of the rejection. */
        public RejectReason rejectReason() {
            return RejectReason.ofStatus(code);
        }

        @Override
        public String reason() {
            return "the peer refused: %s (%s, %d)"
                    .formatted(rejectReason().meaning(), rejectReason(), code);
        }
    }

    /**
     * The peer did not answer, or it has no such service of datagrams.
     *
     * @param privateData the private data of a service's rejection; otherwise empty
     */
    record Unreachable(Identifier identifier, int code, PrivateData privateData)
            implements Failure {
        /** The status of a service ID resolution reply (SIDR_REP), by the specification. */
        private static final String[] SERVICE = {
            "",
            "it has no services of datagrams",
            "its program refused",
            "it has no queue pair for it",
            "another port answers for it",
            "it does not know that version"
        };

        @Override
        public String reason() {
            return code > 0 && code < SERVICE.length
                    ? "the peer refused: %s (%d)".formatted(SERVICE[code], code)
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

    /** Either side has disconnected. {@link Identifier#disconnect} answers the peer. */
    record Disconnected(Identifier identifier) implements ConnectionEvent {}

    /**
     * The group was joined: datagrams can be sent to it, and received by the queue pairs that are
     * {@link org.jrdma.verbs.DatagramQueuePair#attachMulticast attached} to the GID in the
     * parameters.
     *
     * @param group the group's address
     * @param parameters the destination of datagrams for the group
     */
    record MulticastJoined(Identifier identifier, InetAddress group, DatagramParameters parameters)
            implements ConnectionEvent {}

    /** The group cannot be joined, or the membership was lost. */
    record MulticastError(Identifier identifier, InetAddress group, int code) implements Failure {
        @Override
        public String reason() {
            return "group %s: %s".formatted(group.getHostAddress(), Errno.describe(code));
        }
    }

    /** The device is being removed; all its objects must be closed. */
    record DeviceRemoved(Identifier identifier) implements ConnectionEvent {}

    /** The network interface has a new address, as after a failover. */
    record AddressChanged(Identifier identifier) implements ConnectionEvent {}

    /** No packet of the connection is in flight any more; the queue pair can be reused. */
    record TimeWaitExit(Identifier identifier) implements ConnectionEvent {}

    /**
     * An event that the program created with {@link Identifier#writeEvent}.
     *
     * @param status the status that the program gave
     * @param argument the argument that the program gave
     */
    record Written(Identifier identifier, int status, long argument) implements ConnectionEvent {}

    /** An event of a type that this interface does not have. */
    record Other(Identifier identifier, int type, int status) implements ConnectionEvent {}
}
