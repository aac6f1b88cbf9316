package org.jrdma.verbs.model;

/**
 * The attributes of a shared receive queue, as the device reports them. In C: {@code struct
 * ibv_srq_attr}.
 *
 * @param receives the capacity in receives, which may exceed the requested number
 * @param elements the maximum number of scatter elements in a receive
 * @param limit the number of remaining receives below which the device raises an event; 0 if no
 *     limit is set, and after the event
 */
public record SharedReceiveQueueAttributes(int receives, int elements, int limit) {}
