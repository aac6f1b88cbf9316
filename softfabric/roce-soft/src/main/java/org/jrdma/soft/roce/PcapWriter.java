package org.jrdma.soft.roce;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.soft.roce.model.PacketListener;
import org.jrdma.soft.roce.model.TracedPacket;

/**
 * A packet listener that writes the packets of software devices to a capture file in the pcap
 * format, which Wireshark and tcpdump can read. The writer makes up the IP and UDP headers from the
 * addresses and ports of each packet, because a UDP socket passes only the payload to the program.
 * Packets that were dropped by fault injection are not written, because a capture on a real network
 * would not contain them either. One writer may be the listener of several devices.
 */
public final class PcapWriter implements PacketListener, Closeable {

    private static final int MAGIC_WITH_NANOSECONDS = 0xa1b2_3c4d;
    private static final int LINK_TYPE_RAW_IP = 101;
    private static final int MAX_LENGTH = 0xffff;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int UDP_BYTES = 8;
    private static final int UDP = 17;
    private static final int HOPS = 64;
    private static final short DO_NOT_FRAGMENT = 0x4000;

    private final OutputStream file;
    private final ByteBuffer record = ByteBuffer.allocate(16 + IPV6_BYTES + MAX_LENGTH);

    /** Creates the capture file, or truncates an existing one, and writes the file header. */
    public PcapWriter(Path path) throws IOException {
        file = new BufferedOutputStream(Files.newOutputStream(path), 1 << 16);
        record.putInt(MAGIC_WITH_NANOSECONDS)
                .putShort((short) 2) // pcap version 2.4
                .putShort((short) 4)
                .putLong(0) // time zone offset 0 (UTC) and timestamp accuracy 0
                .putInt(MAX_LENGTH)
                .putInt(LINK_TYPE_RAW_IP);
        write();
    }

    /**
     * Appends a packet to the file. A packet with the direction {@link TracedPacket.Direction#LOST}
     * is ignored.
     *
     * @throws UncheckedIOException if the file cannot be written
     */
    @Override
    public synchronized void seen(TracedPacket packet) {
        if (packet.direction() == TracedPacket.Direction.LOST) {
            return;
        }
        var source = packet.source().getAddress();
        var destination = packet.destination().getAddress();
        var udpBytes = UDP_BYTES + packet.bytes().remaining();
        var length = (source.length == Integer.BYTES ? IPV4_BYTES : IPV6_BYTES) + udpBytes;
        var time = packet.time();
        var seconds = time.getEpochSecond();
        record.clear().putInt((int) seconds).putInt(time.getNano()).putInt(length).putInt(length);
        if (source.length == Integer.BYTES) {
            putIpv4(source, destination, length);
        } else {
            record.putInt(0x6000_0000).putShort((short) udpBytes);
            record.put((byte) UDP).put((byte) HOPS).put(source).put(destination);
        }
        record.putShort((short) packet.sourcePort())
                .putShort((short) packet.destinationPort())
                .putShort((short) udpBytes)
                .putShort((short) 0) // UDP checksum 0: none, because the ICRC protects the packet
                .put(packet.bytes().duplicate());
        try {
            write();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void putIpv4(byte[] source, byte[] destination, int length) {
        var start = record.position();
        record.putShort((short) 0x4500).putShort((short) length);
        record.putShort((short) 0).putShort(DO_NOT_FRAGMENT);
        record.put((byte) HOPS).put((byte) UDP).putShort((short) 0);
        record.put(source).put(destination);
        var sum = 0;
        for (var i = start; i < start + IPV4_BYTES; i += Short.BYTES) {
            sum += record.getShort(i) & 0xffff;
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        record.putShort(start + 10, (short) ~((sum & 0xffff) + (sum >>> 16)));
    }

    private void write() throws IOException {
        file.write(record.array(), 0, record.position());
    }

    /**
     * Closes the file. Remove this listener from all devices first: writing a packet after the
     * close fails.
     */
    @Override
    public synchronized void close() throws IOException {
        file.close();
    }
}
