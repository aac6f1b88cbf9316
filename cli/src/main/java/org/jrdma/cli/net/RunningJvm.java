package org.jrdma.cli.net;

/**
 * A JVM that runs on this machine.
 *
 * @param pid the process ID in this PID namespace
 * @param program the main class, module or jar; empty if the command line does not contain it
 * @param isOfThisUser true if the process belongs to the user that runs this command
 * @param user the name of the user that the process belongs to
 * @param isContained true if the process is in a child PID namespace, such as a container
 */
record RunningJvm(
        long pid, String program, boolean isOfThisUser, String user, boolean isContained) {}
