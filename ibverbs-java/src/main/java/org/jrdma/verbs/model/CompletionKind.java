package org.jrdma.verbs.model;

/**
 * What was completed. Valid only for a completion that succeeded. In C: {@code enum ibv_wc_opcode}.
 */
public enum CompletionKind {
    /** A message was sent. */
    SEND,
    /** The peer's memory was written. */
    WRITE,
    /** The peer's memory was read. */
    READ,
    /** A compare-and-swap was done on the peer's memory. */
    COMPARE_AND_SWAP,
    /** A fetch-and-add was done on the peer's memory. */
    FETCH_AND_ADD,
    /** Eight bytes of the peer's memory were written at once. */
    ATOMIC_WRITE,
    /** What was written into the peer's memory is visible or persistent there. */
    FLUSH,
    /** A memory window was bound. */
    BIND,
    /** A memory window was taken away from peers. */
    INVALIDATE,
    /** A message arrived. */
    RECEIVE,
    /** A peer wrote into this side's memory, with immediate data that took up a receive. */
    RECEIVE_OF_WRITE,
    /** Something else. */
    OTHER
}
