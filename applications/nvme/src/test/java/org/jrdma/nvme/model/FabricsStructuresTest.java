package org.jrdma.nvme.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jrdma.nvme.model.FabricsCommand.Connect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The values that only controllers on a network use. The bytes are those of the kernel's headers.
 */
class FabricsStructuresTest {

    private static final HostIdentifier HOST = new HostIdentifier(1, 2, true);

    private static MemorySegment memory(int bytes) {
        return MemorySegment.ofArray(new long[bytes / Long.BYTES]);
    }

    @Test
    void shouldEncodeAConnectCommand() {
        var data = memory(Command.BYTES);
        var pointer =
                new FabricsDataPointer(
                        FabricsDataPointer.KEYED, 0x1122_3344_5566_7788L, 1024, 0xaabb_ccdd);
        pointer.encode(new Connect(0, 3, 128, 4, 5000).encode().withId(9)).encode(data, 0);
        assertThat(data.get(Fields.INT, 0)).isEqualTo(0x0009_407f);
        assertThat(data.get(Fields.INT, 4)).isEqualTo(1);
        assertThat(data.get(Fields.LONG, 24)).isEqualTo(0x1122_3344_5566_7788L);
        assertThat(data.get(Fields.INT, 32)).isEqualTo(0xdd00_0400);
        assertThat(data.get(Fields.INT, 36)).isEqualTo(0x40aa_bbcc);
        assertThat(data.get(Fields.INT, 40)).isEqualTo(3 << 16);
        assertThat(data.get(Fields.INT, 44)).isEqualTo(127 | 4 << 16);
        assertThat(data.get(Fields.INT, 48)).isEqualTo(5000);
        var command = Command.decode(data, 0);
        assertThat(FabricsCommand.type(command)).isEqualTo(FabricsCommand.CONNECT);
        assertThat(Connect.decode(command)).isEqualTo(new Connect(0, 3, 128, 4, 5000));
        assertThat(FabricsDataPointer.decode(command)).isEqualTo(pointer);
    }

    @Test
    void shouldEncodeDataInACapsule() {
        var pointer = new FabricsDataPointer(FabricsDataPointer.IN_CAPSULE, 16, 4096, 0);
        var command = pointer.encode(Command.blocks(IoOpcode.WRITE, 1, 0, 8));
        assertThat(command.prp1()).isEqualTo(16);
        assertThat(command.prp2()).isEqualTo(0x0100_0000_0000_1000L);
        assertThat(FabricsDataPointer.decode(command)).isEqualTo(pointer);
    }

    @Test
    void shouldEncodeProperties() {
        var get = FabricsCommand.propertyGet(MappedRegisters.CAPABILITIES, true);
        assertThat(FabricsCommand.type(get)).isEqualTo(FabricsCommand.PROPERTY_GET);
        assertThat(FabricsCommand.isLongProperty(get)).isTrue();
        var set = FabricsCommand.propertySet(MappedRegisters.CONFIGURATION, 0x460001);
        assertThat(FabricsCommand.isLongProperty(set)).isFalse();
        assertThat(FabricsCommand.propertyOffset(set)).isEqualTo(0x14);
        assertThat(FabricsCommand.propertyValue(set)).isEqualTo(0x460001);
        assertThat(set.dword12()).isEqualTo(0x460001);
    }

    @Test
    void shouldEncodeAResponse() {
        var data = memory(ResponseCapsule.BYTES);
        var response = new ResponseCapsule(0x1_0000_0001L, 5, 2, 7, Status.INVALID_FIELD.encode());
        response.encode(data, 0);
        assertThat(data.get(Fields.LONG, 0)).isEqualTo(0x1_0000_0001L);
        assertThat(data.get(Fields.SHORT, 14)).isEqualTo((short) (0x4002 << 1));
        assertThat(ResponseCapsule.decode(data, 0)).isEqualTo(response);
        assertThat(Completion.commandId(ResponseCapsule.lastDword(data, 0))).isEqualTo(7);
    }

    @Test
    void shouldEncodeConnectData() {
        var data = memory(ConnectData.BYTES);
        var connect = new ConnectData(HOST, 0xffff, "nqn.subsystem", "n".repeat(223));
        connect.encode(data);
        assertThat(ConnectData.decode(data)).contains(connect);
    }

    @ParameterizedTest
    @ValueSource(ints = {256, 512})
    void shouldRejectConnectDataWithAnInvalidName(int offset) {
        var data = memory(ConnectData.BYTES);
        new ConnectData(HOST, 1, "nqn.subsystem", "nqn.host").encode(data);
        data.asSlice(offset, 224).fill((byte) 'n'); // one character too long
        assertThat(ConnectData.decode(data)).isEmpty();
        data.asSlice(offset, 256).fill((byte) 'n'); // without an end
        assertThat(ConnectData.decode(data)).isEmpty();
        data.asSlice(offset, 256).fill((byte) 0);
        assertThat(ConnectData.decode(data)).isEmpty();
        data.setString(offset, "nqn.\n");
        assertThat(ConnectData.decode(data)).isEmpty();
    }

