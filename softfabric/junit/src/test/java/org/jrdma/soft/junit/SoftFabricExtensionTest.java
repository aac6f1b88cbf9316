package org.jrdma.soft.junit;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import java.time.Duration;
import java.util.List;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.TransferException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.opentest4j.AssertionFailedError;

class SoftFabricExtensionTest {

    private static final int WRITES = 50;

    /** Writes {@link #WRITES} messages from one device to another. */
    private static void write(Device local, Device remote) throws Exception {
        write(local, remote, DirectConnectOptions.DEFAULT);
    }

    private static void write(Device local, Device remote, DirectConnectOptions options)
            throws Exception {
        try (var localDomain = local.newProtectionDomain();
                var remoteDomain = remote.newProtectionDomain();
                var localMemory = localDomain.newArena(Access.LOCAL_WRITE);
                var remoteMemory = remoteDomain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
                var localCompletions = local.newCompletionDispatcher(16);
                var remoteCompletions = remote.newCompletionDispatcher(16);
                var localQueuePair = localDomain.newReliableQueuePair(localCompletions);
                var remoteQueuePair = remoteDomain.newReliableQueuePair(remoteCompletions)) {
            localQueuePair.connect(remoteQueuePair.endpoint(), options);
            remoteQueuePair.connect(localQueuePair.endpoint(), options);
            var source = localMemory.region(64);
            var target = remoteMemory.region(64);
            for (var i = 1; i <= WRITES; i++) {
                source.segment().setString(0, "message " + i);
                localQueuePair.write(source.slice(), target.remote()).await(ofSeconds(10));
                assertThat(target.segment().getString(0)).isEqualTo("message " + i);
            }
        }
    }

    /* Tests that use the annotation. */

    @SoftFabricTest(devices = 2)
    void shouldInjectConnectedDevices(Device local, Device remote) throws Exception {
        assertThat(local.name()).isEqualTo("soft0");
        assertThat(remote.name()).isEqualTo("soft1");
        write(local, remote);
    }

    @SoftFabricTest(devices = 2, loss = 0.2, duplication = 0.2, reordering = 0.2, seed = 1)
    void shouldInjectTheDeclaredNetworkFaults(Device local, Device remote, SoftDevice watched)
            throws Exception {
        write(local, remote, DirectConnectOptions.DEFAULT.acknowledgeTimeout(Duration.ofMillis(4)));

        var faults = watched.faultCounts();
        assertThat(faults.sent()).isGreaterThan(WRITES);
        assertThat(faults.lost()).isPositive();
        assertThat(faults.duplicated()).isPositive();
        // the writes are sequential, so no packet can be reordered
        assertThat(faults.damaged() + faults.delayed()).isZero();
    }

    @SoftFabricTest(devices = 2, loss = 1)
    void shouldLoseAllPacketsIfLossIsOne(Device local, Device remote) {
        assertThatThrownBy(() ->
                        write(
                                local,
                                remote,
                                DirectConnectOptions.DEFAULT
                                        .acknowledgeTimeout(Duration.ofMillis(4))
                                        .retries(1)))
                .isInstanceOf(TransferException.class)
                .hasMessageContaining("RETRIES_EXCEEDED");
    }

    @SoftFabricTest
    void shouldInjectTheLibraryOfTheDevices(Verbs verbs) throws Exception {
        assertThat(verbs.devices()).singleElement().extracting("name").isEqualTo("soft0");
        try (var device = verbs.openFirst()) {
            assertThat(device.name()).isEqualTo("soft0");
        }
    }

    @Nested
    @SoftFabricTest(devices = 2)
    class OnAClass {

        private Device before;

        @BeforeEach
        void takeDevice(Device device) {
            before = device;
        }

        @Test
        void shouldInjectTheSameDeviceAsBeforeEach(Device first, Device second) {
            assertThat(first).isSameAs(before);
            assertThat(second.name()).isEqualTo("soft1");
        }

        @RepeatedTest(2)
        void shouldInjectIntoRepeatedTests(Device first) {
            assertThat(first).isSameAs(before);
        }

        @ParameterizedTest
        @ValueSource(ints = 2)
        void shouldInjectIntoParameterizedTests(int devices, Device first, Device second) {
            assertThat(List.of(first, second)).hasSize(devices).contains(before);
        }

        @SoftFabricTest
        void shouldPreferTheAnnotationOfTheMethod(Verbs verbs) throws Exception {
            assertThat(verbs.devices()).hasSize(1);
        }
    }

    /* Tests that use the annotation incorrectly or leave objects open. */

