package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.MalformedPacketException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the encoding and decoding of messages. */
class MessageTest {

    private static final EndpointParameters WITHOUT_ECE =
            new EndpointParameters(0xa1b2c3, 0xd4e5f6, 16, 9, true, true, 5);
    private static final EndpointParameters OFFER =
            WITHOUT_ECE.with(new EceOptions(0x717273, 0x6162_6364));

    static List<Message> messages() {
        return List.of(
                new ConnectRequest(
                        0x1122_3344_5566_7788L,
                        0x0102_0304,
                        0x0106_1d2fL,
                        0x0a0b_0c0d_0e0f_1011L,
                        OFFER,
                        1,
                        6,
                        0xffff,
                        20,
                        21,
                        15,
                        new RequestedPath(
                                RoceGid.ipv4(0x0a00_0001),
                                new RoceGid(0xfe80L << 48, 0x55),
                                4,
                                0xabcde,
                                0x7f,
                                64,
                                3,
                                17),
                        filled(ConnectRequest.PRIVATE_BYTES)),
                reply(false),
                reply(true),
                new ReadyToUse(1, 2, 3),
                new Rejection(1, 2, 3, AnsweredKind.REPLY, 0x1234, filled(Rejection.PRIVATE_BYTES)),
                abandonment(),
                new ReceiptAcknowledgement(1, 2, 3, AnsweredKind.OTHER, 24),
                new DisconnectRequest(1, 2, 3, 0xa1b2c3),
                new DisconnectReply(1, 2, 3),
                new SidrRequest(1, 2, 0x8001, 0x0111_0007L, filled(SidrRequest.PRIVATE_BYTES)),
                new SidrReply(
                        1,
                        2,
                        3,
                        0xa1b2c3,
                        0x0111_0007L,
                        0x8001_0000,
                        filled(SidrReply.PRIVATE_BYTES)));
    }

    private static ConnectReply reply(boolean extended) {
        return new ConnectReply(
                1, 2, 3, 4, OFFER, extended, 0, 11, filled(ConnectReply.PRIVATE_BYTES));
    }

    private static Rejection abandonment() {
        return new Rejection(
                1,
                0x0102_0304,
                0,
                AnsweredKind.OTHER,
                RejectionReason.TIMEOUT,
                0x0a0b_0c0d_0e0f_1011L,
                filled(Rejection.PRIVATE_BYTES));
    }

