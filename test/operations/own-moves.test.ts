import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { hearBalances, latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import {
  type DoorCase,
  type Doors,
  expectRefusedAtBothDoors,
  expectSameAtBothDoors,
  nextOtp,
  openDoors,
} from './doors.ts';

const CENTS = 5_000_000;

interface Move {
  reference: string;
}

describe('A move between own accounts', () => {
  let doors: Doors;
  let count = 0;

  before(async () => {
    doors = await openDoors();
  });

  after(() => doors.close());

  const database = () => doors.test.testDatabase.database;
  const query = <Row>(sql: string, bindings = {}) => rows<Row>(database(), sql, bindings);
  const commandOf = (move: Move, amount = '50000.00', to = 'simulator/utility') => [
    ...['ledger', 'move', '--from', 'bank', '--to', to],
    ...['--amount', amount, '--reference', move.reference],
  ];
  const newMove = (): Move => {
    count += 1;
    return { reference: `FT-${count}` };
  };

  const CASE: DoorCase<Move> = {
    name: 'ledger.move',
    make: async () => newMove(),
    role: 'admin',
    command: (move) => commandOf(move),
    page: () => '/balances/move',
    form: ({ reference }) => ({
      from_account: 'bank',
      to_account: 'simulator/utility',
      amount: '50000.00',
      reference,
    }),
    effect: async ({ reference }) => ({
      moves: await query('SELECT amount_cents FROM own_moves WHERE reference = :reference', {
        reference,
      }),
      requests: await query(
        `SELECT action, subject, amount_cents, payload, preview, decision FROM approvals
         WHERE payload->>'reference' = :reference`,
        { reference },
      ),
    }),
    names: ({ reference }) => ({ REFERENCE: reference }),
  };

  it('waits for a second person at both doors', () => expectSameAtBothDoors(doors, CASE));

  it('refuses a lower role, and a change without a reason', () =>
    expectRefusedAtBothDoors(doors, CASE));

  /** Asks for a move, and lets a second person approve it. */
  async function book(move: Move): Promise<void> {
    const asked = await doors.run([...commandOf(move), '--json'], doors.admin);
    const { approval, booked } = JSON.parse(asked.stdout);
    expect(booked).to.equal(false);
    const second = await doors.newAdmin();
    const done = await doors.run(
      ['approval', 'approve', approval, '--otp', nextOtp(second)],
      second,
    );
    expect([done.status, done.stderr]).to.deep.equal([0, '']);
  }

  it('comes to the float of its account, once per reference', async () => {
    const move = newMove();
    await book(move);
    const told = { sub_account: 'utility', current_cents: CENTS, available_cents: CENTS } as const;
    await hearBalances(database(), 'simulator', [told], new Date(Date.now() + 60_000));
    const [proof] = await latestProofs(database());
    expect(proof).to.include({ ledger_cents: CENTS, differs_since: null });
    const again = await doors.run([...commandOf(move), '--json'], doors.admin);
    expect(JSON.parse(again.stdout)).to.include({ repeated: true });
    const other = await doors.run(commandOf(move, '1.00'), doors.admin);
    expect(other.stderr).to.include(
      `Reference ${move.reference} is taken: it names 50000.00 from bank to simulator/utility`,
    );
    expect(
      await query(
        `SELECT account, amount_cents FROM entries WHERE merchant_id = 0 ORDER BY journal_id, line`,
      ),
    ).to.deep.equal([
      { account: 'bank', amount_cents: CENTS },
      { account: 'gateway_float', amount_cents: -CENTS },
    ]);
  });

  it('needs two accounts that there are', async () => {
    for (const [to, words] of [
      ['bank', 'The two accounts are the same'],
      [
        'simulator',
        'There is no account simulator: there are bank, capital, losses, simulator/utility',
      ],
      ['other/utility', 'There is no account other/utility'],
    ] as const) {
      const refused = await doors.run(commandOf(newMove(), '1.00', to), doors.admin);
      expect([refused.status, refused.stderr.includes(words)], to).to.deep.equal([1, true]);
    }
  });
});
