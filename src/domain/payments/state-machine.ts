/** Every state of one kind of payment, and every move between them. */
export interface StateMachine<State extends string = string> {
  /** The state of a new row. */
  initial: State;
  /** The states that each state may move to. */
  transitions: Readonly<Record<State, readonly State[]>>;
}

/** The code asked for a move that the machine does not have. That is a bug, never an outcome. */
export class IllegalTransitionError extends Error {
  constructor(from: string, to: string) {
    super(`There is no transition from ${from} to ${to}`);
    this.name = 'IllegalTransitionError';
  }
}

/** Another process moved the row first. The loser reads the row again and decides anew. */
export class LostRaceError extends Error {
  constructor(what: string) {
    super(`${what} was moved by somebody else at the same moment`);
    this.name = 'LostRaceError';
  }
}

export function canMove(machine: StateMachine, from: string, to: string): boolean {
  return machine.transitions[from]?.includes(to) ?? false;
}

/** @throws IllegalTransitionError */
export function assertCanMove(machine: StateMachine, from: string, to: string): void {
  if (!canMove(machine, from, to)) throw new IllegalTransitionError(from, to);
}
