package org.jrdma.verbs.model;

/**
 * A provider refused a request at its post. Requests before it in the same chain are under way; it
 * and those after it are not. With {@link org.jrdma.verbs.QueuePairOptions#extendedPosts} the first
 * is named, whichever it was, and none is under way.
 */
public final class PostException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final int failedRequest;

    /**
     * A request that was refused.
     *
     * @param failedRequest its place in the chain, from 0
     */
    public PostException(String function, String subject, int failedRequest, int errno) {
        super(function, subject, errno, "");
        this.failedRequest = failedRequest;
    }

    /**
     * The place in the chain of the request that was refused, from 0; 0 where there is no chain.
     */
    public int failedRequest() {
        return failedRequest;
    }
}
