package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Optional;
import java.util.Random;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.DiscoveryLog;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.FabricsCommand.Connect;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.model.IdentifyFabrics;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.QualifiedName;
import org.jrdma.nvme.model.RdmaConnectRejection;
import org.jrdma.nvme.model.Status;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The target, from the side of a host that sends capsules of its own. */
class NvmeTargetTest extends TargetTestBase {

    private static final Command IDENTIFY = Command.admin(AdminOpcode.IDENTIFY).withDwords(1, 0, 0);

    @ParameterizedTest
    @CsvSource({
        "1, 0, 32, 32, INVALID_FORMAT",
        "0, 5, 32, 32, INVALID_QUEUE_ID",
        "0, 0, 32, 33, INVALID_COMMANDS",
        "0, 0, 32, 1, INVALID_COMMANDS",
        "0, 1, 65, 65, INVALID_COMMANDS",
        "0, 1, 32, 65536, INVALID_COMMANDS",
        "0, 0, 30, 32, INVALID_RECEIVES",
        "0, 1, 0, 64, INVALID_RECEIVES"
    })
    void shouldRejectConnectionsWithInvalidPrivateData(
            int format, int queueId, int receives, int commands, RdmaConnectRejection reason)
            throws Exception {
        var request = new ConnectPrivateData(format, queueId, receives, commands, 0);
        assertThat(UncheckedHostQueue.rejection(manager, domain, address, request))
                .contains(reason);
    }

    @Test
    void shouldRejectConnectionsBeyondTheLimits(Device ignored, Device other) throws Exception {
        try (var otherDomain = other.newProtectionDomain()) {
            var queues = new ArrayList<UncheckedHostQueue>();
            while (queues.size() < OPTIONS.maxConnectionsOfAHost()) {
                queues.add(UncheckedHostQueue.queue(manager, domain, address, 0, 0));
            }
            assertThat(rejection(domain)).contains(RdmaConnectRejection.NO_RESOURCES);
            while (queues.size() < OPTIONS.maxConnections()) {
                queues.add(UncheckedHostQueue.queue(manager, otherDomain, address, 0, 0));
            }
            assertThat(rejection(otherDomain)).contains(RdmaConnectRejection.NO_RESOURCES);
            queues.forEach(UncheckedHostQueue::close);
        }
        Harness.await(() -> target.connections() == 0);
        admin().close();
    }

    private Optional<RdmaConnectRejection> rejection(ProtectionDomain host) throws IOException {
        return UncheckedHostQueue.rejection(
                manager, host, address, new ConnectPrivateData(0, 0, 32, 32, 0));
    }

    @Test
    void shouldReadPropertiesAndIdentifyTheController() throws Exception {
        try (var admin = admin()) {
            var capabilities =
                    admin.execute(
                            FabricsCommand.propertyGet(MappedRegisters.CAPABILITIES, true),
                            admin.none());
            assertThat(capabilities.result()).isEqualTo(0x0000_0020_0401_003fL);
            var version =
                    admin.execute(
                            FabricsCommand.propertyGet(MappedRegisters.VERSION, false),
                            admin.none());
            assertThat(version.result()).isEqualTo(MappedRegisters.VERSION_1_4);
            assertThat(admin.status(IDENTIFY, admin.keyed(4096))).isEqualTo(Status.SUCCESS);
            var identity = IdentifyController.decode(admin.data());
            assertThat(identity.controllerId()).isEqualTo(1);
            assertThat(identity.subsystemName()).isEqualTo(NAME);
            var attributes = IdentifyFabrics.decode(admin.data());
            assertThat(attributes.commandCapsuleBytes()).isEqualTo(64 + 4096);
            assertThat(attributes.sglSupport()).isEqualTo(0x100005);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x0c, 0x24, 0x1000, -1})
    void shouldRejectUnknownProperties(int offset) throws Exception {
        try (var admin = admin()) {
            var get = FabricsCommand.propertyGet(offset, false);
            assertThat(admin.status(get, admin.none())).isEqualTo(Status.INVALID_FIELD);
            var set = FabricsCommand.propertySet(offset, 1);
            assertThat(admin.status(set, admin.none())).isEqualTo(Status.INVALID_FIELD);
            var narrow = FabricsCommand.propertyGet(MappedRegisters.CAPABILITIES, false);
            assertThat(admin.status(narrow, admin.none())).isEqualTo(Status.INVALID_FIELD);
        }
    }

