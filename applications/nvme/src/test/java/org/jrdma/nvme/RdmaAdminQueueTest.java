package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.model.IdentifyFabrics;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.nvme.model.Status;
import org.jrdma.soft.junit.SoftFabricTest;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.memory.MemorySlice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** The events of a target that chooses its responses. */
@Timeout(60)
@SoftFabricTest(devices = 2)
class RdmaAdminQueueTest {

    private static final Command COMMAND = Command.admin(AdminOpcode.KEEP_ALIVE);
    private static final int EVENT_REQUEST_ID = 0xffff;
    private static final ResponseCapsule EVENT =
            new ResponseCapsule(AsyncEvent.NAMESPACE_CHANGED.encode(), 0, 0, EVENT_REQUEST_ID, 0);
    private static final FabricsOptions OPTIONS =
            FabricsOptions.of(HostIdentity.of(new UUID(7, 25)));

    /** The responses before that to the next command. */
    private final List<ResponseCapsule> earlier = new ArrayList<>();

    private volatile Predicate<Command> refused = _ -> false;

    private ScriptedAdminTarget target;
    private ProtectionDomain domain;
    private RdmaAdminQueue admin;

    @BeforeEach
    void connect(
            Verbs verbs,
            ConnectionManager manager,
            Device host,
            Device device,
            InetAddress ignored,
            InetAddress address)
            throws Exception {
        target = new ScriptedAdminTarget(manager, device, address, this::responses);
        domain = host.newProtectionDomain();
        admin =
                new RdmaAdminQueue(
                        new RdmaConnector(verbs, manager),
                        domain,
                        target.address(),
                        "the test",
                        OPTIONS);
    }

    @AfterEach
    void close() {
        admin.close();
        domain.close();
        target.close();
    }

    private List<ResponseCapsule> responses(Command command, MemorySlice data) {
        if (refused.test(command)) {
            return List.of(ScriptedAdminTarget.response(command, 0, Status.INVALID_FIELD.encode()));
        }
        if (command.opcode() == AdminOpcode.ASYNC_EVENT_REQUEST) {
            return List.of();
        }
        synchronized (earlier) {
            var responses = new ArrayList<>(earlier);
            earlier.clear();
            responses.add(ScriptedAdminTarget.response(command, result(command, data), 0));
            return responses;
        }
    }

    private static long result(Command command, MemorySlice data) {
        if (command.opcode() == AdminOpcode.IDENTIFY) {
            var page = data.segment().fill((byte) 0);
            new IdentifyController(
                            1,
                            1,
                            "serial",
                            "model",
                            "1",
                            0,
                            0,
                            1,
                            MappedRegisters.VERSION_1_4,
                            IdentifyController.NAMESPACE_NOTICES,
                            0,
                            0,
                            4,
                            4,
                            0,
                            16,
                            1,
                            0,
                            false,
                            "nqn.test")
                    .encode(page);
            new IdentifyFabrics(
                            IdentifyFabrics.IO_CONTROLLER,
                            10,
                            32,
                            IdentifyFabrics.KEYED_AND_IN_CAPSULE,
                            64,
                            16,
                            0,
                            1)
                    .encode(page);
        }
        var isProperty =
                command.opcode() == FabricsCommand.OPCODE
                        && FabricsCommand.type(command) == FabricsCommand.PROPERTY_GET;
        return isProperty ? MappedRegisters.READY : 0;
    }

    private void respondBefore(ResponseCapsule... responses) {
        synchronized (earlier) {
            earlier.addAll(List.of(responses));
        }
    }

    private static Deadline deadline() {
        return Deadline.after(Duration.ofSeconds(20));
    }

    private Optional<AsyncEvent> awaitEvent() throws FabricException {
        var end = deadline();
        var event = admin.takeEvent(deadline());
        while (event.isEmpty() && !admin.isLost() && !end.hasPassed()) {
            Thread.onSpinWait();
            event = admin.takeEvent(deadline());
        }
        return event;
    }

    private void execute() throws FabricException {
        assertThat(admin.execute("the command", COMMAND, deadline())).isZero();
    }

