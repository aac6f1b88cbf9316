package org.jrdma.verbs.model;

/** How a work request ended. In C: {@code enum ibv_wc_status}. */
public enum CompletionStatus {
    /** It was done. */
    SUCCESS("done"),
    /**
     * The message did not fit: a receive was too small, or a local buffer larger than the message
     * may be.
     */
    LOCAL_LENGTH_ERROR(
            "the message is longer than the receive posted for it, or than the device allows"),
    /** The device could not carry out the request. */
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(
            "the queue pair failed to carry out the request; see that its attributes suit it"),
    /** Of an end-to-end context, which no device has today. */
    LOCAL_END_TO_END_CONTEXT_OPERATION_ERROR("an end-to-end context failed"),
    /** A local buffer lies outside its region, has a wrong key, or lacks the right. */
    LOCAL_PROTECTION_ERROR(
            "a local buffer is outside its region, its region is closed, of another domain, or lacks LOCAL_WRITE"),
    /** The queue pair went to the error state before this request's turn came. */
    FLUSHED(
            "an earlier request failed, or the queue pair was closed or put into the error state; look at the first failure"),
    /** A memory window could not be bound. */
    MEMORY_WINDOW_BIND_ERROR(
            "the memory window could not be bound: the region lacks MEMORY_WINDOW_BIND or a right that the window gives, or is too short; or the window is bound already"),
    /** The peer answered with something unexpected. */
    BAD_RESPONSE("the peer answered with an operation that does not fit the request"),
    /** A receive buffer could not be written. */
    LOCAL_ACCESS_ERROR("the receive's buffer may not be written by the adapter"),
    /** The peer could not make sense of the request. */
    REMOTE_INVALID_REQUEST(
            "the peer refused the request: its receive is too small, the operation is not allowed on its queue pair, or an atomic is unaligned"),
    /** The peer's memory may not be accessed so. */
    REMOTE_ACCESS_ERROR(
            "the peer's memory is out of bounds, closed, of another domain, or lacks the right; or its queue pair does; for a message over XRC, there is no receive queue of that number"),
    /** The peer failed at carrying it out. */
    REMOTE_OPERATION_ERROR("the peer could not complete the operation"),
    /** The peer did not answer, over all retries. */
    RETRIES_EXCEEDED(
            "the peer did not answer: its queue pair is closed or not yet connected, the address or the path is wrong, or UDP port 4791 is blocked"),
    /** The peer had no receive posted, over all retries. */
    RECEIVER_NOT_READY_RETRIES_EXCEEDED("the peer posted no receive for the message in time"),
    /** Of a reliable datagram, which no device has today. */
    LOCAL_RELIABLE_DATAGRAM_VIOLATION("a reliable datagram domain does not match"),
    /** Of a reliable datagram, which no device has today. */
    REMOTE_INVALID_RELIABLE_DATAGRAM_REQUEST("a reliable datagram was refused"),
    /** The peer ended the operation. */
    REMOTE_ABORTED("the peer aborted the operation"),
    /** Of an end-to-end context, which no device has today. */
    INVALID_END_TO_END_CONTEXT_NUMBER("an end-to-end context number is invalid"),
    /** Of an end-to-end context, which no device has today. */
    INVALID_END_TO_END_CONTEXT_STATE("an end-to-end context is in a wrong state"),
    /** The device failed. */
    FATAL_ERROR("the device failed"),
    /** No answer in time. */
    RESPONSE_TIMEOUT("the answer did not come in time"),
    /** Something else; the vendor's code may tell. */
    GENERAL_ERROR("another error; the vendor's code may tell"),
    /** Of tag matching. */
    TAG_MATCHING_ERROR("tag matching failed"),
    /** Of tag matching. */
    TAG_MATCHING_RENDEZVOUS_INCOMPLETE(
            "a message waits for its data to be fetched by the application"),
    /** A number that this version does not know. */
    UNKNOWN("a status that this version of the SDK does not know");

    private final String meaning;

    CompletionStatus(String meaning) {
        this.meaning = meaning;
    }

    /**
     * What it means in plain English, and what commonly causes it. In C: {@code ibv_wc_status_str}.
     */
    public String meaning() {
        return meaning;
    }
}
