package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.ffi.linkage.SeqPacketSocket.Packet.NO_DESCRIPTOR;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.host.SystemCalls;

/** A process that sends arbitrary messages to another process of a fabric. */
final class RawProcess implements AutoCloseable {

    private static final int HEADER_BYTES = 32;
    private static final long AWAIT_NANOS = 20_000_000_000L;

    private final int socket;
    private final SeqPacketSocket.Packet packet = new SeqPacketSocket.Packet(8192, Arena.ofAuto());
    private int correlation;

    /** Connects to the first process of a node without a HELLO message. */
    RawProcess(Path fabric, int node) throws Exception {
        this(SeqPacketSocket.connect(fabric.resolve(node + ".member.0.0").toString()));
    }

    private RawProcess(int socket) {
        this.socket = socket;
    }

    /** Waits for a connection to a listening socket. */
    static RawProcess accept(int listening) {
        return new RawProcess((int) await(() -> SeqPacketSocket.accept(listening)));
    }

    /** Returns the number of a kind in messages. */
    static int number(Kind kind) {
        return List.of(Kind.values()).indexOf(kind);
    }

    /** Repeats a call that does not wait, until its result is not negative. */
    static long await(LongSupplier call) {
        var end = System.nanoTime() + AWAIT_NANOS;
        for (var result = call.getAsLong(); ; result = call.getAsLong()) {
            if (result >= 0) {
                return result;
            }
            assertThat(System.nanoTime()).as("no result within 20 s").isLessThan(end);
            LockSupport.parkNanos(100_000);
        }
    }

    RawProcess hello(int node) {
        send(Kind.HELLO, node, 0, 0, 0, new byte[0], NO_DESCRIPTOR);
        return this;
    }

    /** Sends a message, and waits until the socket has space for it. */
    void send(Kind kind, int subject, int first, int second, long value, byte[] data, int memory) {
        await(() -> trySend(kind, subject, first, second, value, data, memory) ? 0 : -1);
    }

    /** Sends a message. Returns false if the socket has no space for it. */
    boolean trySend(
            Kind kind, int subject, int first, int second, long value, byte[] data, int memory) {
        return trySend(kind, ++correlation, subject, first, second, value, data, memory);
    }

    private boolean trySend(
            Kind kind,
            int number,
            int subject,
            int first,
            int second,
            long value,
            byte[] data,
            int memory) {
        packet.memory().fill((byte) 0);
        packet.memory().set(JAVA_INT, 0, number(kind));
        packet.memory().set(JAVA_INT, 4, number);
        packet.memory().set(JAVA_INT, 8, subject);
        packet.memory().set(JAVA_INT, 12, first);
        packet.memory().set(JAVA_INT, 16, second);
        packet.memory().set(JAVA_LONG, 24, value);
        packet.memory().asSlice(HEADER_BYTES, data.length).copyFrom(MemorySegment.ofArray(data));
        return SeqPacketSocket.send(socket, packet, HEADER_BYTES + data.length, memory) == 0;
    }

    /** Waits for a request of a kind, responds with a value, and returns subject and argument. */
    int[] respond(Kind kind, long value) {
        do {
            assertThat(receive()).isPositive();
        } while (packet.memory().get(JAVA_INT, 0) != number(kind));
        var subject = packet.memory().get(JAVA_INT, 8);
        var first = packet.memory().get(JAVA_INT, 12);
        var number = packet.memory().get(JAVA_INT, 4);
        assertThat(trySend(Kind.RESPONSE, number, 0, 0, 0, value, new byte[0], NO_DESCRIPTOR))
                .isTrue();
        return new int[] {subject, first};
    }

    /** Discards the messages that have arrived. */
    void discardMessages() {
        while (SeqPacketSocket.receive(socket, packet) > 0) {
            closeDescriptor();
        }
    }

    /** Sends a request and returns the name of the error in the response. */
    String request(Kind kind, int subject, int first, int second, long value) {
        return request(kind, subject, first, second, value, new byte[0], NO_DESCRIPTOR);
    }

    String request(
            Kind kind, int subject, int first, int second, long value, byte[] data, int memory) {
        send(kind, subject, first, second, value, data, memory);
        assertThat(receive()).isPositive();
        assertThat(packet.memory().get(JAVA_INT, 4)).isEqualTo(correlation);
        var error = packet.memory().get(JAVA_INT, 8);
        return error == 0 ? "OK" : LibraryCaller.nameOf(error);
    }

    /** Waits for a message and returns its length, or 0 if the peer has closed the connection. */
    long receive() {
        var length = await(() -> SeqPacketSocket.receive(socket, packet));
        closeDescriptor();
        return length;
    }

    private void closeDescriptor() {
        if (packet.descriptor() != NO_DESCRIPTOR) {
            SystemCalls.close(packet.descriptor());
        }
    }

    @Override
    public void close() {
        SystemCalls.close(socket);
    }
}
