package org.jrdma.ffi;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a native library is not installed or cannot be opened. The message lists the places
 * that were searched and the package that contains the library.
 */
public final class LibraryNotFoundException extends FabricException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    /**
     * Creates an exception whose message consists of the problem and the remedy.
     *
     * @param problem a sentence that names the library and the places that were searched
     * @param remedy sentences that describe the remedy; empty if none is known
     */
    public LibraryNotFoundException(String problem, String remedy) {
        this(problem, remedy, null);
    }

    /** Creates an exception with a cause. */
    public LibraryNotFoundException(String problem, String remedy, @Nullable Throwable cause) {
        super(remedy.isEmpty() ? problem : problem + " " + remedy, 0, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** Returns the message without the remedy. */
    public String problem() {
        return problem;
    }

    /** Returns the remedy, which is the end of the message; empty if none is known. */
    public String remedy() {
        return remedy;
    }
}
