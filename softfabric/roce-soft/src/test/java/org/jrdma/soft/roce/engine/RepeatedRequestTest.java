package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jrdma.soft.roce.packet.MalformedPacketException;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the answers of a reliable responder to repeated requests that it has already executed. */
class RepeatedRequestTest {

    private static final long MILLISECOND = 1_000_000;

    private final EnginePair pair = new EnginePair(Transport.RELIABLE, 1);
    private final List<OpCode> answers = new ArrayList<>();

    @BeforeEach
    void connect() {
        pair.connect(1024, 0xfffff0);
    }

    /**
     * After the kernel's rxe has received some responses to a READ, an acknowledgement of an
     * earlier request would make rxe treat the next response as an error.
     */
    @Test
    void shouldAcknowledgeARepeatedWriteOnlyByTheResponseToALaterRead() {
        pair.passes = (to, packet) -> to == pair.right || recordAndLose(packet);
        write();
        read(2048);

        pair.run(200 * MILLISECOND);

        assertThat(answers)
                .startsWith(
                        OpCode.RC_ACKNOWLEDGE,
                        OpCode.RC_READ_RESPONSE_FIRST,
                        OpCode.RC_READ_RESPONSE_LAST,
                        OpCode.RC_READ_RESPONSE_FIRST,
                        OpCode.RC_READ_RESPONSE_LAST);
        assertThat(Collections.frequency(answers, OpCode.RC_ACKNOWLEDGE)).isEqualTo(1);
    }

    @Test
    void shouldAcknowledgeAWriteThatIsRepeatedTwiceWithoutTheLaterRead() {
        pair.passes =
                (to, packet) ->
                        to == pair.right
                                ? answers.isEmpty() || opCode(packet) != OpCode.RC_READ_REQUEST
                                : recordAndLose(packet);
        write();
        read(2048);

        pair.run(400 * MILLISECOND);

        assertThat(answers)
                .startsWith(
                        OpCode.RC_ACKNOWLEDGE,
                        OpCode.RC_READ_RESPONSE_FIRST,
                        OpCode.RC_READ_RESPONSE_LAST,
                        OpCode.RC_ACKNOWLEDGE);
    }

    private void write() {
        pair.left
                .work(1, SendOperationKind.WRITE)
                .buffer(pair.left.start, 64, pair.left.region.key())
                .remote(pair.right.start, pair.right.region.key());
        pair.left.post();
    }

    private void read(int bytes) {
        pair.left
                .work(2, SendOperationKind.READ)
                .buffer(pair.left.start, bytes, pair.left.region.key())
                .remote(pair.right.start, pair.right.region.key());
        pair.left.post();
    }

    /** Records and loses a packet of the responder. */
    private boolean recordAndLose(PacketBuffer packet) {
        answers.add(opCode(packet));
        return false;
    }

    private static OpCode opCode(PacketBuffer packet) {
        try {
            return OpCode.decode(
                    packet.memory().get(ValueLayout.JAVA_BYTE, PacketBuffer.START) & 0xff);
        } catch (MalformedPacketException e) {
            throw new AssertionError(e);
        }
    }
}
