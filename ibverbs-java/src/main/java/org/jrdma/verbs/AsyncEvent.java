package org.jrdma.verbs;

import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.model.AsyncEventType;

/**
 * An asynchronous event of a device. In C: {@code struct ibv_async_event}.
 *
 * @param type the type of the event
 * @param port the port that the event concerns, if it concerns a port
 * @param subject the device, queue pair, shared receive queue or completion queue that the event
 *     concerns, if there is one and it is still open
 */
public record AsyncEvent(AsyncEventType type, OptionalInt port, Optional<NativeObject> subject) {}
