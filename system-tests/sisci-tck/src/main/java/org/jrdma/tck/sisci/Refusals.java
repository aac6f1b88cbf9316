package org.jrdma.tck.sisci;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;

/** What the library says no to. */
final class Refusals {

    private Refusals() {}

    static void refuses(SisciError error, ThrowingCallable call) {
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(call)
                .extracting(SisciException::error)
                .isEqualTo(error);
    }
}
