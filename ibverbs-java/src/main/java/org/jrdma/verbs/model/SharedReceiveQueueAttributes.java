package org.jrdma.verbs.model;

/**
 * What the device says of a shared receive queue. In C: {@code struct ibv_srq_attr}.
 *
 * @param receives the room for receives, which may be more than was asked for
 * @param elements the pieces of memory in a receive
 * @param limit an event comes when fewer receives than this are left; 0 for none, and after the
 *     event
 */
public record SharedReceiveQueueAttributes(int receives, int elements, int limit) {}