    @Test
    void shouldReportAFatalErrorForAnUnsupportedConfiguration() throws Exception {
        try (var admin = UncheckedHostQueue.queue(manager, domain, address, 0, 0)) {
            assertThat(admin.connect(NAME, 0, ConnectData.ANY_CONTROLLER, 0).status()).isZero();
            var wrongSizes = FabricsCommand.propertySet(MappedRegisters.CONFIGURATION, 0x450001);
            assertThat(admin.status(wrongSizes, admin.none())).isEqualTo(Status.SUCCESS);
            var status = FabricsCommand.propertyGet(MappedRegisters.STATUS, false);
            assertThat(admin.execute(status, admin.none()).result())
                    .isEqualTo(MappedRegisters.FATAL);
            assertThat(admin.status(IDENTIFY, admin.keyed(4096)))
                    .isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
        }
    }

    @Test
    void shouldRefuseCommandsBeforeConnect() throws Exception {
        try (var admin = UncheckedHostQueue.queue(manager, domain, address, 0, 0)) {
            admin.data().fill((byte) 7);
            assertThat(admin.status(IDENTIFY, admin.keyed(4096)))
                    .isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
            assertThat(admin.data().get(JAVA_BYTE, 77)).isEqualTo((byte) 7);
            var status = FabricsCommand.propertyGet(MappedRegisters.STATUS, false);
            assertThat(admin.status(status, admin.none())).isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
        }
    }

    @Test
    void shouldEndConnectionsWithoutAConnectCommand() throws Exception {
        try (var admin = UncheckedHostQueue.queue(manager, domain, address, 0, 0)) {
            admin.awaitDisconnected();
        }
    }

    private Status connect(int queueId, int controllerId, String name, String host)
            throws IOException {
        try (var queue =
                UncheckedHostQueue.queue(manager, domain, address, queueId, controllerId)) {
            return UncheckedHostQueue.fabricsStatus(
                    queue.connect(
                            new Connect(0, queueId, 32, 0, 0),
                            new ConnectData(UncheckedHostQueue.HOST, controllerId, name, host)));
        }
    }

    @Test
    void shouldRefuseUnknownSubsystemsHostsAndControllers() throws Exception {
        var host = UncheckedHostQueue.HOST_NAME;
        var any = ConnectData.ANY_CONTROLLER;
        assertThat(connect(0, any, NAME + "x", host)).isEqualTo(Status.CONNECT_PARAMETERS);
        assertThat(connect(0, any, PRIVATE_NAME, host)).isEqualTo(Status.CONNECT_HOST);
        assertThat(connect(0, any, PRIVATE_NAME, "nqn.friend")).isEqualTo(Status.SUCCESS);
        assertThat(connect(0, 5, NAME, host)).isEqualTo(Status.CONNECT_PARAMETERS);
        assertThat(connect(1, 1, NAME, host)).isEqualTo(Status.CONNECT_PARAMETERS);
        try (var _ = admin()) {
            assertThat(connect(1, 1, NAME, "nqn.other")).isEqualTo(Status.CONNECT_PARAMETERS);
            assertThat(connect(1, 1, PRIVATE_NAME, host)).isEqualTo(Status.CONNECT_PARAMETERS);
            assertThat(connect(1, 1, NAME, host)).isEqualTo(Status.SUCCESS);
        }
    }

