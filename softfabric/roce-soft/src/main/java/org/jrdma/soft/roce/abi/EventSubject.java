package org.jrdma.soft.roce.abi;

/** What an asynchronous event may be about. */
interface EventSubject {

    /** Its events that are not acknowledged. */
    EventCount asyncEvents();
}
