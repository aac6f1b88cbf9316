package org.jrdma.verbs;

import org.jrdma.verbs.model.VerbsException;

/**
 * Several prepared requests that are posted by one call, in their order. They cannot be posted one
 * by one any more, but still be changed. Belongs to the thread that prepared them.
 */
public final class PreparedChain {

    private final PreparedRequest<?>[] requests;

    PreparedChain(PreparedRequest<?>... requests) {
        if (requests.length == 0) {
            throw new IllegalArgumentException("A chain has at least one request");
        }
        this.requests = requests.clone();
        PreparedRequest.link(this.requests);
    }

    /**
     * Posts all of them, if there are as many free slots. Does not wait. In C: {@code
     * ibv_post_send}, {@code ibv_post_recv}, {@code ibv_post_srq_recv}.
     *
     * @return false if there are not so many free slots; nothing is posted then
     * @throws PostException if the provider refuses one; it says which. Those before it are under
     *     way; none is where the queue pair has {@link QueuePairOptions#extendedPosts}, and then it
     *     does not say which
     * @throws VerbsException if the queue pair is not in a state to take them
     * @throws IllegalStateException if the queue pair or a region is closed; nothing is posted then
     */
    public boolean tryPost() throws VerbsException {
        return requests[0].tryPostChain(requests);
    }
}
