package org.jrdma.ffi.doctor;

/**
 * What a check has found.
 *
 * @param subject what was looked at
 * @param verdict what it means
 * @param seen what is the case
 * @param breaks what does not work because of it; empty where it is fine
 * @param remedy what mends it, as a command where one does; empty where there is nothing to mend
 */
public record Finding(String subject, Verdict verdict, String seen, String breaks, String remedy) {

    /** As it should be. */
    public static Finding fine(String subject, String seen) {
        return new Finding(subject, Verdict.FINE, seen, "", "");
    }

    /** Works, and may disappoint. */
    public static Finding doubtful(String subject, String seen, String breaks, String remedy) {
        return new Finding(subject, Verdict.DOUBTFUL, seen, breaks, remedy);
    }

    /** Does not work. */
    public static Finding broken(String subject, String seen, String breaks, String remedy) {
        return new Finding(subject, Verdict.BROKEN, seen, breaks, remedy);
    }

    /** Is not there, and need not be. */
    public static Finding absent(String subject, String seen, String remedy) {
        return new Finding(subject, Verdict.ABSENT, seen, "", remedy);
    }

    /** Cannot be seen from here. */
    public static Finding hidden(String subject, String why) {
        return new Finding(subject, Verdict.HIDDEN, why, "", "");
    }
}
