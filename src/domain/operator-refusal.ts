/**
 * Refuses what an operator asked for. The message is one line for that person. Thrown in a
 * transaction, it rolls everything back.
 */
export class OperatorRefusal extends Error {
  override readonly name = 'OperatorRefusal';
}
