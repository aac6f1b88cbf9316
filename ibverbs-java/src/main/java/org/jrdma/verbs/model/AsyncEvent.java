package org.jrdma.verbs.model;

import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.ffi.NativeObject;

/**
 * An asynchronous event of a device. In C: {@code struct ibv_async_event}.
 *
 * @param type the type of the event
 * @param port the port that the event concerns; empty if the event does not concern a port
 * @param subject the device, queue pair, shared receive queue or completion queue that the event
 *     concerns; empty if the event concerns a port, or if the object is not open
 */
public record AsyncEvent(AsyncEventType type, OptionalInt port, Optional<NativeObject> subject) {}
