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
import org.jrdma.verbs.ConnectOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.TransferException;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.Access;
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

    /** Writes so often from one device to another. */
    private static void write(Device here, Device there) throws Exception {
        write(here, there, new ConnectOptions());
    }

    private static void write(Device here, Device there, ConnectOptions options) throws Exception {
        try (var ourDomain = here.newProtectionDomain();
                var theirDomain = there.newProtectionDomain();
                var ourMemory = ourDomain.newArena(Access.LOCAL_WRITE);
                var theirMemory = theirDomain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
                var ourCompletions = here.newCompletionDispatcher(16);
                var theirCompletions = there.newCompletionDispatcher(16);
                var ours = ourDomain.newReliableQueuePair(ourCompletions);
                var theirs = theirDomain.newReliableQueuePair(theirCompletions)) {
            ours.connect(theirs.endpoint(), options);
            theirs.connect(ours.endpoint(), options);
            var source = ourMemory.region(64);
            var target = theirMemory.region(64);
            for (var i = 1; i <= WRITES; i++) {
                source.segment().setString(0, "message " + i);
                ours.write(source.slice(), target.remote()).await(ofSeconds(10));
                assertThat(target.segment().getString(0)).isEqualTo("message " + i);
            }
        }
    }

    /* Used as its users use it. */

    @SoftFabricTest(devices = 2)
    void shouldGiveDevicesThatReachEachOther(Device here, Device there) throws Exception {
        assertThat(here.name()).isEqualTo("soft0");
        assertThat(there.name()).isEqualTo("soft1");
        write(here, there);
    }

    @SoftFabricTest(devices = 2, loss = 0.2, duplication = 0.2, reordering = 0.2, seed = 1)
    void shouldMakeTheNetworkAsBadAsItSays(Device here, Device there, SoftDevice watched)
            throws Exception {
        write(here, there, new ConnectOptions().acknowledgeTimeout(Duration.ofMillis(4)));

        var troubles = watched.faultCounts();
        assertThat(troubles.sent()).isGreaterThan(WRITES);
        assertThat(troubles.lost()).isPositive();
        assertThat(troubles.duplicated()).isPositive();
        // One write after the other: there is nobody to be overtaken by.
        assertThat(troubles.damaged() + troubles.delayed()).isZero();
    }

    @SoftFabricTest(devices = 2, loss = 1)
    void shouldLoseEverythingWhenToldTo(Device here, Device there) {
        assertThatThrownBy(() ->
                        write(
                                here,
                                there,
                                new ConnectOptions()
                                        .acknowledgeTimeout(Duration.ofMillis(4))
                                        .retries(1)))
                .isInstanceOf(TransferException.class)
                .hasMessageContaining("RETRIES_EXCEEDED");
    }

    @SoftFabricTest
    void shouldGiveTheLibraryToOpenDevicesWith(Verbs verbs) throws Exception {
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
        void shouldBeForEachOfItsTests(Device first, Device second) {
            assertThat(first).isSameAs(before);
            assertThat(second.name()).isEqualTo("soft1");
        }

        @RepeatedTest(2)
        void shouldBeForTestsOfOtherKinds(Device first) {
            assertThat(first).isSameAs(before);
        }

        @ParameterizedTest
        @ValueSource(ints = 2)
        void shouldBeForTestsWithArgumentsOfTheirOwn(int devices, Device first, Device second) {
            assertThat(List.of(first, second)).hasSize(devices).contains(before);
        }

        @SoftFabricTest
        void shouldGiveWayToTheMethods(Verbs verbs) throws Exception {
            assertThat(verbs.devices()).hasSize(1);
        }
    }

    /* What becomes of tests that do wrong. */

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
        void leavesThingsOpen(Device given) throws Exception {
            device = given;
            var domain = given.newProtectionDomain();
            domain.newArena(Access.LOCAL_WRITE).region(64);
            given.newCompletionDispatcher(16).close();
        }
    }

    @Test
    void shouldFailATestThatLeavesSomethingOpenAndNameIt() {
        var failure = failureOf(Leaking.class);

        assertThat(failure.getMessage().lines())
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("The test left open:"),
                        line -> assertThat(line).matches("  protection domain .*of soft0"),
                        line -> assertThat(line).isEqualTo("    arena (LOCAL_WRITE) on soft0"),
                        line -> assertThat(line).startsWith("      memory region of 64 bytes"));
        assertThat(failure.getSuppressed())
                .hasSize(3)
                .allSatisfy(made ->
                        assertThat(made)
                                .hasMessageEndingWith(" was made here")
                                .hasStackTraceContaining("Leaking.leavesThingsOpen"));
        assertThat(Leaking.device.isOpen()).isFalse();
    }

    static class LeakingADevice {
        static Device device;

        @SoftFabricTest
        void leavesADeviceOpen(Verbs verbs, Device given) throws Exception {
            device = verbs.open(given.name());
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
    void shouldNotHideWhyATestFailedBehindWhatItLeft() {
        run(FailingAndLeaking.class)
                .assertThatEvents()
                .haveExactly(
                        1,
                        finishedWithFailure(
                                instanceOf(IllegalStateException.class), message("the reason")));
    }

    static class AskingForTooMany {
        @SoftFabricTest
        void takesTwo(Device first, Device second) {
            throw new AssertionError("ran with " + first + " and " + second);
        }
    }

    @Test
    void shouldSayHowToHaveAsManyDevicesAsTheTestTakes() {
        run(AskingForTooMany.class)
                .assertThatEvents()
                .haveExactly(
                        1,
                        finishedWithFailure(
                                instanceOf(ParameterResolutionException.class),
                                message(text -> text.contains("@SoftFabricTest(devices = 2)"))));
    }

    static class RepeatedBesides {
        @SoftFabricTest
        @RepeatedTest(2)
        void runs(Device device) {
            throw new AssertionError("ran with " + device);
        }
    }

    static class ParameterizedBesides {
        @SoftFabricTest
        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void runs(int number) {
            throw new AssertionError("ran with " + number);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {RepeatedBesides.class, ParameterizedBesides.class})
    void shouldRefuseAMethodThatIsAnotherKindOfTestBesides(Class<?> tests) {
        var events = run(tests);

        assertThat(events.failed().count()).isEqualTo(events.started().count()).isPositive();
        events.failed()
                .assertThatEvents()
                .are(
                        finishedWithFailure(
                                instanceOf(ExtensionConfigurationException.class),
                                message(text -> text.contains("Put it on the class"))));
    }

    @SoftFabricTest
    static class AskingForAll {
        @BeforeAll
        static void takesOne(Device device) {
            assertThat(device).isNull(); // not reached
        }

        @Test
        void isNotReached() {}
    }

    @Test
    void shouldRefuseADeviceForAllTests() {
        EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(AskingForAll.class))
                .execute()
                .containerEvents()
                .assertThatEvents()
                .haveExactly(
                        1,
                        finishedWithFailure(
                                instanceOf(ParameterResolutionException.class),
                                message(text -> text.contains("for each test"))));
    }

    /** None takes anything of the fabric: that there can be no such is said nevertheless. */
    static class Impossible {

        @SoftFabricTest(devices = 0)
        void none() {}

        @SoftFabricTest(devices = -1)
        void fewer() {}

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

        @SoftFabricTest(latenessMillis = -1)
        void lateness() {}
    }

    @Test
    void shouldRefuseWhatCannotBeAndSayWhatCan() {
        run(Impossible.class)
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
                        "@SoftFabricTest(devices = 0): it must be from 1 to 254",
                        "@SoftFabricTest(devices = -1): it must be from 1 to 254",
                        "@SoftFabricTest(devices = 300): it must be from 1 to 254",
                        "@SoftFabricTest(loss = 5.0): it must be from 0 to 1",
                        "@SoftFabricTest(duplication = -0.1): it must be from 0 to 1",
                        "@SoftFabricTest(reordering = 1.1): it must be from 0 to 1",
                        "@SoftFabricTest(corruption = NaN): it must be from 0 to 1",
                        "@SoftFabricTest(delay = Infinity): it must be from 0 to 1",
                        "@SoftFabricTest(latenessMillis = -1): it must be from 0 to 2147483647");
    }
}
