/** The start time of a running process, which tells it from a later one with its pid, or null. */
export function processIdentity(pid: number): string | null;
