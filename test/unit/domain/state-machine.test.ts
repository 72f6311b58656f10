import { expect } from 'chai';
import {
  assertCanMove,
  canMove,
  IllegalTransitionError,
  isOpen,
  MACHINES,
  type PaymentStatus,
} from '../../../src/domain/payments/payment.ts';
import { PAYMENT_KINDS } from '../../support/payment-kinds.ts';

const STATES: readonly PaymentStatus[] = ['pending', 'processing', 'completed', 'failed'];
const MOVES = [
  'pending to processing',
  'pending to completed',
  'pending to failed',
  'processing to completed',
  'processing to failed',
  // Support undoes a completion.
  'completed to failed',
];
/** The money that goes out may arrive although it was said to have failed. */
const LATE_SUCCESS = 'failed to completed';

for (const kind of PAYMENT_KINDS) {
  describe(`The machine of a ${kind}`, () => {
    const machine = MACHINES[kind];

    it('begins as pending, and knows every state', () => {
      expect(machine.initial).to.equal('pending');
      expect(Object.keys(machine.transitions)).to.have.members(STATES);
    });

    it('has these moves and no others', () => {
      const pairs = STATES.flatMap((from) => STATES.map((to) => [from, to] as const));
      const moves = pairs.filter(([from, to]) => canMove(machine, from, to));
      const expected = kind === 'collection' ? MOVES : [...MOVES, LATE_SUCCESS];
      expect(moves.map(([from, to]) => `${from} to ${to}`)).to.have.members(expected);
      for (const [from, to] of pairs.filter((pair) => !moves.includes(pair))) {
        expect(() => assertCanMove(machine, from, to)).to.throw(IllegalTransitionError);
      }
    });

    it('moves neither from nor to a state that it does not have', () => {
      expect(canMove(machine, 'lost', 'completed')).to.equal(false);
      expect(canMove(machine, 'pending', 'lost')).to.equal(false);
    });
  });
}

describe('A payment', () => {
  it('is open until the gateway has said how it ended', () => {
    expect(STATES.filter((status) => isOpen({ status }))).to.deep.equal(['pending', 'processing']);
  });
});
