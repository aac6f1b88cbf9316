package org.jrdma.soft.roce.abi;

/** What a context owns and destroys when it is closed. */
interface Owned {

    /**
     * Destroys it and takes its structure back.
     *
     * @throws Refusal if others need it
     */
    void destroy();
}
