package org.jrdma.sisci.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.abi.sisci.sisci_h;
import org.junit.jupiter.api.Test;

/** Tests that no exception leaves a function that libsisci calls. */
class CallbackGuardTest {

    private static final MethodType TYPE = MethodType.methodType(int.class, long.class, int.class);

    @SuppressWarnings("unused") // Called through a method handle.
    private static int failing(long key, int status) {
        throw new OutOfMemoryError("thrown by the callback, on purpose");
    }

    @SuppressWarnings("unused") // Called through a method handle.
    private static int canceling(long key, int status) {
        return sisci_h.SCI_CALLBACK_CANCEL();
    }

    private static int call(String name) throws Throwable {
        var function = MethodHandles.lookup().findStatic(CallbackGuardTest.class, name, TYPE);
        return (int) Callbacks.guarded(function).handle().invokeExact(1L, 2);
    }

    @Test
    void shouldContinueAfterAnError() throws Throwable {
        assertThat(call("failing")).isEqualTo(sisci_h.SCI_CALLBACK_CONTINUE());
    }

    @Test
    void shouldReturnTheResultOfTheFunction() throws Throwable {
        assertThat(call("canceling")).isEqualTo(sisci_h.SCI_CALLBACK_CANCEL());
    }
}
