package org.jrdma.cli.perf;

/** What people are told of an exception. */
final class Reason {

    private Reason() {}

    /** Its message; its name where it has none. */
    static String of(Exception e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }
}