    @Test
    void shouldRejectInvalidNames() {
        assertThat(QualifiedName.isValid(QualifiedName.of(new UUID(1, 2)))).isTrue();
        assertThatThrownBy(() -> QualifiedName.requireValid("with space"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("with space");
        assertThat(QualifiedName.isValid("")).isFalse();
        assertThat(QualifiedName.isValid("n".repeat(224))).isFalse();
    }

    @Test
    void shouldEncodeThePrivateDataOfAConnection() {
        var request = new ConnectPrivateData(0, 2, 128, 127, 5);
        var bytes = request.encode();
        assertThat(bytes).hasSize(32).startsWith(0, 0, 2, 0, 128, 0, 126, 0, 5, 0);
        assertThat(ConnectPrivateData.decode(Arrays.copyOf(bytes, 56))).contains(request);
        assertThat(ConnectPrivateData.decode(new byte[31])).isEmpty();
        assertThat(ConnectPrivateData.encodeAcceptance(127))
                .hasSize(32)
                .startsWith(0, 0, 127, 0)
                .endsWith(0, 0);
    }

    @ParameterizedTest
    @EnumSource
    void shouldEncodeTheReasonOfARejection(RdmaConnectRejection rejection) {
        assertThat(RdmaConnectRejection.decode(rejection.encode())).contains(rejection);
    }

    @Test
    void shouldRejectMalformedReasons() {
        assertThat(RdmaConnectRejection.decode(new byte[3])).isEmpty();
        assertThat(RdmaConnectRejection.decode(new byte[148])).isEmpty();
        assertThat(RdmaConnectRejection.decode((byte) 1, (byte) 0, (byte) 3, (byte) 0)).isEmpty();
        assertThat(RdmaConnectRejection.decode((byte) 0, (byte) 0, (byte) 10, (byte) 0)).isEmpty();
    }

    @Test
    void shouldEncodeTheAttributesOfAController() {
        var data = memory(IdentifyController.BYTES);
        var attributes = new IdentifyFabrics(1, 10, 128, 0x100005, 4160, 16, 0, 1);
        attributes.encode(data);
        assertThat(data.get(Fields.INT, 1792)).isEqualTo(260);
        assertThat(data.get(Fields.INT, 1796)).isEqualTo(1);
        assertThat(data.get(Fields.INT, 536)).isEqualTo(0x100005);
        assertThat(IdentifyFabrics.decode(data)).isEqualTo(attributes);
        data.set(Fields.INT, 1792, -1);
        assertThat(IdentifyFabrics.decode(data).commandCapsuleBytes()).isPositive();
    }

    private static DiscoveryEntry entry(String name) {
        return new DiscoveryEntry(
                DiscoveryEntry.RDMA,
                DiscoveryEntry.IPV4,
                DiscoveryEntry.NVM_SUBSYSTEM,
                1,
                ConnectData.ANY_CONTROLLER,
                32,
                "4420",
                name,
                "10.77.0.1");
    }

    @Test
    void shouldEncodeADiscoveryLog() {
        var log = new DiscoveryLog(7, List.of(entry("nqn.a"), entry("nqn.b")));
        var data = memory(DiscoveryLog.bytes(2));
        log.encode(data);
        assertThat(DiscoveryLog.decode(data)).isEqualTo(log);
        assertThat(data.asSlice(1024 + 32, 32).get(Fields.INT, 0)).isEqualTo(0x3032_3434);
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 1_000_000, -1, Long.MIN_VALUE})
    void shouldOmitDiscoveryEntriesThatAreMissing(long count) {
        var data = memory(DiscoveryLog.bytes(2));
        new DiscoveryLog(7, List.of(entry("nqn.a"), entry("nqn.b"))).encode(data);
        data.set(Fields.LONG, 8, count);
        assertThat(DiscoveryLog.decode(data).entries()).hasSize(2);
        assertThat(DiscoveryLog.entryCount(data)).isBetween(0, DiscoveryLog.MAX_ENTRIES);
    }

    @Test
    void shouldDistinguishTheStatusOfFabricsCommands() {
        assertThat(Status.of(0x182)).contains(Status.READ_ONLY_RANGE);
        assertThat(Status.ofFabrics(0x182)).contains(Status.CONNECT_PARAMETERS);
        assertThat(Status.ofFabrics(0x002)).contains(Status.INVALID_FIELD);
        assertThat(Status.describeFabrics(Status.CONNECT_HOST.encode()))
                .isEqualTo("the host is not allowed to use the subsystem (0x184)");
    }
}
