/**
 * What an operator asked for cannot be done as things stand. The message is one line for
 * that person; whoever throws it inside of a transaction has changed nothing.
 */
export class OperatorRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorRefusal';
  }
}
