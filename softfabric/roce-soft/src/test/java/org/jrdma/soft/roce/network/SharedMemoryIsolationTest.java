package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.jrdma.soft.roce.sharedmemory.RingPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opentest4j.TestAbortedException;

/**
 * Tests that memory is shared neither with other users nor with other network namespaces. A thread
 * of this process acts as the other process, because the kernel keeps the user id and the network
 * namespace for each thread.
 */
@Timeout(60)
class SharedMemoryIsolationTest {

    private static final int OTHER_USER = 12_345;
    private static final int UNCHANGED = -1;
    private static final int NEW_NETWORK_NAMESPACE = 0x4000_0000;
    private static final long SETRESUID =
            System.getProperty("os.arch").equals("aarch64") ? 147 : 117;

    /** The system call itself. The function of the C library would change all threads. */
    private static final MethodHandle SET_USER =
            Downcalls.variadicCapturingErrno(
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT), 1);

    private static final MethodHandle UNSHARE =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static <T> T onAnotherThread(Callable<T> action) throws Exception {
        var task = new FutureTask<>(action);
        Thread.ofPlatform().start(task);
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TestAbortedException aborted) {
                throw aborted;
            }
            throw e;
        }
    }

    private static <T> T asAnotherUser(Callable<T> action) throws Exception {
        return onAnotherThread(() -> {
            setUser(OTHER_USER);
            try {
                return action.call();
            } finally {
                setUser(0);
            }
        });
    }

    private static void setUser(int user) {
        var syscall = Linker.nativeLinker().defaultLookup().findOrThrow("syscall");
        try (var arena = Arena.ofConfined()) {
            var errno = arena.allocate(Linker.Option.captureStateLayout());
            var result =
                    (long)
                            SET_USER.invokeExact(
                                    syscall, errno, SETRESUID, UNCHANGED, user, UNCHANGED);
            assumeTrue(result == 0, "Only root can change its user.");
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldCloseTheConnectionOfAnotherUser() throws Exception {
        try (var port = PortFixture.anywhere();
                var peer = RingPeer.at(PortFixture.randomAddress())) {
            var sameUser = peer.connection(port.port.address());
            var otherUser = asAnotherUser(() -> peer.connection(port.port.address()));

            var message = new SeqPacketSocket.Packet(64, Arena.ofAuto());
            while (SeqPacketSocket.receive(otherUser.number(), message) != 0) {
                Thread.sleep(1);
            }
            assertThat(SeqPacketSocket.receive(sameUser.number(), message)).isNegative();
        }
    }

    @Test
    void shouldUseUdpToAPeerOfAnotherUser() throws Exception {
        var address = PortFixture.randomAddress();
        try (var port = PortFixture.anywhere();
                var _ = asAnotherUser(() -> RingPeer.at(address));
                var socket = new DatagramSocket(PacketBuffer.UDP_PORT, address.inet())) {
            var queuePair = port.newQueuePair(Transport.UNRELIABLE);
            port.connect(queuePair, address, 0x77, 1024, 14);
            port.send(queuePair, 1, 0, 64);
            socket.setSoTimeout(20_000);
            var datagram = new DatagramPacket(new byte[4096], 4096);
            socket.receive(datagram);
            assertThat(datagram.getLength()).isEqualTo(12 + 64 + 4);
        }
    }

    @Test
    void shouldNotBeReachableFromAnotherNetworkNamespace() throws Exception {
        try (var port = PortFixture.anywhere();
                var peer = RingPeer.at(PortFixture.randomAddress())) {
            Callable<OpenFile> connecting = () -> peer.connection(port.port.address());
            assertThat(onAnotherThread(connecting).number()).isPositive();
            assertThatThrownBy(() ->
                            onAnotherThread(() -> {
                                enterNewNetworkNamespace();
                                return connecting.call();
                            }))
                    .hasCauseInstanceOf(FabricException.class)
                    .hasMessageContaining("ECONNREFUSED");
        }
    }

    private static void enterNewNetworkNamespace() {
        var unshare = Linker.nativeLinker().defaultLookup().findOrThrow("unshare");
        try {
            var result = (int) UNSHARE.invokeExact(unshare, NEW_NETWORK_NAMESPACE);
            assumeTrue(result == 0, "Only root can create a network namespace.");
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
