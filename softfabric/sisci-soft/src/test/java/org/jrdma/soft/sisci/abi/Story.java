package org.jrdma.soft.sisci.abi;

import java.io.IOException;
import java.util.List;
import java.util.function.Function;

/** An object of libsisci's that comes to a state, and what is tried with it there. */
interface Story extends AutoCloseable {

    /**
     * What stories can be told of an object.
     *
     * @param object its name in the table
     * @param states what it can come to
     * @param calls what can be tried in any of them
     * @param beginning makes one
     */
    record Kind(
            String object,
            List<String> states,
            List<String> calls,
            Function<ThreeNodes, Story> beginning) {

        Story begin(ThreeNodes nodes) {
            return beginning.apply(nodes);
        }

        @Override
        public String toString() {
            return object;
        }
    }

    /** Brings a new object to a state. */
    void reach(String state) throws Exception;

    /** Tries a call; the error's name. */
    String attempt(String call);

    /** Undoes whatever is there to undo. */
    @Override
    void close() throws IOException;
}
