/** The cost of passwords' hashes in tests: a real one would take most of the time of many. */
export const CHEAP_N = 2 ** 10;