    private static Events run(Class<?> tests) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(tests))
                .execute()
                .testEvents();
    }

    private static Throwable failureOf(Class<?> tests) {
        return run(tests)
                .failed()
                .assertThatEvents()
                .haveExactly(1, finishedWithFailure(instanceOf(AssertionFailedError.class)))
                .actual()
                .getFirst()
                .getRequiredPayload(TestExecutionResult.class)
                .getThrowable()
                .orElseThrow();
    }

    static class Leaking {
        static Device device;

        @SoftFabricTest
        void leavesObjectsOpen(Device injected) throws Exception {
            device = injected;
            var domain = injected.newProtectionDomain();
            domain.newArena(Access.LOCAL_WRITE).region(64);
            injected.newCompletionDispatcher(16).close();
        }
    }

    @Test
    void shouldFailATestThatLeavesObjectsOpenAndNameThem() {
        var failure = failureOf(Leaking.class);

        assertThat(failure.getMessage().lines())
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("The test left open:"),
                        line -> assertThat(line).matches("  protection domain .*of soft0"),
                        line -> assertThat(line).isEqualTo("    arena (LOCAL_WRITE) on soft0"),
                        line -> assertThat(line).startsWith("      memory region of 64 bytes"));
        assertThat(failure.getSuppressed())
                .hasSize(3)
                .allSatisfy(creation ->
                        assertThat(creation)
                                .hasMessageEndingWith(" was created here")
                                .hasStackTraceContaining("Leaking.leavesObjectsOpen"));
        assertThat(Leaking.device.isOpen()).isFalse();
    }

    static class LeakingADevice {
        static Device device;

        @SoftFabricTest
        void leavesADeviceOpen(Verbs verbs, Device injected) throws Exception {
            device = verbs.open(injected.name());
        }
    }

    @Test
    void shouldFailATestThatLeavesItsOwnDeviceOpenAndCloseIt() {
        assertThat(failureOf(LeakingADevice.class))
                .hasMessageContainingAll("left open:", "  device soft0");
        assertThat(LeakingADevice.device.isOpen()).isFalse();
    }

    static class FailingAndLeaking {
        @SoftFabricTest
        void fails(Device device) throws Exception {
            device.newProtectionDomain();
            throw new IllegalStateException("the reason");
        }
    }

    @Test
    void shouldReportTheFailureOfATestInsteadOfItsLeaks() {
        run(FailingAndLeaking.class)
                .assertThatEvents()
                .haveExactly(
                        1,
                        finishedWithFailure(
                                instanceOf(IllegalStateException.class), message("the reason")));
    }

    static class UsingTwoDevices {
        @SoftFabricTest
        void takesTwo(Device first, Device second) {
            throw new AssertionError("ran with " + first + " and " + second);
        }
    }

    @Test
    void shouldReportTheNumberOfDevicesThatTheTestNeeds() {
        run(UsingTwoDevices.class)
                .assertThatEvents()
                .haveExactly(
                        1,
                        finishedWithFailure(
                                instanceOf(ParameterResolutionException.class),
                                message(text -> text.contains("@SoftFabricTest(devices = 2)"))));
    }

    static class AlsoRepeated {
        @SoftFabricTest
        @RepeatedTest(2)
        void runs(Device device) {
            throw new AssertionError("ran with " + device);
        }
    }

    static class AlsoParameterized {
        @SoftFabricTest
        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void runs(int number) {
            throw new AssertionError("ran with " + number);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {AlsoRepeated.class, AlsoParameterized.class})
    void shouldRejectAMethodWithAnotherTestAnnotation(Class<?> tests) {
        var events = run(tests);

        assertThat(events.failed().count()).isEqualTo(events.started().count()).isPositive();
        events.failed()
                .assertThatEvents()
                .are(
                        finishedWithFailure(
                                instanceOf(ExtensionConfigurationException.class),
                                message(text ->
                                        text.contains("Put @SoftFabricTest on the class"))));
    }

    @SoftFabricTest
    static class UsingADeviceBeforeAll {
        @BeforeAll
        static void takesOne(Device device) {
            assertThat(device).isNull(); // not reached
        }

        @Test
        void isNotReached() {}
    }

    @Test
    void shouldRejectAParameterOfABeforeAllMethod() {
        EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(UsingADeviceBeforeAll.class))
                .execute()
                .containerEvents()
                .assertThatEvents()
                .haveExactly(
                        1,
                        finishedWithFailure(
                                instanceOf(ParameterResolutionException.class),
                                message(text -> text.contains("it exists for each test"))));
    }

    /** Invalid annotations, which are reported although no test has a parameter. */
    static class InvalidElements {

        @SoftFabricTest(devices = 0)
        void none() {}

        @SoftFabricTest(devices = -1)
        void negative() {}

        @SoftFabricTest(devices = 300)
        void tooMany() {}

        @SoftFabricTest(loss = 5)
        void loss() {}

        @SoftFabricTest(duplication = -0.1)
        void duplication() {}

        @SoftFabricTest(reordering = 1.1)
        void reordering() {}

        @SoftFabricTest(corruption = Double.NaN)
        void corruption() {}

        @SoftFabricTest(delay = Double.POSITIVE_INFINITY)
        void delay() {}

        @SoftFabricTest(delayMillis = -1)
        void delayMillis() {}
    }

    @Test
    void shouldRejectAnElementOutOfRangeAndReportTheRange() {
        run(InvalidElements.class)
                .failed()
                .assertThatEvents()
                .extracting(event ->
                        event.getRequiredPayload(TestExecutionResult.class)
                                .getThrowable()
                                .orElseThrow())
                .allSatisfy(failure ->
                        assertThat(failure).isInstanceOf(ExtensionConfigurationException.class))
                .extracting(Throwable::getMessage)
                .containsExactlyInAnyOrder(
                        "Invalid element @SoftFabricTest(devices = 0): it must be from 1 to 254.",
                        "Invalid element @SoftFabricTest(devices = -1): it must be from 1 to 254.",
                        "Invalid element @SoftFabricTest(devices = 300): it must be from 1 to 254.",
                        "Invalid element @SoftFabricTest(loss = 5.0): it must be from 0 to 1.",
                        "Invalid element @SoftFabricTest(duplication = -0.1): it must be from 0 to"
                                + " 1.",
                        "Invalid element @SoftFabricTest(reordering = 1.1): it must be from 0 to"
                                + " 1.",
                        "Invalid element @SoftFabricTest(corruption = NaN): it must be from 0 to"
                                + " 1.",
                        "Invalid element @SoftFabricTest(delay = Infinity): it must be from 0 to"
                                + " 1.",
                        "Invalid element @SoftFabricTest(delayMillis = -1): it must be from 0 to"
                                + " 2147483647.");
    }
}
