package org.jrdma.sisci.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.abi.sisci.sisci_h;
import org.junit.jupiter.api.Test;

class SisciErrorSharedCodeTest {

    @Test
    void shouldDeriveTheMeaningOfASharedCodeFromTheFunction() {
        var code = sisci_h.SCI_ERR_NO_SUCH_SEGMENT();

        assertThat(SisciError.of("SCIConnectSegment", code)).isEqualTo(SisciError.NO_SUCH_SEGMENT);
        assertThat(SisciError.of("SCIConnectDataInterrupt", code))
                .isEqualTo(SisciError.NO_SUCH_INTERRUPT);
        code = sisci_h.SCI_ERR_SEGMENTID_USED();
        assertThat(SisciError.of("SCICreateSegment", code)).isEqualTo(SisciError.SEGMENT_ID_USED);
        assertThat(SisciError.of("SCICreateInterrupt", code))
                .isEqualTo(SisciError.INTERRUPT_NUMBER_USED);
    }
}