    @Test
    void shouldRefuseInvalidConnectCommands() throws Exception {
        var any = ConnectData.ANY_CONTROLLER;
        var valid =
                new ConnectData(UncheckedHostQueue.HOST, any, NAME, UncheckedHostQueue.HOST_NAME);
        try (var admin = UncheckedHostQueue.queue(manager, domain, address, 0, 0)) {
            assertThat(refusal(admin, new Connect(1, 0, 32, 0, 0), valid))
                    .isEqualTo(Status.CONNECT_FORMAT);
            assertThat(refusal(admin, new Connect(0, 1, 32, 0, 0), valid))
                    .isEqualTo(Status.CONNECT_PARAMETERS);
            assertThat(refusal(admin, new Connect(0, 0, 1, 0, 0), valid))
                    .isEqualTo(Status.CONNECT_PARAMETERS);
            assertThat(refusal(admin, new Connect(0, 0, 33, 0, 0), valid))
                    .isEqualTo(Status.CONNECT_PARAMETERS);
            var noHost =
                    new ConnectData(
                            new HostIdentifier(0, 0, true),
                            any,
                            NAME,
                            UncheckedHostQueue.HOST_NAME);
            assertThat(refusal(admin, new Connect(0, 0, 32, 0, 0), noHost))
                    .isEqualTo(Status.CONNECT_PARAMETERS);
            var connect = new Connect(0, 0, 32, 0, 0).encode();
            assertThat(admin.status(connect, admin.keyed(1020)))
                    .isEqualTo(Status.DATA_LENGTH_INVALID);
            assertThat(admin.status(connect, admin.keyed(StagingPool.SMALL_BYTES + 4)))
                    .isEqualTo(Status.DATA_LENGTH_INVALID);
            assertThat(refusal(admin, new Connect(0, 0, 32, 0, 0), valid))
                    .isEqualTo(Status.SUCCESS);
            assertThat(refusal(admin, new Connect(0, 0, 32, 0, 0), valid))
                    .isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
        }
    }

    private static Status refusal(UncheckedHostQueue queue, Connect connect, ConnectData data)
            throws IOException {
        return UncheckedHostQueue.fabricsStatus(queue.connect(connect, data));
    }

    @Test
    void shouldRefuseASecondQueueWithTheSameIdAndAQueueOfADisabledController() throws Exception {
        try (var admin = admin()) {
            try (var _ = io(1)) {
                assertThat(connect(1, 1, NAME, UncheckedHostQueue.HOST_NAME))
                        .isEqualTo(Status.CONNECT_BUSY);
            }
            var disable = FabricsCommand.propertySet(MappedRegisters.CONFIGURATION, 0x460000);
            assertThat(admin.status(disable, admin.none())).isEqualTo(Status.SUCCESS);
            assertThat(connect(2, 1, NAME, UncheckedHostQueue.HOST_NAME))
                    .isEqualTo(Status.CONNECT_BUSY);
        }
    }

    @Test
    void shouldTransferDataByKeyAndInTheCapsule() throws Exception {
        try (var _ = admin();
                var queue = io(1)) {
            for (var bytes : new int[] {512, 4096, 16_384, 65_536, 524_288}) {
                transfer(queue, bytes, queue.keyed(bytes), 0);
            }
            transfer(
                    queue,
                    4096,
                    new FabricsDataPointer(FabricsDataPointer.IN_CAPSULE, 0, 4096, 0),
                    4096);
            transfer(
                    queue,
                    512,
                    new FabricsDataPointer(FabricsDataPointer.IN_CAPSULE, 64, 512, 0),
                    1024);
        }
    }

    /** Writes random blocks, reads them, and compares. */
    private static void transfer(
            UncheckedHostQueue queue, int bytes, FabricsDataPointer pointer, int extraBytes)
            throws IOException {
        var written = new byte[bytes];
        new Random(bytes).nextBytes(written);
        if (pointer.kind() == FabricsDataPointer.IN_CAPSULE) {
            MemorySegment.copy(
                    MemorySegment.ofArray(written),
                    0,
                    queue.capsule(),
                    Command.BYTES + pointer.address(),
                    bytes);
        } else {
            queue.data().copyFrom(MemorySegment.ofArray(written));
        }
        var write = Command.blocks(IoOpcode.WRITE, 1, 3, bytes / 512);
        assertThat(UncheckedHostQueue.status(queue.execute(write, pointer, extraBytes)))
                .isEqualTo(Status.SUCCESS);
        queue.data().fill((byte) 0);
        var invalidated = queue.keyed(bytes);
        assertThat(queue.status(Command.blocks(IoOpcode.READ, 1, 3, bytes / 512), invalidated))
                .isEqualTo(Status.SUCCESS);
        assertThat(queue.data().asSlice(0, bytes).mismatch(MemorySegment.ofArray(written)))
                .isEqualTo(-1);
    }

