package org.jrdma.tck.sisci;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;

/** Assertions about errors of the library. */
final class SisciAssertions {

    private SisciAssertions() {}

    static void assertFails(SisciError error, ThrowingCallable call) {
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(call)
                .extracting(SisciException::error)
                .isEqualTo(error);
    }
}
