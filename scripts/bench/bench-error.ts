/** An expected failure of a run; the message is one line for the user. */
export class BenchError extends Error {
  override name = 'BenchError';
}
