package org.jrdma.verbs.cm;

import java.net.InetSocketAddress;
import org.jrdma.ffi.Errno;

/** Creates the texts of exception messages for address errors and failed address lookups. */
final class AddressErrorMessages {

    private static final int EAI_NONAME = -2;
    private static final int EAI_AGAIN = -3;
    private static final int EAI_SERVICE = -8;

    private AddressErrorMessages() {}

    /** Returns advice for an errno of {@code rdma_bind_addr}, or an empty string. */
    static String adviceOnBinding(int errno, InetSocketAddress address) {
        return switch (errno) {
            case Errno.ENODEV -> "No RDMA device has that address.";
            case Errno.EADDRNOTAVAIL -> "This machine does not have that address.";
            case Errno.EADDRINUSE ->
                    "Port %d is in use. Programs can share a port if all of them call reuseAddress(true)."
                            .formatted(address.getPort());
            default -> "";
        };
    }

    /** Returns advice for an errno of {@code rdma_resolve_addr}, or an empty string. */
    static String adviceOnResolving(int errno) {
        return errno == Errno.ENODEV ? "No RDMA device can reach that address." : "";
    }

    /** Returns advice for an error of {@code getaddrinfo}, or an empty string. */
    static String adviceOnLookUp(int code) {
        return switch (code) {
            case EAI_NONAME -> "The host or service is unknown.";
            case EAI_AGAIN -> "The name service does not respond. Try again later.";
            case EAI_SERVICE ->
                    "The service is neither a port number nor a name in the services table of this machine.";
            default -> "";
        };
    }

    /** Returns a description of a {@code getaddrinfo} error, as the end of a sentence. */
    static String descriptionOfLookUp(int code) {
        return switch (code) {
            case EAI_NONAME -> "the host or service is unknown";
            case EAI_AGAIN -> "the name service does not respond";
            case EAI_SERVICE -> "the service is unknown";
            default -> "the lookup failed";
        };
    }
}
