package org.jrdma.verbs.cm;

import java.net.InetAddress;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.cm.model.RejectReason;

/**
 * What has become of something that an {@link Identifier} was asked for, or what a peer wants of
 * it. A value: the native event is acknowledged when it is taken, so that nothing waits for a
 * program that forgets it. In C: {@code struct rdma_cm_event}; taken, it is {@code
 * rdma_ack_cm_event}.
 */
public sealed interface ConnectionEvent {

    /** What it is about; of a request, the new one. */
    Identifier identifier();

    /** An end to what was asked for: nothing more comes of it. */
    sealed interface Failure extends ConnectionEvent {
        /** What went wrong, in words, as the end of a sentence. */
        String reason();

        /** What the system said; of a refusal its number, else an errno. */
        int code();
    }

    /** A peer wants something of a listener; the identifier is the new one that is for it. */
    sealed interface Request extends ConnectionEvent {
        /** Where it came to. */
        Identifier listener();
    }

    /** The address belongs to a device of this machine, or leads to one. */
    record AddressResolved(Identifier identifier) implements ConnectionEvent {}

    /** There is no way to the address, or none through an RDMA device. */
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

    /** {@link Identifier#addressInfo} has what was looked up. */
    record AddressInfoResolved(Identifier identifier) implements ConnectionEvent {}

    /**
     * What was to be looked up is not known.
     *
     * @param code an errno, or below zero a number of {@code getaddrinfo}
     */
    record AddressInfoError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            if (code == Errno.EBUSY) {
                return "what was looked up before is not taken: EBUSY (16)";
            }
            return code < 0
                    ? "nobody knows it: %s (%d)".formatted(AddressErrors.meaningOfLookUp(code), code)
                    : "nobody knows it: " + Errno.describe(code);
        }
    }

    /** The way through the fabric is known. */
    record RouteResolved(Identifier identifier) implements ConnectionEvent {}

    /** There is no way through the fabric. */
    record RouteError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            return "no route was found: " + Errno.describe(code);
        }
    }

    /**
     * A peer wants to connect. {@link Identifier#accept} or {@link Identifier#reject} answers;
     * closing the identifier refuses.
     *
     * @param listener where it came to
     * @param parameters the peer's, as this side sees them
     */
    record ConnectRequest(
            Identifier identifier,
            Identifier listener,
            ConnectionParameters parameters,
            PrivateData privateData)
            implements Request {}

    /** A peer wants to know where datagrams for it should go. */
    record DatagramRequest(Identifier identifier, Identifier listener, PrivateData privateData)
            implements Request {}

    /**
     * The peer accepts. The queue pair must be brought to READY_TO_SEND, and then {@link
     * Identifier#establish} tells the peer.
     *
     * @param parameters the peer's, as this side sees them
     */
    record ConnectResponse(
            Identifier identifier, ConnectionParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /**
     * The connection is there.
     *
     * @param parameters the peer's, as this side sees them; on RoCE and InfiniBand the accepting
     *     side gets zeros, and had them with the request
     */
    record Established(
            Identifier identifier, ConnectionParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /** Where datagrams for the peer must go. */
    record DatagramEstablished(
            Identifier identifier, DatagramParameters parameters, PrivateData privateData)
            implements ConnectionEvent {}

    /**
     * The peer refuses.
     *
     * @param code as it came: a code of the InfiniBand specification; on iWARP, an errno below zero
     */
    record Rejected(Identifier identifier, int code, PrivateData privateData) implements Failure {
        /** Why. */
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
     * The peer did not answer, or has no such service of datagrams.
     *
     * @param privateData what the service's program said with its refusal; else empty
     */
    record Unreachable(Identifier identifier, int code, PrivateData privateData)
            implements Failure {
        /** What an answer about a service of datagrams says, by the specification. */
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

    /** The connection failed while it was being made. */
    record ConnectError(Identifier identifier, int code) implements Failure {
        @Override
        public String reason() {
            return Errno.describe(code);
        }
    }

    /** The peer disconnected, or this side did. {@link Identifier#disconnect} answers the peer. */
    record Disconnected(Identifier identifier) implements ConnectionEvent {}

    /**
     * Datagrams to the group can be sent now, and received by the queue pairs that are {@link
     * org.jrdma.verbs.DatagramQueuePair#attachMulticast attached} to the GID of the way there.
     *
     * @param group as it was named
     * @param parameters where datagrams for the group go
     */
    record MulticastJoined(Identifier identifier, InetAddress group, DatagramParameters parameters)
            implements ConnectionEvent {}

    /** The group cannot be joined, or is lost. */
    record MulticastError(Identifier identifier, InetAddress group, int code) implements Failure {
        @Override
        public String reason() {
            return "group %s: %s".formatted(group.getHostAddress(), Errno.describe(code));
        }
    }

    /** The device is being taken out; everything made from it must be closed. */
    record DeviceRemoved(Identifier identifier) implements ConnectionEvent {}

    /** The network interface has another address now, as after a fail-over. */
    record AddressChanged(Identifier identifier) implements ConnectionEvent {}

    /** No packet of the connection is under way any more; the queue pair can be connected anew. */
    record TimeWaitExit(Identifier identifier) implements ConnectionEvent {}

    /**
     * What a thread of this program has to say, by {@link Identifier#writeEvent}.
     *
     * @param status as it said
     * @param argument as it said
     */
    record Written(Identifier identifier, int status, long argument) implements ConnectionEvent {}

    /** Something that has no name here. */
    record Other(Identifier identifier, int type, int status) implements ConnectionEvent {}
}
