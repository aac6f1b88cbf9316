/**
 * The implementation of queue pairs and completion queues: creation, state transitions, slots of
 * requests, and dispatching of completions. Not exported.
 */
@NullMarked
package org.jrdma.verbs.queue;

import org.jspecify.annotations.NullMarked;
