/** What comes after the longest wait: an answer is recorded, through a short outage if need be. */
export const RECORDING_MARGIN_MS = 5_000;

interface Times {
  GATEWAY_TIMEOUT_MS: number;
  WEBHOOK_TIMEOUT_MS: number;
  REVERSAL_WAIT_MS: number;
  DRAIN_DELAY_MS: number;
  SHUTDOWN_TIMEOUT_MS: number;
}

/** What a process may have begun when it is told to stop, and must be able to finish. */
const MUST_FIT: readonly (keyof Times)[][] = [
  ['GATEWAY_TIMEOUT_MS'],
  ['WEBHOOK_TIMEOUT_MS'],
  ['DRAIN_DELAY_MS', 'REVERSAL_WAIT_MS'],
];

/** One line for each thing that could not be finished before a stopping process is cut off. */
export function shutdownProblems(times: Times): string[] {
  return MUST_FIT.filter((names) => {
    const neededMs = names.reduce((sum, name) => sum + times[name], RECORDING_MARGIN_MS);
    return neededMs > times.SHUTDOWN_TIMEOUT_MS;
  }).map(
    (names) =>
      `${names.join(' and ')} and ${RECORDING_MARGIN_MS} ms to record the outcome must fit into SHUTDOWN_TIMEOUT_MS together`,
  );
}