    @Test
    void shouldRefuseInvalidDataPointersAndLeaveTheBlocksUntouched() throws Exception {
        try (var admin = admin();
                var queue = io(1)) {
            transfer(queue, 4096, queue.keyed(4096), 0);
            var write = Command.blocks(IoOpcode.WRITE, 1, 3, 8);
            assertThat(queue.status(write, queue.keyed(4095)))
                    .isEqualTo(Status.DATA_LENGTH_INVALID);
            assertThat(queue.status(write, queue.keyed(FabricsDataPointer.MAX_KEYED_BYTES)))
                    .isEqualTo(Status.DATA_LENGTH_INVALID);
            assertThat(inCapsule(queue, write, 0, 4096, 4095))
                    .isEqualTo(Status.DATA_LENGTH_INVALID);
            assertThat(inCapsule(queue, write, 0, -1, 4096)).isEqualTo(Status.DATA_LENGTH_INVALID);
            assertThat(inCapsule(queue, write, 4097, 1, 4096))
                    .isEqualTo(Status.DATA_OFFSET_INVALID);
            assertThat(inCapsule(queue, write, -1, 4096, 4096))
                    .isEqualTo(Status.DATA_OFFSET_INVALID);
            assertThat(inCapsule(queue, Command.blocks(IoOpcode.READ, 1, 3, 8), 0, 4096, 4096))
                    .isEqualTo(Status.DESCRIPTOR_TYPE_INVALID);
            for (var kind : new int[] {0, 0x10, 0x42, 0x50, 0xff}) {
                assertThat(queue.status(write, new FabricsDataPointer(kind, 0, 4096, 0)))
                        .isEqualTo(Status.DESCRIPTOR_TYPE_INVALID);
            }
            queue.send(write.withFlags(0).withId(1), 0);
            assertThat(UncheckedHostQueue.status(queue.receive().orElseThrow()))
                    .isEqualTo(Status.INVALID_FIELD);
            assertThat(
                            admin.status(
                                    IDENTIFY,
                                    new FabricsDataPointer(FabricsDataPointer.IN_CAPSULE, 0, 0, 0)))
                    .isEqualTo(Status.DESCRIPTOR_TYPE_INVALID);
            var expected = new byte[4096];
            new Random(4096).nextBytes(expected);
            assertThat(queue.status(Command.blocks(IoOpcode.READ, 1, 3, 8), queue.keyed(4096)))
                    .isEqualTo(Status.SUCCESS);
            assertThat(queue.data().asSlice(0, 4096).mismatch(MemorySegment.ofArray(expected)))
                    .isEqualTo(-1);
        }
    }

    private static Status inCapsule(
            UncheckedHostQueue queue, Command command, long offset, int length, int extraBytes)
            throws IOException {
        return UncheckedHostQueue.status(
                queue.execute(
                        command,
                        new FabricsDataPointer(FabricsDataPointer.IN_CAPSULE, offset, length, 0),
                        extraBytes));
    }

    @Test
    void shouldDisconnectAHostWhoseKeyIsInvalid() throws Exception {
        try (var _ = admin();
                var queue = io(1)) {
            var write = Command.blocks(IoOpcode.WRITE, 1, 0, 1);
            new FabricsDataPointer(FabricsDataPointer.KEYED, 4096, 512, 12345)
                    .encode(write)
                    .encode(queue.capsule(), 0);
            queue.sendInvalidCapsule(Command.BYTES);
            assertThat(queue.receive()).isEmpty();
            io(2).close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 63})
    void shouldDisconnectAHostWhoseCapsuleIsTooShort(int bytes) throws Exception {
        try (var _ = admin();
                var queue = io(1)) {
            queue.sendInvalidCapsule(bytes);
            assertThat(queue.receive()).isEmpty();
        }
    }

