/** The functions of libsisci, linked, each with its conventions; nothing of policy. */
@NullMarked
package org.jrdma.sisci.internal;

import org.jspecify.annotations.NullMarked;
