package org.jrdma.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jrdma.ffi.guard.CallGuard;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Tests the close of an object during a guarded call whose {@code enter()} becomes visible late to
 * the closing thread. The store of {@code enter()} waits in the store buffer behind stores to cache
 * lines that the closing thread owns. The closing thread executes only the steps that {@link
 * CallGuard} requires of a close. If the guard had no barrier, this test would fail within seconds.
 */
@JCStressTest
@State
@Outcome(id = "0", expect = ACCEPTABLE, desc = "The call used live memory.")
@Outcome(id = "2", expect = ACCEPTABLE, desc = "The call was rejected.")
@Outcome(expect = FORBIDDEN, desc = "The call used freed memory.")
public class CloseDuringDelayedEnter {

    private static final int LINES = 48;
    private static final int LINE = 64 / Long.BYTES;
    private static final long[] SHARED_LINES = new long[(LINES + 1) * LINE];
    private static final VarHandle LINE_START = MethodHandles.arrayElementVarHandle(long[].class);

    private static final VarHandle CLOSED;
    private static final VarHandle CONTENT;

    static {
        try {
            var lookup = MethodHandles.lookup();
            CLOSED = lookup.findVarHandle(CloseDuringDelayedEnter.class, "closed", int.class);
            CONTENT = lookup.findVarHandle(CloseDuringDelayedEnter.class, "content", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // Accessed through CLOSED.
    private volatile int closed;

    @SuppressWarnings("unused") // Accessed through CONTENT.
    private int content = SimulatedNativeMemory.ALIVE;

    @Actor
    public void call(I_Result result) {
        var guard = CallGuard.ofCurrentThread();
        storeIntoSharedLines();
        guard.enter();
        result.r1 =
                (int) CLOSED.getOpaque(this) != 0
                        ? SimulatedNativeMemory.NOT_USED
                        : (int) CONTENT.getOpaque(this);
        guard.exit();
    }

    @Actor
    public void close() {
        storeIntoSharedLines();
        CLOSED.setVolatile(this, 1);
        CallGuard.awaitCallsInFlight();
        CONTENT.setOpaque(this, SimulatedNativeMemory.FREED);
    }

    private static void storeIntoSharedLines() {
        for (var line = 1; line <= LINES; line++) {
            LINE_START.setOpaque(SHARED_LINES, line * LINE, 1L);
        }
    }
}
