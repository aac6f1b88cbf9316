package org.jrdma.volume.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReopeningDriveTest {

    private final Arena arena = Arena.ofConfined();
    private final List<MemoryDrive> opened = new ArrayList<>();
    private boolean isLent = true;
    private long blocks = 8;
    private String serialNumber = "1";
    private final ReopeningDrive drive;

    ReopeningDriveTest() throws FabricException {
        drive = new ReopeningDrive(this::open);
    }

    private Drive open() throws VolumeException {
        if (!isLent) {
            throw new VolumeException("not lent on purpose");
        }
        var number = serialNumber;
        opened.add(
                new MemoryDrive(blocks) {
                    @Override
                    public String serialNumber() {
                        return number;
                    }
                });
        return opened.getLast();
    }

    @AfterEach
    void close() {
        drive.close();
        arena.close();
    }

    private void write() throws FabricException {
        drive.write(1, arena.allocate(Drive.BLOCK_BYTES));
    }

    @Test
    void shouldOpenADriveThatWasLost() throws FabricException {
        write();
        opened.getFirst().fail(true);
        assertThatThrownBy(this::write).hasMessageContaining("on purpose");
        isLent = false;
        assertThatThrownBy(this::write).hasMessageContaining("not lent");
        assertThatThrownBy(this::write).hasMessageContaining("not lent");
        isLent = true;
        write();
        write();

        assertThat(opened).hasSize(2);
        assertThat(drive.blocks()).isEqualTo(8);
    }

    @Test
    void shouldKeepADriveThatFailsAnAccessAndCanBeRead() throws FabricException {
        opened.getFirst().fail(true);
        assertThatThrownBy(this::write).hasMessageContaining("on purpose");
        opened.getFirst().fail(false);
        write();

        assertThat(opened).hasSize(1);
    }

    @Test
    void shouldRejectADriveOfAnotherSize() throws FabricException {
        opened.getFirst().fail(true);
        assertThatThrownBy(this::write).hasMessageContaining("on purpose");
        blocks = 9;
        assertThatThrownBy(this::write)
                .hasMessageContaining("has 9 blocks")
                .hasMessageContaining("has 8");
        blocks = 8;
        write();
    }

    @Test
    void shouldRejectADriveWithOtherContent() throws FabricException {
        opened.getFirst().fail(true);
        assertThatThrownBy(this::write).hasMessageContaining("on purpose");
        serialNumber = "2";
        assertThatThrownBy(this::write)
                .hasMessageContaining("the serial number \"2\"")
                .hasMessageContaining("has 8 and \"1\"");
        serialNumber = "1";
        write();
    }

    @Test
    void shouldRejectAccessesAfterItWasClosed() {
        drive.close();
        assertThatThrownBy(this::write).isInstanceOf(IllegalStateException.class);
        assertThat(opened).hasSize(1);
    }
}
