/** SQL: it is about money that no payment here explained when it was reported. It is the condition of indexes. */
export const IS_UNKNOWN = "kind IN ('unknown_movement', 'unknown_payment')";
