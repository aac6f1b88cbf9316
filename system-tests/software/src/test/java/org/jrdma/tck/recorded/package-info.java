/**
 * Tests of features that no test device supports. The tests run on a libibverbs written in C that
 * records the calls of each function and returns the results that the test has set. These features
 * were not run on hardware.
 */
package org.jrdma.tck.recorded;
