package org.jrdma.soft.sisci.fabric;

import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/** Why a function does not do what its caller asks: an error code of SISCI. */
public final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int code;

    /** One whose code says all. */
    public Refusal(int code) {
        this(code, "");
    }

    /**
     * One that needs saying more.
     *
     * @param explanation what the code does not tell
     */
    public Refusal(int code, String explanation) {
        super(explanation, null, false, false);
        this.code = code;
    }

    /** What the operating system refused. */
    static Refusal of(FabricException refused) {
        var code =
                switch (refused.code()) {
                    case Errno.ENOSPC, Errno.ENOMEM, Errno.EMFILE, Errno.ENFILE ->
                            sisci_h.SCI_ERR_NOSPC();
                    default -> sisci_h.SCI_ERR_SYSTEM();
                };
        return new Refusal(code, String.valueOf(refused.getMessage()));
    }

    /** Throws one, if it is so. */
    public static void when(boolean refused, int code) {
        if (refused) {
            throw new Refusal(code);
        }
    }

    /** The error code. */
    public int code() {
        return code;
    }
}
