/**
 * Checks the history of a volume: clients operate on files while a fault injector kills and stops
 * servers, and a checker explains each result.
 */
package org.jrdma.volume.history;
