package org.jrdma.verbs.cm;

import java.net.InetSocketAddress;
import org.jrdma.ffi.Errno;

/** The errors of addresses and of look-ups of addresses in words. */
final class AddressErrors {

    private static final int NO_NAME = -2;
    private static final int AGAIN = -3;
    private static final int NO_SERVICE = -8;

    private AddressErrors() {}

    /** Returns advice on an errno of an identifier that was to be bound; empty if there is none. */
    static String adviceOnBinding(int errno, InetSocketAddress address) {
        return switch (errno) {
            case Errno.ENODEV -> "No RDMA device has that address.";
            case Errno.EADDRNOTAVAIL -> "This machine does not have that address.";
            case Errno.EADDRINUSE ->
                    "Another program has port %d; reuseAddress(true) shares it with those that say so too."
                            .formatted(address.getPort());
            default -> "";
        };
    }

    /** Returns advice on an errno of an address that was to be resolved; empty if there is none. */
    static String adviceOnResolving(int errno) {
        return errno == Errno.ENODEV ? "No RDMA device leads there." : "";
    }

    /** Returns advice on an error of {@code getaddrinfo}; empty if there is none. */
    static String adviceOnLookUp(int code) {
        return switch (code) {
            case NO_NAME -> "Nobody knows that host or that service.";
            case AGAIN -> "The name service does not answer; try again later.";
            case NO_SERVICE ->
                    "The service is no number, and not in this machine's table of services.";
            default -> "";
        };
    }

    /** Returns the meaning of an error of {@code getaddrinfo}, as the end of a sentence. */
    static String meaningOfLookUp(int code) {
        return switch (code) {
            case NO_NAME -> "there is no such host or service";
            case AGAIN -> "the name service does not answer now";
            case NO_SERVICE -> "there is no such service";
            default -> "the look-up failed";
        };
    }
}
