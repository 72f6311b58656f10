/** The states of one kind of payment and every move between them; the whole graph is this table. */
export interface StateMachine<State extends string = string> {
  /** The state that a new row has. */
  initial: State;
  /** From each state, the states that it may move to. */
  transitions: Readonly<Record<State, readonly State[]>>;
}

/** Code asked for a move that the table does not have: a bug, never an outcome. */
export class IllegalTransitionError extends Error {
  constructor(from: string, to: string) {
    super(`There is no transition from ${from} to ${to}`);
    this.name = 'IllegalTransitionError';
  }
}

/** Somebody else moved the row first; whoever lost reads it again and decides anew. */
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
