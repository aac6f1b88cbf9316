package org.jrdma.sisci.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.sisci.model.SequenceStatus;
import org.junit.jupiter.api.Test;

class StoreFunctionsStatusTest {

    @Test
    void shouldNumberStatusesAsInC() {
        assertThat(StoreFunctions.statusOf(sisci_h.SCI_SEQ_OK())).isEqualTo(SequenceStatus.OK);
        assertThat(StoreFunctions.statusOf(sisci_h.SCI_SEQ_RETRIABLE()))
                .isEqualTo(SequenceStatus.RETRIABLE);
        assertThat(StoreFunctions.statusOf(sisci_h.SCI_SEQ_NOT_RETRIABLE()))
                .isEqualTo(SequenceStatus.NOT_RETRIABLE);
        assertThat(StoreFunctions.statusOf(sisci_h.SCI_SEQ_PENDING()))
                .isEqualTo(SequenceStatus.PENDING);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> StoreFunctions.statusOf(4));
    }
}
