package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A received message, in C a {@code struct mmsghdr}. */
final class ReceivedMessage {

    private static final int CONTROL_BYTES = 40;

    private final MemorySegment header;
    private final MemorySegment control;

    ReceivedMessage(Arena arena) {
        header = arena.allocate(64, 8);
        control = arena.allocate(128, 8);
        var part = arena.allocate(16, 8); // struct iovec
        var data = arena.allocate(64 << 10);
        part.set(JAVA_LONG, 0, data.address());
        part.set(JAVA_LONG, 8, data.byteSize());
        header.set(JAVA_LONG, 16, part.address());
        header.set(JAVA_LONG, 24, 1);
        header.set(JAVA_LONG, 32, control.address());
    }

    /** Receives a message. Returns false if none has arrived. */
    boolean receive(UdpSocket socket) {
        header.set(JAVA_LONG, CONTROL_BYTES, control.byteSize());
        return socket.receive(header, 1) == 1;
    }

    /** Returns the number of bytes of data. */
    int bytes() {
        return header.get(JAVA_INT, 56);
    }

    /** Returns the control messages, for example the traffic class. */
    MemorySegment control() {
        return control.asSlice(0, header.get(JAVA_LONG, CONTROL_BYTES));
    }
}
