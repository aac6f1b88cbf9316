package org.jrdma.soft.sisci.device;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the device edu on a host in this process, through the registers that borrowers use. */
@Timeout(30)
class EduDeviceTest {

    private static final VarHandle INT = JAVA_INT.varHandle();
    private static final int FIRST = 1;
    private static final int SECOND = 2;
    private static final long BUFFER = 0x40000;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment registers = arena.allocate(4096, 4096);
    private final MemorySegment memory = arena.allocate(8192, 4096);
    private DeviceHost host;

    @BeforeEach
    void start() {
        host = DeviceHost.start(new EduDevice(), List.of(registers));
        host.attach(FIRST);
    }

    @AfterEach
    void stop() {
        host.close();
        arena.close();
    }

    private int read(int register) {
        return (int) INT.getAcquire(registers, (long) register);
    }

    private void write(int register, int value) {
        INT.setRelease(registers, (long) register, value);
    }

    private static void await(BooleanSupplier condition) {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(deadline - System.nanoTime()).as("time left to wait").isPositive();
            Thread.onSpinWait();
        }
    }

    private int copy(long source, long destination, long bytes, int flags) {
        registers.set(JAVA_LONG, 0x80, source);
        registers.set(JAVA_LONG, 0x88, destination);
        registers.set(JAVA_LONG, 0x90, bytes);
        write(0x98, 1 | flags);
        await(() -> (read(0x98) & 1) == 0);
        return read(0x98);
    }

    @Test
    void shouldIdentifyItselfAndInvertTheLivenessValue() {
        assertThat(read(0)).isEqualTo(0x010000ed);
        write(0x04, 0x12345678);
        await(() -> read(0x0c) == ~0x12345678);
    }

    @Test
    void shouldComputeFactorialsModuloTwoToThe32() {
        for (var operand : new int[] {0, 1, 5, 12, 13, 33, 34, -1}) {
            write(0x08, operand);
            write(0x20, 1);
            await(() -> read(0x20) == 0);
            var expected = 1;
            for (var i = 1; i <= Math.min(Integer.toUnsignedLong(operand), 40); i++) {
                expected *= i;
            }
            assertThat(read(0x08)).as("factorial of %d", operand).isEqualTo(expected);
        }
    }

    @Test
    void shouldCopyMemoryToItsBufferAndBack() {
        var source = host.map(FIRST, memory.asSlice(0, 4096), DeviceHost.Signal.NONE);
        var target = host.map(FIRST, memory.asSlice(4096, 4096), DeviceHost.Signal.NONE);
        memory.asSlice(0, 4096).fill((byte) 0x5a);
        assertThat(copy(source, BUFFER, 4096, 0)).isZero();
        assertThat(copy(BUFFER, target, 4096, 2)).isEqualTo(2);
        assertThat(memory.asSlice(4096, 4096).mismatch(memory.asSlice(0, 4096))).isEqualTo(-1);
        assertThat(host.refusedAccesses()).isZero();
    }

    @Test
    void shouldRefuseDmaOutsideTheMappedMemoryAndLeaveItsNeighborUntouched() {
        var address = host.map(FIRST, memory.asSlice(0, 4096), DeviceHost.Signal.NONE);
        var _ = copy(BUFFER, address, 8, 2);
        for (var target :
                new long[] {
                    0,
                    8,
                    address - 8,
                    address + 4092,
                    address + 4096,
                    -8,
                    Long.MIN_VALUE,
                    address + (1L << 40),
                    255L << 40,
                    Long.MAX_VALUE
                }) {
            assertThat(copy(BUFFER, target, 8, 2)).as("to 0x%x", target).isEqualTo(2 | 8);
        }
        assertThat(host.refusedAccesses()).isEqualTo(10);
        assertThat(copy(address, BUFFER + 4090, 8, 0)).isEqualTo(8);
        assertThat(copy(address, BUFFER, -1, 0)).isEqualTo(8);
        assertThat(copy(address, Long.MIN_VALUE, 8, 0)).isEqualTo(8);
        assertThat(copy(address, BUFFER, 8, 0)).isZero();
    }

    @Test
    void shouldSignalInterruptsByStoresIntoMappedMemory() throws Exception {
        var signals = new LinkedBlockingQueue<Long>();
        var address = host.map(FIRST, memory.asSlice(0, 4096), signals::add);
        registers.set(JAVA_LONG, 0xa0, address + 16);
        write(0xa8, 77);
        write(0x08, 5);
        write(0x20, 1 | 0x80);
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isEqualTo(16);
        assertThat(memory.get(JAVA_INT, 16)).isEqualTo(77);
        assertThat(read(0x24)).isEqualTo(1);
        assertThat(read(0x08)).isEqualTo(120);
        write(0x64, 1);
        await(() -> read(0x24) == 0);
        write(0x60, 0x30);
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isEqualTo(16);
        assertThat(read(0x24)).isEqualTo(0x30);
    }

    @Test
    void shouldNotAccessMemoryAfterItWasUnmapped() {
        var address = host.map(FIRST, memory.asSlice(0, 4096), DeviceHost.Signal.NONE);
        host.unmap(FIRST, address);
        assertThat(copy(BUFFER, address, 8, 2) & 8).isEqualTo(8);
        assertThatThrownBy(() -> host.unmap(FIRST, address))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("mapped no memory");
        var next = host.map(FIRST, memory.asSlice(0, 4096), DeviceHost.Signal.NONE);
        assertThat(next).isGreaterThan(address);
    }

    @Test
    void shouldReachTheMemoryOfEachBorrowerOnlyUntilThatBorrowerIsDetached() {
        host.attach(SECOND);
        var first = host.map(FIRST, memory.asSlice(0, 4096), DeviceHost.Signal.NONE);
        var second = host.map(SECOND, memory.asSlice(4096, 4096), DeviceHost.Signal.NONE);
        assertThatThrownBy(() -> host.unmap(SECOND, first))
                .isInstanceOf(IllegalStateException.class);
        host.detach(FIRST);
        assertThat(copy(BUFFER, first, 8, 2) & 8).isEqualTo(8);
        assertThat(copy(BUFFER, second, 8, 2)).isEqualTo(2);
        assertThatThrownBy(() -> host.map(FIRST, memory.asSlice(0, 4096), DeviceHost.Signal.NONE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not attached");
    }

    @Test
    void shouldResetItsRegistersWhenTheLastBorrowerIsDetached() {
        write(0xa8, 5);
        host.detach(FIRST);
        assertThat(read(0xa8)).isZero();
        assertThat(read(0)).isEqualTo(0x010000ed);
    }

    @Test
    void shouldRejectMemoryThatIsEmptyOrMisaligned() {
        assertThatThrownBy(() -> host.map(FIRST, memory.asSlice(4, 64), DeviceHost.Signal.NONE))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> host.map(FIRST, memory.asSlice(0, 0), DeviceHost.Signal.NONE))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRejectBarsThatTheModelDoesNotHave() {
        assertThatThrownBy(() -> DeviceHost.start(new EduDevice(), List.of(memory)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("4096");
    }
}
