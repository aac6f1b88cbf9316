package org.jrdma.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Tests that a call that holds a lifetime never uses freed memory, while another thread closes the
 * object that the call uses.
 */
@JCStressTest
@State
@Outcome(id = "0", expect = ACCEPTABLE, desc = "The call used live memory.")
@Outcome(id = "2", expect = ACCEPTABLE, desc = "The call was rejected.")
@Outcome(expect = FORBIDDEN, desc = "The call used freed memory.")
public class CloseDuringHold {

    private final SimulatedNativeMemory memory = new SimulatedNativeMemory();

    @Actor
    public void call(I_Result result) {
        try {
            memory.lifetime.hold();
        } catch (IllegalStateException _) {
            result.r1 = SimulatedNativeMemory.NOT_USED;
            return;
        }
        result.r1 = memory.use();
        memory.lifetime.release();
    }

    @Actor
    public void close() {
        memory.lifetime.close();
    }
}
