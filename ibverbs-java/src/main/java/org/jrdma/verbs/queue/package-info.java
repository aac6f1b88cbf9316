/**
 * The implementation of queue pairs and completion queues: state transitions, slots and
 * dispatching. Not exported.
 */
@NullMarked
package org.jrdma.verbs.queue;

import org.jspecify.annotations.NullMarked;
