package org.jrdma.verbs.model;

/** The status of a completed work request. In C: {@code enum ibv_wc_status}. */
public enum CompletionStatus {
    /** The operation succeeded. */
    SUCCESS("success"),
    /**
     * A message was too long for the receive that it consumed, or a message to send is longer than
     * the device allows.
     */
    LOCAL_LENGTH_ERROR(
            "the message is longer than the receive posted for it, or than the device allows"),
    /** The device could not execute the request. */
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(
            "the queue pair failed to execute the request; check that its attributes allow it"),
    /** An end-to-end context failed. No current device has end-to-end contexts. */
    LOCAL_END_TO_END_CONTEXT_OPERATION_ERROR("an end-to-end context failed"),
    /**
     * The local memory of the request is outside its region, has a wrong key, or lacks an access
     * right.
     */
    LOCAL_PROTECTION_ERROR(
            "a local buffer is outside its region, its region is closed or of another protection domain, or it lacks LOCAL_WRITE"),
    /** The queue pair entered the error state before it processed this request. */
    FLUSHED(
            "the peer has disconnected, an earlier request failed, or the queue pair was closed or put into the error state; look at the first failure"),
    /** A memory window could not be bound. */
    MEMORY_WINDOW_BIND_ERROR(
            "the memory window could not be bound: the region lacks MEMORY_WINDOW_BIND or a right that the window grants, or is too short; or the window is already bound"),
    /** The peer sent an unexpected response. */
    BAD_RESPONSE("the peer sent a response that does not match the request"),
    /** The adapter is not allowed to write to the local memory of a receive. */
    LOCAL_ACCESS_ERROR("the adapter may not write the buffer of the receive"),
    /** The peer rejected the request as invalid. */
    REMOTE_INVALID_REQUEST(
            "the peer rejected the request: its receive is too small, the operation is not allowed on its queue pair, or an atomic is unaligned"),
    /** The peer's memory does not permit the access. */
    REMOTE_ACCESS_ERROR(
            "the access is outside the peer's memory, the memory region is closed or of another protection domain, or the region or the peer's queue pair lacks the access right; for XRC, no shared receive queue has the given number"),
    /** The peer failed to execute the operation. */
    REMOTE_OPERATION_ERROR("the peer could not complete the operation"),
    /** The peer did not acknowledge the request, and the number of retries is exhausted. */
    RETRIES_EXCEEDED(
            "the peer did not respond: its process or machine has ended, its queue pair is closed or not yet connected, the address or the path is wrong, or UDP port 4791 is blocked"),
    /** The peer had no receive posted for the message, and the number of retries is exhausted. */
    RECEIVER_NOT_READY_RETRIES_EXCEEDED("the peer posted no receive for the message in time"),
    /** A reliable datagram domain does not match. No current device has reliable datagrams. */
    LOCAL_RELIABLE_DATAGRAM_VIOLATION("a reliable datagram domain does not match"),
    /** A reliable datagram was rejected. No current device has reliable datagrams. */
    REMOTE_INVALID_RELIABLE_DATAGRAM_REQUEST("a reliable datagram was rejected"),
    /** The peer aborted the operation. */
    REMOTE_ABORTED("the peer aborted the operation"),
    /**
     * The number of an end-to-end context is invalid. No current device has end-to-end contexts.
     */
    INVALID_END_TO_END_CONTEXT_NUMBER("an end-to-end context number is invalid"),
    /** An end-to-end context is in the wrong state. No current device has end-to-end contexts. */
    INVALID_END_TO_END_CONTEXT_STATE("an end-to-end context is in the wrong state"),
    /** The device failed. */
    FATAL_ERROR("the device failed"),
    /** The response did not arrive in time. */
    RESPONSE_TIMEOUT("the response did not arrive in time"),
    /** Another error. The vendor-specific error code may identify it. */
    GENERAL_ERROR("another error; see the vendor's error code"),
    /** Tag matching failed. */
    TAG_MATCHING_ERROR("tag matching failed"),
    /** The application must fetch the data of a tag-matched message. */
    TAG_MATCHING_RENDEZVOUS_INCOMPLETE(
            "the application must fetch the data of a tag-matched message"),
    /** A status that this version of the SDK does not know. */
    UNKNOWN("a status that this version of the SDK does not know");

    private final String meaning;

    CompletionStatus(String meaning) {
        this.meaning = meaning;
    }

    /**
     * The meaning of the status and its common causes, in plain English. In C: {@code
     * ibv_wc_status_str}.
     */
    public String meaning() {
        return meaning;
    }
}
