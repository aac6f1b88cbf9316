/**
 * The conformance kit for SISCI: JUnit classes that run on the software fabric and on hardware.
 *
 * <p>{@link org.jrdma.tck.sisci.FabricUnderTest} configures the fabric. An action of another node
 * or process is a {@link org.jrdma.tck.sisci.PeerTask} in the code of a test, and a {@link
 * org.jrdma.tck.sisci.Peer} runs it.
 */
@NullMarked
package org.jrdma.tck.sisci;

import org.jspecify.annotations.NullMarked;
