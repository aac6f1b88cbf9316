package org.jrdma.soft.roce.sharedmemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/** Exchanges rings with ports without being a port, for tests of peers that violate the rules. */
public final class RingPeer implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final RoceGid address;
    private final RingListener listener;
    private final List<OpenFile> sockets = new ArrayList<>();
    private final List<Incoming> incoming = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final SeqPacketSocket.Packet message = new SeqPacketSocket.Packet(64, arena);

    private RingPeer(RoceGid address, RingListener listener) {
        this.address = address;
        this.listener = listener;
    }

    /** Accepts rings at an address. */
    public static RingPeer at(RoceGid address) throws FabricException {
        return new RingPeer(address, RingListener.open(address));
    }

    /** A ring from a port, and its whole memory. */
    public record Incoming(
            PacketRingReader reader, OpenFile socket, MemorySegment memory, Arena arena) {

        /** Waits for a packet and reads it. */
        public void read(PacketBuffer target) throws InterruptedException {
            var deadline = Deadline.after(TIMEOUT);
            while (!reader.read(target)) {
                if (deadline.hasPassed()) {
                    throw new AssertionError("no packet in the ring");
                }
                Thread.sleep(0, 100_000);
            }
            reader.release();
        }
    }

    /** Waits for the ring of a port and returns it. */
    public Incoming accept() throws FabricException, InterruptedException {
        var deadline = Deadline.after(TIMEOUT);
        var ring = tryAccept();
        while (ring == null) {
            if (deadline.hasPassed()) {
                throw new AssertionError("no ring from a port");
            }
            Thread.sleep(0, 100_000);
            ring = tryAccept();
        }
        return ring;
    }

    /** Returns the ring of a port, or null if no port has connected. */
    public @Nullable Incoming tryAccept() throws FabricException, InterruptedException {
        var socket = tryAcceptConnection();
        if (socket == null) {
            return null;
        }
        while (SeqPacketSocket.receive(socket.number(), message) < 0) {
            Thread.sleep(0, 100_000);
        }
        try (var file = OpenFile.of(message.descriptor())) {
            var sender = RingAnnouncement.decode(message.memory(), RingAnnouncement.BYTES).sender();
            var ringArena = Arena.ofShared();
            var ring =
                    new Incoming(
                            new PacketRingReader(sender, address, RingMemory.map(file)),
                            socket,
                            map(file, ringArena),
                            ringArena);
            incoming.add(ring);
            return ring;
        }
    }

    /** Returns a connection of a port, or null if no port has connected. */
    @Nullable OpenFile tryAcceptConnection() {
        var socket = listener.accept(0);
        if (socket != null) {
            sockets.add(socket);
        }
        return socket;
    }

    /** Closes the ring of a port and its connection, and unmaps its memory. */
    public void close(Incoming ring) {
        unmap(ring);
        ring.socket().close();
        incoming.remove(ring);
        sockets.remove(ring.socket());
    }

    private static void unmap(Incoming ring) {
        ring.reader().close();
        ring.arena().close();
    }

    /** A ring to a port, and its whole memory. */
    public record Outgoing(
            PacketRingWriter writer, OpenFile socket, MemorySegment memory, Arena arena) {

        /** Returns true if the port has closed the connection of the ring. */
        public boolean isClosed() {
            return hasEnded(socket);
        }
    }

    /** Receives a message, if one has arrived. Returns true if the port has closed a connection. */
    public static boolean hasEnded(OpenFile socket) {
        var message = new SeqPacketSocket.Packet(64, Arena.ofAuto());
        return SeqPacketSocket.receive(socket.number(), message) == 0;
    }

    /** Closes a ring and its connection, and unmaps its memory. */
    public void close(Outgoing ring) {
        ring.writer().close();
        ring.arena().close();
        sockets.remove(ring.socket());
    }

    /** Passes a ring to a port. */
    public Outgoing connect(RoceGid port) throws FabricException {
        var socket = connection(port);
        try (var file = RingMemory.create()) {
            announce(socket, file);
            var memoryArena = Arena.ofShared();
            return new Outgoing(
                    new PacketRingWriter(port, socket, RingMemory.map(file), message),
                    socket,
                    map(file, memoryArena),
                    memoryArena);
        }
    }

    /** Connects to a port without passing a ring. */
    public OpenFile connection(RoceGid port) throws FabricException {
        var socket = OpenFile.of(SeqPacketSocket.connect(RingAnnouncement.socketName(port)));
        sockets.add(socket);
        return socket;
    }

    /** Passes any descriptor as if it were a ring. */
    public void announce(OpenFile socket, OpenFile file) {
        new RingAnnouncement(address).encode(message.memory());
        send(socket, RingAnnouncement.BYTES, file.number());
    }

    /** Sends any message. */
    public void send(OpenFile socket, long length, int descriptor) {
        var error = SeqPacketSocket.send(socket.number(), message, length, descriptor);
        if (error != 0) {
            throw new AssertionError("send failed: " + error);
        }
    }

    private static MemorySegment map(OpenFile file, Arena arena) throws FabricException {
        return LinuxCalls.mapFile(file.number(), 0, RingMemory.BYTES, arena);
    }

    /** Closes all connections, as the kernel does for a killed process. */
    public void disconnect() {
        sockets.forEach(OpenFile::close);
    }

    @Override
    public void close() {
        disconnect();
        listener.close();
        incoming.forEach(RingPeer::unmap);
        arena.close();
    }
}
