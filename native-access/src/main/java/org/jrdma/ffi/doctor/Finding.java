package org.jrdma.ffi.doctor;

/**
 * The result of a check of a machine.
 *
 * @param subject the subject of the check
 * @param verdict the severity of the result
 * @param seen the observed state
 * @param breaks the consequence for programs; empty if there is no consequence
 * @param remedy the remedy, if possible as a command; empty if no remedy is needed
 */
public record Finding(String subject, Verdict verdict, String seen, String breaks, String remedy) {

    /** Creates a finding with {@link Verdict#FINE}. */
    public static Finding fine(String subject, String seen) {
        return new Finding(subject, Verdict.FINE, seen, "", "");
    }

    /** Creates a finding with {@link Verdict#DOUBTFUL}. */
    public static Finding doubtful(String subject, String seen, String breaks, String remedy) {
        return new Finding(subject, Verdict.DOUBTFUL, seen, breaks, remedy);
    }

    /** Creates a finding with {@link Verdict#BROKEN}. */
    public static Finding broken(String subject, String seen, String breaks, String remedy) {
        return new Finding(subject, Verdict.BROKEN, seen, breaks, remedy);
    }

    /** Creates a finding with {@link Verdict#ABSENT}. */
    public static Finding absent(String subject, String seen, String remedy) {
        return new Finding(subject, Verdict.ABSENT, seen, "", remedy);
    }

    /** Creates a finding with {@link Verdict#HIDDEN}. */
    public static Finding hidden(String subject, String why) {
        return new Finding(subject, Verdict.HIDDEN, why, "", "");
    }
}
