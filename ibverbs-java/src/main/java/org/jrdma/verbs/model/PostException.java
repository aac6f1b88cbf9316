package org.jrdma.verbs.model;

/**
 * Thrown if a provider rejects a posted request. Requests before the rejected one in the same chain
 * have been posted; the rejected request and those after it have not. With {@link
 * org.jrdma.verbs.QueuePairOptions#extendedPosts} no request of the chain has been posted, and the
 * exception always names the first one.
 */
public final class PostException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final int failedRequest;

    /**
     * Creates an exception for a rejected request.
     *
     * @param failedRequest the index of the rejected request in the chain, from 0
     */
    public PostException(String function, String subject, int failedRequest, int errno) {
        super(function, subject, errno, "");
        this.failedRequest = failedRequest;
    }

    /** The index of the rejected request in its chain, from 0; 0 if there is no chain. */
    public int failedRequest() {
        return failedRequest;
    }
}
