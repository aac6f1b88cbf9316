/**
 * The floor below the API: one class for each part of libibverbs, in which each function's linkage
 * and error convention is stated once. No policy, and nothing that a user sees.
 */
@NullMarked
package org.jrdma.verbs.internal;

import org.jspecify.annotations.NullMarked;
