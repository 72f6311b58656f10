import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { stateTable, withStateTable } from '../../scripts/state-table.ts';
import {
  isOpen,
  LATE_MOVES,
  MACHINES,
  type PaymentStatus,
} from '../../src/domain/payments/payment.ts';
import { PAYMENT_KINDS } from '../support/payment-kinds.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const ROWS = [...stateTable().matchAll(/^\| (\S+) → (\S+) \| (.+) \| (.+) \|$/gm)].map(
  ([, from, to, cause, kinds]) => ({ from, to, cause, kinds: kinds!.split(', ') }),
);
const rowsOf = (kind: string) =>
  ROWS.filter(({ kinds }) => kinds.includes('all') || kinds.includes(kind));

describe('The table of states', () => {
  it('is in docs/architecture.md as the tables of moves say (npm run states)', () => {
    const document = read('docs/architecture.md');
    expect(withStateTable(document)).to.equal(document);
  });

  it('replaces what is between the markers and keeps all else', () => {
    const [before, after] = ['# Before\n', '\n# After\n'];
    const around = (table: string) =>
      `${before}<!-- states:begin -->\n${table}<!-- states:end -->${after}`;
    const written = withStateTable(around('old\n'));
    expect(written).to.satisfy((text: string) => text.startsWith(before) && text.endsWith(after));
    expect(written).to.include(stateTable()).and.not.include('old');
    expect(withStateTable(written)).to.equal(written);
    expect(() => withStateTable(before + after)).to.throw('states:begin');
  });

  it('has nothing but moves below its heading', () => {
    expect(stateTable().split('\n')).to.have.length(ROWS.length + 2);
  });

  for (const kind of PAYMENT_KINDS) {
    it(`shows every move of a ${kind}, its beginning and its ends, and no others`, () => {
      const { initial, transitions } = MACHINES[kind];
      const states = Object.keys(transitions) as PaymentStatus[];
      expect(rowsOf(kind).map(({ from, to }) => `${from} ${to}`)).to.have.members([
        `[*] ${initial}`,
        ...states.flatMap((from) => transitions[from].map((to) => `${from} ${to}`)),
        ...states.filter((status) => !isOpen({ status })).map((state) => `${state} [*]`),
      ]);
      for (const { cause } of rowsOf(kind)) expect(cause).to.not.include('undefined');
    });

    it(`says the condition of every move of a ${kind} that has ended, and of no others`, () => {
      const { transitions } = MACHINES[kind];
      const left = (Object.keys(transitions) as PaymentStatus[]).filter(
        (status) => !isOpen({ status }) && transitions[status].length > 0,
      );
      const conditions = rowsOf(kind).filter(({ cause }) => cause!.includes(': '));
      expect(Object.keys(LATE_MOVES[kind])).to.have.members(left);
      expect(conditions.map(({ from }) => from)).to.have.members(left);
      for (const { from, cause } of conditions) {
        const condition = LATE_MOVES[kind][from as PaymentStatus]!;
        // A bar would end the cell.
        expect(condition).to.not.include('|');
        expect(cause!.endsWith(`: ${condition}`), cause).to.equal(true);
      }
    });
  }
});
