package org.jrdma.ffi.doctor;

/**
 * The result of a check of a machine.
 *
 * @param subject the subject of the check
 * @param verdict the severity of the result
 * @param seen the observed state
 * @param breaks the consequence for programs; empty if there is no consequence
 * @param fix the fix, if possible as a command; empty if no fix is needed
 */
public record Finding(String subject, Verdict verdict, String seen, String breaks, String fix) {

    /** Creates a finding with {@link Verdict#FINE}. */
    public static Finding fine(String subject, String seen) {
        return new Finding(subject, Verdict.FINE, seen, "", "");
    }

    /** Creates a finding with {@link Verdict#DOUBTFUL}. */
    public static Finding doubtful(String subject, String seen, String breaks, String fix) {
        return new Finding(subject, Verdict.DOUBTFUL, seen, breaks, fix);
    }

    /** Creates a finding with {@link Verdict#BROKEN}. */
    public static Finding broken(String subject, String seen, String breaks, String fix) {
        return new Finding(subject, Verdict.BROKEN, seen, breaks, fix);
    }

    /** Creates a finding with {@link Verdict#ABSENT}. */
    public static Finding absent(String subject, String seen, String fix) {
        return new Finding(subject, Verdict.ABSENT, seen, "", fix);
    }

    /** Creates a finding with {@link Verdict#UNKNOWN}. */
    public static Finding unknown(String subject, String why) {
        return new Finding(subject, Verdict.UNKNOWN, why, "", "");
    }
}
