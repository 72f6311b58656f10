/** Time to record an answer after the longest wait for it, even through a short outage. */
export const RECORDING_MARGIN_MS = 5_000;

/** Waits that a process may have begun when it is told to stop, and must be able to finish. */
const MUST_FIT = [
  ['GATEWAY_TIMEOUT_MS'],
  ['WEBHOOK_TIMEOUT_MS'],
  ['DRAIN_DELAY_MS', 'REVERSAL_WAIT_MS'],
] as const;

type Time = (typeof MUST_FIT)[number][number] | 'SHUTDOWN_TIMEOUT_MS';

/** Returns a line for each wait that does not fit into the time that a stopping process has. */
export function shutdownProblems(timeOf: (name: Time) => number): string[] {
  return MUST_FIT.filter((names) => {
    const neededMs = names.reduce((sum, name) => sum + timeOf(name), RECORDING_MARGIN_MS);
    return neededMs > timeOf('SHUTDOWN_TIMEOUT_MS');
  }).map(
    (names) =>
      `${names.join(' and ')} and ${RECORDING_MARGIN_MS} ms to record the outcome must fit into SHUTDOWN_TIMEOUT_MS together`,
  );
}