    private static MemorySegment filled(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]).fill((byte) 0x5a);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void shouldDecodeEncodedMessages(Message message) throws Exception {
        var datagram = message.encode();

        assertThat(datagram.byteSize()).isEqualTo(256);
        var read = Message.decode(datagram);
        assertThat(read.getClass()).isEqualTo(message.getClass());
        assertThat(read.encode().mismatch(datagram)).isEqualTo(-1);
    }

    /** Compares each byte of the encoded request with the table in the specification. */
    @Test
    void shouldEncodeARequestAccordingToTheSpecification() {
        var datagram = messages().getFirst().encode();
        var hex = HexFormat.of().formatHex(datagram.toArray(ValueLayout.JAVA_BYTE));

        assertThat(hex)
                .startsWith(
                        "01070203" + "00000000" + "1122334455667788" + "0010" + "0000" + "61626364")
                .contains(
                        "01020304"
                                + "00717273"
                                + "0000000001061d2f"
                                + "0a0b0c0d0e0f1011"
                                + "00000000"
                                + "00000000"
                                + "a1b2c310"
                                + "00000009"
                                + "000000a3"
                                + "d4e5f6ae"
                                + "ffff"
                                + "45"
                                + "f8"
                                + "ffffffff"
                                + "00000000000000000000ffff0a000001"
                                + "fe800000000000000000000000000055"
                                + "abcde003"
                                + "7f403088"
                                + "00".repeat(44)
                                + "5a".repeat(92));
    }

    /**
     * Compares each byte of the encoded reply with the table in the specification. The bytes of the
     * vendor ID are not contiguous, and XRC uses another field for the queue pair number.
     */
    @Test
    void shouldEncodeAReplyAccordingToTheSpecification() {
        assertThat(body(reply(false)))
                .startsWith(
                        "00000002"
                                + "00000003"
                                + "00000000"
                                + "a1b2c371"
                                + "00000072"
                                + "d4e5f673"
                                + "100959b0"
                                + "0000000000000004"
                                + "5a5a");
        assertThat(body(reply(true)))
                .startsWith(
                        "00000002"
                                + "00000003"
                                + "00000000"
                                + "00000071"
                                + "a1b2c372"
                                + "d4e5f673"
                                + "100058b0"
                                + "0000000000000004"
                                + "5a5a");
    }

    private static String body(Message message) {
        return HexFormat.of()
                .formatHex(message.encode().toArray(ValueLayout.JAVA_BYTE))
                .substring(2 * Message.HEADER_BYTES);
    }

    /**
     * The receive parameters in the request are 0, because the connecting XRC queue pair cannot
     * receive.
     */
    @Test
    void shouldEncodeARequestForAnXrcConnection() throws Exception {
        var plain = (ConnectRequest) messages().getFirst();
        var extended =
                new ConnectRequest(
                        plain.transaction(),
                        plain.localId(),
                        plain.serviceId(),
                        plain.adapter(),
                        plain.offer(),
                        ConnectRequest.EXTENDED,
                        plain.retries(),
                        plain.partitionKey(),
                        plain.peerResponseTimeout(),
                        plain.ownResponseTimeout(),
                        plain.repeats(),
                        plain.path(),
                        plain.privateData());

        var read = (ConnectRequest) Message.decode(extended.encode());

        assertThat(read.transport()).isEqualTo(ConnectRequest.EXTENDED);
        assertThat(read.offer())
                .isEqualTo(
                        new EndpointParameters(0xa1b2c3, 0xd4e5f6, 0, 9, true, false, 0)
                                .with(OFFER.enhancement()));
        assertThat(read.retries()).isZero();
        assertThat(body(extended)).contains("000000a7" + "d4e5f6a8" + "ffff" + "40" + "f1");
    }

    /**
     * The extended type is valid only for the last transport type. For other types, its bits are
     * reserved.
     */
    @Test
    void shouldIgnoreReservedBitsOfTheTransport() throws Exception {
        var request = messages().getFirst().encode();
        var offset = Message.HEADER_BYTES + 51;
        var reserved = request.get(ValueLayout.JAVA_BYTE, offset) | 3;

        var read = (ConnectRequest) Message.decode(with(request, offset, reserved));

        assertThat(read.transport()).isEqualTo(ConnectRequest.UNRELIABLE);
    }

    /**
     * The field with the queue pair number depends on the requested transport, and a reply may
     * contain numbers in both fields.
     */
    @Test
    void shouldReadTheQueuePairOfAReplyByTheRequestedTransport() throws Exception {
        var both = with(reply(false).encode(), Message.HEADER_BYTES + 16, 0x77);
        var read = (ConnectReply) Message.decode(both);

        assertThat(read.forTransport(false).offer().queuePair()).isEqualTo(0xa1b2c3);
        assertThat(read.forTransport(true).offer().queuePair()).isEqualTo(0x770000);
        assertThat(read.encode().mismatch(both)).isEqualTo(-1);
        assertThat(reply(false).forTransport(true).offer().queuePair()).isZero();
    }

    /**
     * The kernel drops a rejection that contains no adapter GUID. The accepting program would then
     * wait for a minute.
     */
    @Test
    void shouldContainTheAdapterWhenARequestIsAbandoned() {
        var hex = HexFormat.of().formatHex(abandonment().encode().toArray(ValueLayout.JAVA_BYTE));

        assertThat(hex.substring(2 * Message.HEADER_BYTES))
                .isEqualTo(
                        "01020304"
                                + "00000000"
                                + "80100004"
                                + "0a0b0c0d0e0f1011"
                                + "00".repeat(64)
                                + "5a".repeat(148));
    }

    @Test
    void shouldRejectMalformedMessages() {
        var valid = new ReadyToUse(1, 2, 3).encode();
        assertRejected(valid.asSlice(0, 255), "length");
        for (var offset : new int[] {0, 1, 2, 3}) {
            assertRejected(with(valid, offset, 0x7e), "class");
        }
        assertRejected(with(valid, 17, 0x19), "attribute");
    }

    private static MemorySegment with(MemorySegment message, long offset, int value) {
        var copy = MemorySegment.ofArray(message.toArray(ValueLayout.JAVA_BYTE));
        copy.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
        return copy;
    }

    private static void assertRejected(MemorySegment datagram, String reason) {
        assertThatThrownBy(() -> Message.decode(datagram))
                .isInstanceOf(MalformedPacketException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void shouldDecodePrivateDataHeadersOfBothAddressFamilies() throws Exception {
        for (var header :
                List.of(
                        new PrivateDataHeader(7, RoceGid.ipv4(1), RoceGid.ipv4(2)),
                        new PrivateDataHeader(65_535, new RoceGid(1, 2), new RoceGid(3, 4)))) {
            var data = header.followedBy(SimulatedNetwork.bytes("x"));

            assertThat(data.byteSize()).isEqualTo(37);
            assertThat(PrivateDataHeader.decode(data)).isEqualTo(header);
            assertThatThrownBy(() -> PrivateDataHeader.decode(with(data, 0, 1)))
                    .isInstanceOf(MalformedPacketException.class);
            assertThatThrownBy(() -> PrivateDataHeader.decode(with(data, 1, 0x50)))
                    .isInstanceOf(MalformedPacketException.class);
        }
    }
}
