package org.jrdma.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Tests that two threads can close the same object, and that both calls return only after the
 * memory was freed.
 */
@JCStressTest
@State
@Outcome(
        id = "1, 1",
        expect = ACCEPTABLE,
        desc = "Both calls of close() returned after the memory was freed.")
@Outcome(expect = FORBIDDEN, desc = "A call of close() returned before the memory was freed.")
public class CloseDuringClose {

    private final SimulatedNativeMemory memory = new SimulatedNativeMemory();

    @Actor
    public void close(II_Result result) {
        memory.lifetime.close();
        result.r1 = memory.use();
    }

    @Actor
    public void closeToo(II_Result result) {
        memory.lifetime.close();
        result.r2 = memory.use();
    }
}
