package org.jrdma.nvme.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

class MappedRegistersTest {

    /** The capabilities that QEMU 7.2 reports. */
    private static final long QEMU = 0x0040_1820_0f01_07ffL;

    @Test
    void shouldDecodeCapabilitiesOfQemu() {
        var capabilities = Capabilities.decode(QEMU);
        assertThat(capabilities).isEqualTo(new Capabilities(2048, true, 7500, 4, true, 12, 16));
    }

    @Test
    void shouldEncodeCapabilities() {
        var capabilities = new Capabilities(1024, true, 2000, 16, true, 12, 14);
        assertThat(Capabilities.decode(capabilities.encode())).isEqualTo(capabilities);
    }

    @Test
    void shouldEncodeTheConfigurationThatStartsAController() {
        assertThat(Configuration.ENABLED.encode()).isEqualTo(0x0046_0001);
        assertThat(Configuration.ENABLED.shutdown(Configuration.NORMAL_SHUTDOWN).encode())
                .isEqualTo(0x0046_4001);
        assertThat(Configuration.ENABLED.enabled(false).encode()).isEqualTo(0x0046_0000);
        assertThat(Configuration.decode(0x0046_4001).shutdown()).isEqualTo(1);
    }

    @Test
    void shouldFindDoorbells() {
        assertThat(MappedRegisters.tailDoorbell(0, 4)).isEqualTo(0x1000);
        assertThat(MappedRegisters.headDoorbell(0, 4)).isEqualTo(0x1004);
        assertThat(MappedRegisters.tailDoorbell(3, 8)).isEqualTo(0x1030);
        assertThat(MappedRegisters.headDoorbell(3, 8)).isEqualTo(0x1038);
    }

    @Test
    void shouldStoreTheSizesOfAdminQueues() {
        var attributes = MappedRegisters.adminQueueAttributes(32, 4096);
        assertThat(attributes).isEqualTo(0x0fff_001f);
        assertThat(MappedRegisters.adminSubmissionEntries(attributes)).isEqualTo(32);
        assertThat(MappedRegisters.adminCompletionEntries(attributes)).isEqualTo(4096);
    }

    @Test
    void shouldStoreLittleEndianRegisters() {
        try (var arena = Arena.ofConfined()) {
            var registers = new MappedRegisters(arena.allocate(16, 8));
            registers.writeLong(0, 0x0102_0304_0506_0708L);
            assertThat(registers.read(0)).isEqualTo(0x0506_0708);
            assertThat(registers.read(4)).isEqualTo(0x0102_0304);
            registers.write(4, -1);
            assertThat(registers.readLong(0)).isEqualTo(0xffff_ffff_0506_0708L);
        }
    }
}
