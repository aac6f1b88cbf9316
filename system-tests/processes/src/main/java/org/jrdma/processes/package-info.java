/** Programs that tests start and watch. */
package org.jrdma.processes;
