package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.engine.EngineOptions;
import org.jrdma.soft.roce.engine.NetworkPacketSender;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a round of receiving ends although many datagrams wait in the socket. */
class PacketReceiverRoundLimitTest {

    private static final int ROUND_PACKETS = 128;
    private static final int DATAGRAMS = 1_000;

    private final SystemCalls calls = new SystemCalls();

    /** A round must end so that other threads obtain the lock. Empty datagrams count, too. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100})
    void shouldEndARoundWhileManyDatagramsWait(int bytes) throws Exception {
        var socket = PortFixture.openSocket(4 << 20, calls);
        try (var sender = new DatagramSocket()) {
            var address = socket.address();
            var incoming = new PacketReceiver(LocalInterface.of(address).index(), Arena.ofAuto());
            var engine =
                    new Engine(
                            new NoLink(),
                            new MemoryRegistry(ThreadLocalRandom.current()),
                            EngineOptions.DEFAULTS,
                            ThreadLocalRandom.current());
            var host = ByteBuffer.allocate(4).putInt((int) address.low()).array();
            var datagram = // a DatagramChannel would not send an empty datagram
                    new DatagramPacket(
                            new byte[bytes],
                            bytes,
                            InetAddress.getByAddress(host),
                            PacketBuffer.UDP_PORT);
            for (var i = 0; i < DATAGRAMS; i++) {
                sender.send(datagram);
            }

            var rounds = 1;
            while (!incoming.receive(socket, engine, ROUND_PACKETS)) {
                rounds++;
            }

            // The kernel may have combined several datagrams into one message.
            assertThat(rounds).isBetween(bytes == 0 ? DATAGRAMS / ROUND_PACKETS : 2, DATAGRAMS);
        } finally {
            socket.close();
        }
    }

    private static final class NoLink implements NetworkPacketSender {

        @Override
        public @Nullable PacketBuffer claim() {
            return null;
        }

        @Override
        public void send(PacketBuffer packet) {
            throw new AssertionError("The engine has no queue pair that could send.");
        }
    }
}
