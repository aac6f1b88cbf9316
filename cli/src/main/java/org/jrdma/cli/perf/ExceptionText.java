package org.jrdma.cli.perf;

/** Converts an exception to a text for the user. */
final class ExceptionText {

    private ExceptionText() {}

    /** Returns the message of an exception, or its class name if it has none. */
    static String of(Exception e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }
}