    @SoftFabricTest(devices = 2)
    void shouldTakeAnEventThatArrivesBeforeAResponse() throws Exception {
        admin.requestEvent(deadline());
        execute();
        assertThat(admin.takeEvent(deadline())).isEmpty();
        respondBefore(EVENT);
        execute();
        assertThat(admin.takeEvent(deadline())).contains(AsyncEvent.NAMESPACE_CHANGED);
        assertThat(admin.takeEvent(deadline())).isEmpty();
        admin.requestEvent(deadline());
        respondBefore(EVENT);
        execute();
        assertThat(admin.takeEvent(deadline())).contains(AsyncEvent.NAMESPACE_CHANGED);
    }

    @SoftFabricTest(devices = 2)
    void shouldTakeAnEventWhileNoCommandIsPending() throws Exception {
        for (var i = 0; i < 40; i++) { // more than the queue has entries
            admin.requestEvent(deadline());
            target.send(EVENT);
            assertThat(awaitEvent()).contains(AsyncEvent.NAMESPACE_CHANGED);
        }
        execute();
    }

    @SoftFabricTest(devices = 2)
    void shouldContinueAfterTheRefusalOfAnEventRequest() throws Exception {
        refused = command -> command.opcode() == AdminOpcode.ASYNC_EVENT_REQUEST;
        admin.requestEvent(deadline());
        assertThatThrownBy(this::awaitEvent)
                .isInstanceOfSatisfying(
                        NvmeException.class,
                        e -> assertThat(e.status()).contains(Status.INVALID_FIELD))
                .hasMessageContaining("request for an event failed on the test");
        execute();
        assertThat(admin.isLost()).isFalse();
    }

    @SoftFabricTest(devices = 2)
    void shouldDisconnectATargetThatReportsAnEventTwice() throws Exception {
        admin.requestEvent(deadline());
        respondBefore(EVENT, EVENT);
        assertThatThrownBy(this::execute)
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("unknown admin command 65535 instead of the command");
        assertThat(admin.isLost()).isTrue();
    }

    @SoftFabricTest(devices = 2)
    void shouldDisconnectATargetThatReportsAnEventWithoutARequest() {
        target.send(EVENT);
        assertThatThrownBy(this::awaitEvent)
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("unknown admin command 65535");
        assertThat(admin.isLost()).isTrue();
        assertThatThrownBy(this::execute)
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("was not started");
    }

    @SoftFabricTest(devices = 2)
    void shouldDisconnectATargetThatRespondsToNoCommand() throws Exception {
        admin.requestEvent(deadline());
        target.send(new ResponseCapsule(0, 0, 0, 1, 0));
        assertThatThrownBy(this::awaitEvent)
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("unknown admin command 1 ");
        assertThat(admin.isLost()).isTrue();
        assertThatThrownBy(() -> admin.requestEvent(deadline())).isInstanceOf(NvmeException.class);
    }

    @SoftFabricTest(devices = 2)
    void shouldDisconnectATargetWhoseResponseIsTooShort() throws Exception {
        admin.requestEvent(deadline());
        execute(); // the buffers of the responses then have valid contents
        target.send(EVENT, ResponseCapsule.BYTES - 1);
        assertThatThrownBy(this::awaitEvent)
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("sent a response of 15 bytes instead of 16");
        assertThat(admin.isLost()).isTrue();
    }

    @SoftFabricTest(devices = 2)
    void shouldStartASessionIfTheTargetRefusesNotices() throws Exception {
        refused =
                command ->
                        command.opcode() == AdminOpcode.SET_FEATURES
                                && command.dword10() == FeatureId.ASYNC_EVENT_CONFIGURATION;
        assertThat(start().identity().serialNumber()).isEqualTo("serial");
        target.send(EVENT); // which the host has not requested
        assertThatThrownBy(this::awaitEvent).hasMessageContaining("unknown admin command 65535");
    }

    private RdmaControllerSession start() throws FabricException {
        return RdmaControllerSession.start(admin, "nqn.test", OPTIONS, 4, "the test", deadline());
    }

    @SoftFabricTest(devices = 2)
    void shouldRequestAnEventWithTheStartOfASession() throws Exception {
        assertThat(start().identity().serialNumber()).isEqualTo("serial");
        target.send(EVENT);
        assertThat(awaitEvent()).contains(AsyncEvent.NAMESPACE_CHANGED);
    }
}
