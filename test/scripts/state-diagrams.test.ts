import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { diagramOf, withStateDiagrams } from '../../scripts/state-diagrams.ts';
import {
  isOpen,
  LATE_MOVES,
  MACHINES,
  type PaymentStatus,
} from '../../src/domain/payments/payment.ts';
import { PAYMENT_KINDS } from '../support/payment-kinds.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('The drawings of states', () => {
  it('are in docs/architecture.md as the tables of moves say (npm run states)', () => {
    const document = read('docs/architecture.md');
    expect(withStateDiagrams(document)).to.equal(document);
  });

  it('replace what is between the markers and keep all else', () => {
    const [before, after] = ['# Before\n', '\n# After\n'];
    const around = (drawings: string) =>
      `${before}<!-- states:begin -->\n${drawings}<!-- states:end -->${after}`;
    const drawn = withStateDiagrams(around('old\n'));
    expect(drawn).to.satisfy((text: string) => text.startsWith(before) && text.endsWith(after));
    expect(drawn).to.include(diagramOf('payout')).and.not.include('old');
    expect(withStateDiagrams(drawn)).to.equal(drawn);
    expect(() => withStateDiagrams(before + after)).to.throw('states:begin');
  });

  for (const kind of PAYMENT_KINDS) {
    it(`show every move of a ${kind}, its beginning and its ends, and no others`, () => {
      const { initial, transitions } = MACHINES[kind];
      const states = Object.keys(transitions) as PaymentStatus[];
      const arrows = [...diagramOf(kind).matchAll(/^ +(\S+) --> ([^\s:]+)/gm)].map(
        ([, from, to]) => `${from} ${to}`,
      );
      expect(arrows).to.have.members([
        `[*] ${initial}`,
        ...states.flatMap((from) => transitions[from].map((to) => `${from} ${to}`)),
        ...states.filter((status) => !isOpen({ status })).map((state) => `${state} [*]`),
      ]);
      expect(diagramOf(kind), 'a move without a cause').to.not.include('undefined');
    });

    it(`say the condition of every move of a ${kind} that has ended, and of no others`, () => {
      const { transitions } = MACHINES[kind];
      const left = (Object.keys(transitions) as PaymentStatus[]).filter(
        (status) => !isOpen({ status }) && transitions[status].length > 0,
      );
      expect(Object.keys(LATE_MOVES[kind])).to.have.members(left);
      for (const condition of Object.values(LATE_MOVES[kind])) {
        // Mermaid would end the note at either of these.
        expect(condition).to.match(/^[^:;]+$/);
        expect(diagramOf(kind)).to.include(`        ${condition}\n    end note`);
      }
    });
  }
});
