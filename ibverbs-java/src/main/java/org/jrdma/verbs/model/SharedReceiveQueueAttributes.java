package org.jrdma.verbs.model;

/**
 * The attributes of a shared receive queue, as the device reports them. In C: {@code struct
 * ibv_srq_attr}.
 *
 * @param receives the capacity in receives, which may exceed the requested number
 * @param elements the maximum number of scatter elements in a receive
 * @param limit the number of remaining receives below which an event is raised; 0 for none, and
 *     after the event
 */
public record SharedReceiveQueueAttributes(int receives, int elements, int limit) {}
