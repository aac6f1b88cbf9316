/**
 * Communication management: how queue pairs of two machines find each other, by the messages that
 * adapters exchange for it, with the header that librdmacm adds. Like the engine: no thread, socket
 * or C structure, and a clock that its caller turns.
 */
@NullMarked
package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.NullMarked;
