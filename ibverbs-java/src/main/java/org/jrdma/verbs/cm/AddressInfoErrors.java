package org.jrdma.verbs.cm;

/** The error codes of {@code getaddrinfo} in words. */
final class AddressInfoErrors {

    private static final int NO_NAME = -2;
    private static final int AGAIN = -3;
    private static final int NO_SERVICE = -8;

    private AddressInfoErrors() {}

    /** Returns what a program or its user can do about an error; empty if that is not known. */
    static String advice(int code) {
        return switch (code) {
            case NO_NAME -> "Nobody knows that host or that service.";
            case AGAIN -> "The name service does not answer; try again later.";
            case NO_SERVICE ->
                    "The service is neither a number nor a name in this machine's services table.";
            default -> "";
        };
    }

    /** Returns the meaning of an error, as the end of a sentence. */
    static String meaning(int code) {
        return switch (code) {
            case NO_NAME -> "there is no such host or service";
            case AGAIN -> "the name service does not answer now";
            case NO_SERVICE -> "there is no such service";
            default -> "the look-up failed";
        };
    }
}
