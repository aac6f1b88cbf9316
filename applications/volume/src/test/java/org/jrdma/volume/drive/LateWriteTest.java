package org.jrdma.volume.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests writes that fail while the controller does not respond. The controller executes them when
 * it responds again, as it does after its link was cut and restored.
 */
@Timeout(60)
class LateWriteTest {

    private static final int BLOCKS = 1024;
    private static final int BLOCK = 7;

    private final BlockStorage storage = BlockStorage.inMemory(BLOCKS, Drive.BLOCK_BYTES);
    private final Subsystem subsystem = new Subsystem("serial", "test drive");
    private final StoppableNvmeHost host;
    private final StoppableNvmeHost other;

    LateWriteTest() throws FabricException {
        var _ = subsystem.addNamespace(storage);
        host = new StoppableNvmeHost(subsystem);
        other = new StoppableNvmeHost(subsystem);
    }

    @AfterEach
    void close() {
        host.close();
        other.close();
        storage.close();
    }

    private static MemorySegment block(int value) {
        return Arena.ofAuto().allocate(Drive.BLOCK_BYTES).fill((byte) value);
    }

    private static int read(StoppableNvmeHost host) throws FabricException {
        var memory = block(0);
        host.drive().read(BLOCK, memory);
        return memory.get(ValueLayout.JAVA_BYTE, 0);
    }

    private void failToWrite(int value) throws FabricException {
        host.drive().write(BLOCK, block(0)); // creates the queue
        host.stop();
        assertThatThrownBy(() -> host.drive().write(BLOCK, block(value)))
                .isInstanceOf(FabricException.class);
    }

    @Test
    void shouldTakeNoEffectAfterTheNodeWasExcluded() throws Exception {
        host.drive().fence().register(1);
        other.drive().fence().lead(2, 0);
        failToWrite(1);

        assertThat(other.drive().fence().exclude(1)).isTrue();
        other.drive().write(BLOCK, block(2));
        host.resume();
        Thread.sleep(300); // the controller executes the pending write

        assertThat(read(other)).isEqualTo(2);
    }

    @Test
    void shouldPreventTheRegistrationUntilTheDriveIsOpenedAgain() throws Exception {
        failToWrite(1);
        host.resume();

        assertThatThrownBy(() -> host.drive().fence().register(1))
                .hasMessageContaining("may still execute a write");
        assertThatThrownBy(() -> read(host)).hasMessageContaining("may still execute a write");
        try (var again = new StoppableNvmeHost(subsystem)) {
            assertThatCode(() -> again.drive().fence().register(1)).doesNotThrowAnyException();
        }
    }

    @Test
    void shouldNotDelayOtherAccessesIfOnlyAReadWasPending() throws Exception {
        host.drive().write(BLOCK, block(1));
        host.stop();
        assertThatThrownBy(() -> read(host)).isInstanceOf(FabricException.class);
        host.resume();

        assertThat(read(host)).isEqualTo(1);
    }
}
