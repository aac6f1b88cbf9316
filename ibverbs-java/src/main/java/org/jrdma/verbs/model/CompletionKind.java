package org.jrdma.verbs.model;

/**
 * The kind of an operation that completed. The kind of a failed request is undefined. In C: {@code
 * enum ibv_wc_opcode}.
 */
public enum CompletionKind {
    /** A message was sent. */
    SEND,
    /** Data was written to the peer's memory. */
    WRITE,
    /** Data was read from the peer's memory. */
    READ,
    /** A compare-and-swap was performed on the peer's memory. */
    COMPARE_AND_SWAP,
    /** A fetch-and-add was performed on the peer's memory. */
    FETCH_AND_ADD,
    /** Eight bytes of remote memory were written atomically. */
    ATOMIC_WRITE,
    /** Data written to the peer's memory is now visible or persistent there. */
    FLUSH,
    /** A memory window was bound. */
    BIND,
    /** A memory window was invalidated. */
    INVALIDATE,
    /** A message arrived. */
    RECEIVE,
    /**
     * A peer wrote to the memory of this side with immediate data, and the write consumed a
     * receive.
     */
    RECEIVE_WRITE_WITH_IMMEDIATE,
    /** An operation of another kind. */
    OTHER
}
