package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.flow.FlowCounters;
import org.jrdma.verbs.flow.FlowRule;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.AlternatePath;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.MigrationState;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.StaticRate;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which values options accept, and that changed copies keep all other options. */
class OptionsTest {

    private final FakeLibrary library = new FakeLibrary();
    private Device device;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private QueuePairOptions<PolledQueuePair> queuePair;

    @BeforeEach
    void open() throws Exception {
        device = Verbs.from(library).openFirst();
        domain = device.newProtectionDomain();
        completions = device.newCompletionQueue(16);
        queuePair = QueuePairOptions.reliable(completions);
    }

    @AfterEach
    void close() {
        device.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void shouldRejectACapacityBelowOne(int capacity) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CompletionQueueOptions.capacity(capacity))
                .withMessage(
                        "The capacity of a completion queue must be at least 1, but is "
                                + capacity);
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, (1 << 22) + 1, Integer.MAX_VALUE})
    void shouldRejectAnImpossibleNumberOfRequests(int count) throws Exception {
        assertRejected("number of sends", 1 << 22, count, queuePair::sends);
        assertRejected("number of receives", 1 << 22, count, queuePair::receives);
        assertRejected("number of receives", 1 << 22, count, domain::newPolledSharedReceiveQueue);
        assertRejected("number of receives", 1 << 22, count, domain::newAsyncSharedReceiveQueue);
        var polled = domain.newPolledSharedReceiveQueue(4);
        var async = domain.newAsyncSharedReceiveQueue(4);
        assertRejected(
                "number of receives",
                1 << 22,
                count,
                size -> {
                    polled.resize(size);
                    return polled;
                });
        assertRejected(
                "number of receives",
                1 << 22,
                count,
                size -> {
                    async.resize(size);
                    return async;
                });

        assertThat(polled.capacity()).isEqualTo(4);
        assertThat(async.capacity()).isEqualTo(4);
        polled.resize(8);
        async.resize(8);
        assertThat(polled.freeReceives()).isEqualTo(8);
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, (1 << 16) + 1, Integer.MAX_VALUE})
    void shouldRejectAnImpossibleNumberOfElements(int count) {
        assertRejected("number of send elements", 1 << 16, count, queuePair::sendElements);
        assertRejected("number of receive elements", 1 << 16, count, queuePair::receiveElements);
        assertRejected(
                "number of slices",
                1 << 16,
                count,
                elements ->
                        domain.newPolledSharedReceiveQueue(
                                SharedReceiveQueueOptions.capacity(1).elements(elements)));
        assertRejected(
                "number of slices",
                1 << 16,
                count,
                elements ->
                        domain.newAsyncSharedReceiveQueue(
                                SharedReceiveQueueOptions.capacity(1).elements(elements)));
        assertRejected("batch size", 1 << 16, count, completions::newCursor);
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, (1 << 30) + 1, Integer.MAX_VALUE})
    void shouldRejectImpossibleParametersOfAChannel(int count) {
        var channel = RdmaChannelOptions.DEFAULT;

        assertRejected("number of message bytes", 1 << 30, count, channel::messageBytes);
        assertRejected("number of messages", 1 << 16, count, channel::window);
        assertRejected("number of operations", 1 << 16, count, channel::operations);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, (1L << 57) + 1, Long.MAX_VALUE})
    void shouldRejectAnImpossibleSizeOfMemory(long bytes) throws Exception {
        var arena = domain.newArena(Access.LOCAL_WRITE);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> arena.region(bytes))
                .withMessage(
                        "The number of bytes must be between 1 and 144115188075855872: " + bytes);
        assertThatIllegalArgumentException().isThrownBy(() -> arena.allocate(bytes, 8));
        assertThatIllegalArgumentException().isThrownBy(() -> arena.allocate(bytes, 1L << 40));
        assertThatIllegalArgumentException().isThrownBy(() -> arena.allocate(8, bytes));
        assertThat(library.calls).doesNotContain("ibv_reg_mr");
    }

    @Test
    void shouldLeaveTheLimitsOfTheDeviceToItsDriver() throws Exception {
        library.answer("ibv_create_cq", MemorySegment.NULL, Errno.EINVAL);
        library.answer("ibv_create_qp", MemorySegment.NULL, Errno.EINVAL);
        var options = queuePair.inlineBytes(Integer.MAX_VALUE);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> device.newCompletionQueue(Integer.MAX_VALUE))
                .withMessageStartingWith("ibv_create_cq failed for 2,147,483,647 completions");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> domain.newQueuePair(options))
                .withMessageStartingWith("ibv_create_qp failed for ");
    }

    /** Creates options, or returns a changed copy of options. */
    private interface Factory {
        Object make(int value) throws Exception;
    }

    private static void assertRejected(String name, int most, int value, Factory factory) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> factory.make(value))
                .withMessage("The %s must be between 1 and %d: %d".formatted(name, most, value));
    }

    @Test
    void shouldRejectANegativeCompletionVector() {
        var options = CompletionQueueOptions.capacity(16);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.vector(-1))
                .withMessage("The completion vector must not be negative, but is -1");
    }

    @Test
    void shouldRejectAMissingTimeout() {
        var receives = SharedReceiveQueueOptions.capacity(1);

        assertThatNullPointerException().isThrownBy(() -> receives.slotTimeout(null));
        assertThatNullPointerException().isThrownBy(() -> queuePair.slotTimeout(null));
    }

    @Test
    void shouldKeepOptionsThatWereSetBefore() {
        var fields = EnumSet.of(CompletionField.BYTES, CompletionField.TIMESTAMP);
        var all =
                CompletionQueueOptions.capacity(16)
                        .fields(fields)
                        .ignoreOverrun()
                        .singleThreadedUnguarded()
                        .waitableForSolicited()
                        .vector(3);
        var reversed =
                CompletionQueueOptions.capacity(16)
                        .vector(3)
                        .waitableForSolicited()
                        .singleThreadedUnguarded()
                        .ignoreOverrun()
                        .fields(fields);

        assertThat(all.config())
                .isEqualTo(reversed.config())
                .isEqualTo(
                        new NativeCompletionQueue.Config(
                                16, true, true, 3, true, fields, true, true, null));
        assertThat(all.waitable().config())
                .isEqualTo(
                        new NativeCompletionQueue.Config(
                                16, true, false, 3, true, fields, true, true, null));
        assertThat(CompletionQueueOptions.capacity(16).config())
                .isEqualTo(
                        new NativeCompletionQueue.Config(
                                16,
                                false,
                                false,
                                0,
                                false,
                                CompletionField.STANDARD,
                                false,
                                false,
                                null));
    }

    @Test
    void shouldUseAnExtendedQueueOnlyIfAnOptionRequiresIt() {
        assertThat(baseOptions().config().extended()).isFalse();
        assertThat(baseOptions().fields()).isEqualTo(CompletionField.STANDARD);
        assertThat(baseOptions().fields(Set.of()).config().extended()).isTrue();
        assertThat(baseOptions().fields(Set.of()).fields()).isEmpty();
        assertThat(baseOptions().ignoreOverrun().config().extended()).isTrue();
        assertThat(baseOptions().ignoreOverrun().fields()).isEqualTo(CompletionField.STANDARD);
        assertThat(baseOptions().singleThreadedUnguarded().config().extended()).isTrue();
    }

    @Test
    void shouldReturnACopyAndKeepTheOptions() {
        var base = baseOptions();
        var before = base.config();

        var _ = base.waitable().vector(7).fields(Set.of()).ignoreOverrun();

        assertThat(base.config()).isEqualTo(before);
    }

    @Test
    void shouldKeepTheDefaultOptionsOfAConnection() {
        var before = DirectConnectOptions.DEFAULT.toInit(QueuePairType.RELIABLE_CONNECTION, 1);

        var changed = DirectConnectOptions.DEFAULT.partitionKeyIndex(3).access();

        assertThat(changed.toInit(QueuePairType.RELIABLE_CONNECTION, 1))
                .hasToString("{STATE=INIT, ACCESS=[], PARTITION_KEY_INDEX=3, PORT=1}");
        assertThat(DirectConnectOptions.DEFAULT.toInit(QueuePairType.RELIABLE_CONNECTION, 1))
                .hasToString(before.toString());
    }

    @Test
    void shouldKeepAQueuePairChange() {
        var change = QueuePairChange.to(QueuePairState.INIT).port(1);

        var other = change.port(2).partitionKeyIndex(3);

        assertThat(change).hasToString("{STATE=INIT, PORT=1}");
        assertThat(other).hasToString("{STATE=INIT, PARTITION_KEY_INDEX=3, PORT=2}");
    }

    /** A copy constructor that omits a field would silently drop an option. */
    @Test
    void shouldKeepAllOtherOptionsInACopy() throws Exception {
        for (var options :
                List.of(
                        queuePair,
                        baseOptions(),
                        DirectConnectOptions.DEFAULT,
                        ConnectionOptions.of(queuePair),
                        RdmaChannelOptions.DEFAULT.retries(3),
                        FlowRule.matching(),
                        QueuePairChange.ofAttributes())) {
            var with = options.getClass().getDeclaredMethod("with", Consumer.class);
            with.setAccessible(true);
            // Changes a copy, so that the default options stay as they are.
            Consumer<Object> change = this::changeAllFields;
            var changed = with.invoke(options, change);
            Consumer<Object> nothing = _ -> {};
            var copy = with.invoke(changed, nothing);

            assertThat(copy).isNotSameAs(changed);
            for (var field : fields(options)) {
                assertThat(field.get(copy)).as(field.toString()).isEqualTo(field.get(changed));
            }
        }
    }

    private static List<Field> fields(Object options) {
        var fields =
                Stream.of(options.getClass().getDeclaredFields())
                        .filter(field -> !Modifier.isStatic(field.getModifiers()))
                        .toList();
        fields.forEach(field -> field.setAccessible(true));
        return fields;
    }

    /** Gives each field a value that it does not have in new options. */
    private void changeAllFields(Object options) {
        try {
            for (var field : fields(options)) {
                var before = field.get(options);
                if (before instanceof EnumSet<?> set) {
                    addAll(set);
                } else if (!Modifier.isFinal(field.getModifiers())) {
                    field.set(options, changed(field, before));
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static <E extends Enum<E>> void addAll(EnumSet<E> set) {
        set.addAll(EnumSet.complementOf(set));
    }

    private Object changed(Field field, Object before) throws Exception {
        var type = field.getType();
        if (type == boolean.class) {
            return !(boolean) before;
        }
        if (type == int.class) {
            return (int) before + 1;
        }
        if (before != null) {
            return null;
        }
        var address = new AddressVector(1, 2, 0, 0, StaticRate.UNLIMITED, Optional.empty());
        var values =
                List.of(
                        Set.of(),
                        QueuePairState.INIT,
                        MigrationState.REARM,
                        address,
                        new AlternatePath(address, 3, Duration.ofSeconds(7)),
                        domain,
                        domain.newPolledSharedReceiveQueue(4),
                        Mtu.BYTES_512,
                        Duration.ofSeconds(7),
                        new InetSocketAddress(7));
        return type == FlowCounters.class
                ? null // counters exist only on a device that supports them; FlowTest sets them
                : values.stream().filter(type::isInstance).findFirst().orElseThrow();
    }

    private static CompletionQueueOptions baseOptions() {
        return CompletionQueueOptions.capacity(16).waitableForSolicited().vector(3);
    }
}
