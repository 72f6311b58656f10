/*
 * A call to a gateway begins and ends within LONGEST_CALL_MS of its claim. After that everybody
 * believes that no call is under way: support may fail the payment, and "not found" counts.
 */

/** The bound. Until then a call without an answer may be going on. */
export const LONGEST_CALL_MS = 30_000;
/** An older claim is not called. Its worker was frozen, or waited long for the database. */
export const MAX_CLAIM_AGE_MS = 5_000;
/** A call that is given up ends so much later at the latest, on a busy machine too. */
const GIVING_UP_MS = 5_000;

/** The longest that `GATEWAY_TIMEOUT_MS` may be, so that all three fit into the bound. */
export const MAX_GATEWAY_TIMEOUT_MS = LONGEST_CALL_MS - MAX_CLAIM_AGE_MS - GIVING_UP_MS;
