package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaConnectResultTest {

    @Test
    void shouldReturnTheIdOfTheController() throws FabricException {
        assertThat(RdmaConnector.controllerId("the drive", 0x1_fffe)).isEqualTo(0xfffe);
    }

    @ParameterizedTest
    @ValueSource(longs = {1 << 17 | 5, 1 << 18 | 5, 3 << 17 | 5})
    void shouldRefuseATargetThatAsksForAuthentication(long result) {
        assertThatThrownBy(() -> RdmaConnector.controllerId("the drive", result))
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("the drive asks for authentication (DH-HMAC-CHAP)");
    }
}
