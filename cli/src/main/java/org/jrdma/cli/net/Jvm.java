package org.jrdma.cli.net;

/**
 * A JVM that runs on this machine.
 *
 * @param pid the process ID in this PID namespace
 * @param program the main class, module or jar; empty if the command line does not show it
 * @param isOfThisUser true if the caller's user owns the process
 * @param user the owner
 * @param isContained true if the process is in a child PID namespace, such as a container
 */
record Jvm(long pid, String program, boolean isOfThisUser, String user, boolean isContained) {}
