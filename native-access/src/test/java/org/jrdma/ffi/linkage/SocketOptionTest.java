package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;

class SocketOptionTest {

    private static final int SO_TYPE = 3;
    private static final int SOCK_SEQPACKET = 5;
    private static final int UNKNOWN_OPTION = 9_999;

    /** Returns a listening socket in the abstract name space. */
    private static OpenFile socket() throws FabricException {
        return OpenFile.of(SeqPacketSocket.listen("\0jrdma-test-" + ProcessHandle.current().pid()));
    }

    @Test
    void shouldReadTheTypeOfASocket() throws Exception {
        try (var socket = socket()) {
            assertThat(SocketOption.read(socket.number(), SO_TYPE)).isEqualTo(SOCK_SEQPACKET);
        }
    }

    @Test
    void shouldReadTheUserFromTheCredentialsOfThePeer() throws Exception {
        try (var socket = socket()) {
            assertThat(SeqPacketSocket.peerUser(socket.number()))
                    .isEqualTo(LinuxCalls.effectiveUser());
        }
    }

    @Test
    void shouldNotReadAnUnknownOptionOrADescriptorThatIsNotASocket() throws Exception {
        try (var socket = socket();
                var file = OpenFile.of(LinuxCalls.epollCreate())) {
            assertThat(SocketOption.read(socket.number(), UNKNOWN_OPTION)).isEqualTo(-1);
            assertThat(SocketOption.read(file.number(), SO_TYPE)).isEqualTo(-1);
            assertThat(SeqPacketSocket.peerUser(file.number())).isEqualTo(-1);
        }
    }
}
