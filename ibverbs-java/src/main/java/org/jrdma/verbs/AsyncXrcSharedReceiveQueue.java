package org.jrdma.verbs;

import java.time.Duration;
import org.jrdma.verbs.model.VerbsException;

/**
 * A shared receive queue that senders name by its number, over whichever connection into its {@link
 * XrcDomain}. All its receives complete in the dispatcher that it was made with; a completion says
 * which queue pair of the domain, in whichever process, took the receive. What senders read and
 * write on the way is memory of its protection domain.
 *
 * <p>Owned by its protection domain, by its XRC domain and by its dispatcher, and closed with the
 * first of them. In C: {@code IBV_SRQT_XRC}.
 */
public final class AsyncXrcSharedReceiveQueue extends AsyncSharedReceiveQueue {

    private final XrcDomain xrcDomain;
    private final int number;

    AsyncXrcSharedReceiveQueue(
            ProtectionDomain domain,
            XrcDomain xrcDomain,
            CompletionDispatcher completions,
            int capacity,
            int elements,
            Duration slotTimeout)
            throws VerbsException {
        this(
                domain,
                xrcDomain,
                completions,
                elements,
                slotTimeout,
                new AsyncSharedReceives(capacity));
    }

    private AsyncXrcSharedReceiveQueue(
            ProtectionDomain domain,
            XrcDomain xrcDomain,
            CompletionDispatcher completions,
            int elements,
            Duration slotTimeout,
            AsyncSharedReceives receives)
            throws VerbsException {
        super(
                domain,
                elements,
                slotTimeout,
                receives,
                new Named<>(xrcDomain, completions, receives.sharing()));
        this.xrcDomain = xrcDomain;
        try {
            this.number = numberOf(this);
        } catch (VerbsException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** The number by which senders name it, 24 bits. In C: {@code ibv_get_srq_num}. */
    public int number() {
        return number;
    }

    /** The domain whose queue pairs receive for it. */
    public XrcDomain xrcDomain() {
        return xrcDomain;
    }

    @Override
    boolean isNamedBySenders() {
        return true;
    }
}
