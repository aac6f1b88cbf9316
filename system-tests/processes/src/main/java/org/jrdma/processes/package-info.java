/** Starts programs for tests, reads their output, and finds free ports for them. */
package org.jrdma.processes;
