package org.jrdma.soft.sisci.abi;

import java.io.IOException;
import java.util.List;
import java.util.function.Function;

/**
 * An object of libsisci that a test brings to a state, and the calls that the test attempts in that
 * state.
 */
interface ObjectStateScenario extends AutoCloseable {

    /**
     * A kind of scenario.
     *
     * @param object the name of the object in the table
     * @param states the states that the object can reach
     * @param calls the calls to attempt in each state
     * @param factory the function that creates a scenario
     */
    record Kind(
            String object,
            List<String> states,
            List<String> calls,
            Function<ThreeNodes, ObjectStateScenario> factory) {

        ObjectStateScenario create(ThreeNodes nodes) {
            return factory.apply(nodes);
        }

        @Override
        public String toString() {
            return object;
        }
    }

    /** Brings a new object to a state. */
    void reach(String state) throws Exception;

    /** Attempts a call and returns the name of the error. */
    String attempt(String call);

    /** Removes all objects of the scenario. */
    @Override
    void close() throws IOException;
}