    @Test
    void shouldDisconnectAHostWhoseCapsuleIsTooLong() throws Exception {
        try (var _ = admin();
                var queue = io(1)) {
            assertThatThrownBy(() -> queue.sendCapsule(Command.BYTES + 4097))
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void shouldEndAControllerWhoseHostGivesNoSignOfLife() throws Exception {
        try (var admin = admin(300);
                var queue = io(1)) {
            var start = System.nanoTime();
            queue.awaitDisconnected();
            admin.awaitDisconnected();
            Harness.await(() -> target.connections() == 0);
            assertThat(System.nanoTime() - start).isLessThan(5_300_000_000L);
        }
    }

    @Test
    void shouldKeepAControllerWhoseHostSendsKeepAliveCommands() throws Exception {
        try (var admin = admin(400)) {
            var end = System.nanoTime() + 1_500_000_000;
            while (System.nanoTime() < end) {
                assertThat(admin.status(Command.admin(AdminOpcode.KEEP_ALIVE), admin.none()))
                        .isEqualTo(Status.SUCCESS);
                Thread.sleep(50); // within the timeout
            }
        }
    }

    @Test
    void shouldEndTheQueuesOfAHostThatDisconnects() throws Exception {
        try (var queue = queueOfEndedController()) {
            queue.awaitDisconnected();
        }
        admin().close(); // the id of the controller is free again
    }

    private UncheckedHostQueue queueOfEndedController() throws IOException {
        try (var _ = admin()) {
            return io(1);
        }
    }

    @Test
    void shouldDescribeTheSubsystemsThatAHostMayUse() throws Exception {
        try (var admin = UncheckedHostQueue.queue(manager, domain, address, 0, 0)) {
            assertThat(
                            admin.connect(QualifiedName.DISCOVERY, 0, ConnectData.ANY_CONTROLLER, 0)
                                    .status())
                    .isZero();
            admin.enable();
            var bytes = 4096;
            var command =
                    Command.admin(AdminOpcode.GET_LOG_PAGE)
                            .withDwords(LogPage.DISCOVERY | (bytes / 4 - 1) << 16, 0, 0);
            assertThat(admin.status(command, admin.keyed(bytes))).isEqualTo(Status.SUCCESS);
            var log = DiscoveryLog.decode(admin.data());
            assertThat(log.entries()).hasSize(1);
            var entry = log.entries().getFirst();
            assertThat(entry.subsystemName()).isEqualTo(NAME);
            assertThat(entry.address()).isEqualTo(address.getAddress().getHostAddress());
            assertThat(entry.service()).isEqualTo(Integer.toString(address.getPort()));
            assertThat(admin.status(IDENTIFY, admin.keyed(4096))).isEqualTo(Status.SUCCESS);
            assertThat(IdentifyFabrics.decode(admin.data()).controllerType())
                    .isEqualTo(IdentifyFabrics.DISCOVERY_CONTROLLER);
        }
    }

    @Test
    void shouldRefuseTheCommandsOfPcieControllers() throws Exception {
        try (var admin = admin()) {
            for (var opcode :
                    new int[] {
                        AdminOpcode.CREATE_COMPLETION_QUEUE,
                        AdminOpcode.CREATE_SUBMISSION_QUEUE,
                        AdminOpcode.DELETE_COMPLETION_QUEUE,
                        AdminOpcode.FORMAT
                    }) {
                assertThat(admin.status(Command.admin(opcode), admin.none()))
                        .isEqualTo(Status.INVALID_OPCODE);
            }
        }
    }

    @Test
    void shouldReportEventsAndAbortTheirRequests() throws Exception {
        try (var admin = admin()) {
            admin.send(
                    admin.none().encode(Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST)).withId(7),
                    0);
            admin.send(
                    admin.none().encode(Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST)).withId(8),
                    0);
            var abort = Command.admin(AdminOpcode.ABORT).withDwords(7 << 16, 0, 0);
            assertThat(admin.execute(abort, admin.none()).result()).isZero();
            var aborted = admin.receive().orElseThrow();
            assertThat(aborted.commandId()).isEqualTo(7);
            assertThat(UncheckedHostQueue.status(aborted)).isEqualTo(Status.ABORT_REQUESTED);
            var configure =
                    Command.admin(AdminOpcode.SET_FEATURES)
                            .withDwords(FeatureId.ASYNC_EVENT_CONFIGURATION, 2, 0);
            assertThat(admin.status(configure, admin.none())).isEqualTo(Status.SUCCESS);
            var threshold =
                    Command.admin(AdminOpcode.SET_FEATURES)
                            .withDwords(FeatureId.TEMPERATURE_THRESHOLD, 100, 0);
            assertThat(admin.status(threshold, admin.none())).isEqualTo(Status.SUCCESS);
            var event = admin.receive().orElseThrow();
            assertThat(event.commandId()).isEqualTo(8);
            assertThat(event.status()).isZero();
        }
    }
}
