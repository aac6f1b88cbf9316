package org.jrdma.verbs.model;

/**
 * Thrown if a provider rejects a request that a program posts. If the request is part of a chain,
 * the requests before it have been posted, and the rejected request and the requests after it have
 * not. With {@link org.jrdma.verbs.QueuePairOptions#extendedPosts}, no request of the chain has
 * been posted, and {@link #failedRequest} is always 0.
 */
public final class PostException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final int failedRequest;

    /**
     * Creates an exception for a rejected request.
     *
     * @param failedRequest the index of the rejected request in its chain, starting at 0
     */
    public PostException(String function, String subject, int failedRequest, int errno) {
        super(function, subject, errno, "");
        this.failedRequest = failedRequest;
    }

    /** The index of the rejected request in its chain, starting at 0; 0 for a single request. */
    public int failedRequest() {
        return failedRequest;
    }
}
