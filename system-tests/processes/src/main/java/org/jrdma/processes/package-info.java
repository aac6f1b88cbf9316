/** Starts programs for tests and reads their output. */
package org.jrdma.processes;
