package org.jrdma.verbs;

import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.model.AsyncEventType;

/**
 * Something that happened without being asked for. In C: {@code struct ibv_async_event}.
 *
 * @param type what happened
 * @param port the port it happened to, if it was a port
 * @param subject the device, queue pair, shared receive queue or completion queue it happened to,
 *     if it was one of those and is still in use
 */
public record AsyncEvent(AsyncEventType type, OptionalInt port, Optional<NativeObject> subject) {}
