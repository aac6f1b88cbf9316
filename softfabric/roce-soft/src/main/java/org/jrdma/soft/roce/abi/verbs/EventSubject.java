package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.soft.roce.abi.UnacknowledgedEvents;

/** What an asynchronous event may be about. */
interface EventSubject {

    /** Its events that are not acknowledged. */
    UnacknowledgedEvents asyncEvents();
}
