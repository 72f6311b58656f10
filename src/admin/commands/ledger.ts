import { text as streamText } from 'node:stream/consumers';
import type { Database } from '../../connections/database.ts';
import { messageOf } from '../../connections/database-errors.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { type ClosedDay, listClosedDays } from '../../domain/gateway-accounts/close-day.ts';
import {
  type Candidate,
  moveOf,
  proveWorld,
  untoldFor,
} from '../../domain/gateway-accounts/prove-world.ts';
import { verifyLedger } from '../../domain/ledger/verification/verify-ledger.ts';
import { requireMerchant } from '../../domain/merchants/merchant.ts';
import { kes } from '../../domain/money.ts';
import { verifySeals } from '../../domain/seals/verify-seals.ts';
import { VEILED } from '../../domain/veil.ts';
import { type BankComparison, bankStatement } from '../../operations/bank-statement.ts';
import { flag, optional, UsageError, withDefault } from '../../operations/field.ts';
import { openGiven } from '../../operations/given-files.ts';
import { moveOwnMoney } from '../../operations/own-move.ts';
import * as read from '../../operations/readers.ts';
import { path } from '../../operations/statement-file.ts';
import { verbsOf } from '../operation-verb.ts';
import { rowDocument } from '../output/document.ts';
import { render } from '../output/table.ts';
import { type Noun, reads } from '../verb.ts';

const verify = reads({
  role: 'anyone',
  summary: 'Proves the books: journals, wallets, payments, money in flight and in suspense',
  notes:
    'Payments may go on meanwhile. It starts where the last run without a finding ended. A full run reads everything again and takes minutes for millions of payments. With --seals it proves instead that sealed days are as they were. Exit status 1 when there is a break.',
  options: {
    merchant_id: optional('merchant', read.merchantId, 'Only the books of this merchant'),
    full: flag('full', 'Read everything, also what was right before'),
    seals: flag('seals', 'Compare the seals of days with the rows of journals and logs'),
    from: optional('from', read.day, 'Only seals from this day on'),
    file: optional('file', path, 'Compare the seals with this copy of seals.jsonl too'),
  },
  check: ({ seals, from, file, merchant_id, full }) => {
    if (seals ? merchant_id !== undefined || full : from || file) {
      throw new UsageError('--seals goes with --from and --file only, and these with --seals');
    }
  },
  run: async ({ database }, options) => {
    if (options.seals) return verifiedSeals(database, options);
    if (options.merchant_id !== undefined) await requireMerchant(database, options.merchant_id);
    const { checked, counts, breaks } = await verifyLedger(database, options);
    const count = Object.values(counts).reduce((sum, each) => sum + each);
    const wrong = `The books are wrong: ${count} break${count === 1 ? '' : 's'}`;
    const more = count - breaks.length;
    return {
      isFailure: count > 0,
      data: { checked, break_count: count, breaks },
      lines: [
        count === 0 ? 'The books are right' : wrong,
        render({ checked, breaks }),
        more > 0 && `… and ${more} more`,
      ],
    };
  },
});

async function verifiedSeals(
  database: Database,
  { from, file }: { from?: string | undefined; file?: string | undefined },
) {
  const text = file === undefined ? undefined : await readText(file);
  const { checked, days_behind, breaks } = await verifySeals(database, { from, file: text });
  const wrong = `Sealed rows were changed: ${breaks.length} break${breaks.length === 1 ? '' : 's'}`;
  return {
    isFailure: breaks.length > 0,
    data: { checked, days_behind, break_count: breaks.length, breaks },
    lines: [
      breaks.length === 0 ? 'The sealed rows are as they were' : wrong,
      render({ checked, breaks }),
      days_behind > 0 && `Days without a seal yet: ${days_behind}`,
    ],
  };
}

function readText(path: string): Promise<string> {
  return streamText(openGiven(path)).catch((error) => {
    throw new OperatorRefusal(`${path} cannot be read: ${messageOf(error)}`);
  });
}

const proveBooks = reads({
  role: 'anyone',
  summary:
    'Proves the books against the world: balances that gateways have told, with what is on its way',
  notes:
    'A balance agrees if payments on their way explain what differs. Exit status 1 when a balance differs, or a gateway has told none for an hour, or the bank none for five days. A difference comes with what may explain it; what has just its amount stands first.',
  run: async ({ database, gateways }) => {
    const proof = await proveWorld(database, gateways.values());
    const { differences, untold, silent } = proof;
    const agrees = differences.length + untold.length === 0;
    const balances = proof.balances.map((each) => rowDocument(each));
    const in_flight = proof.in_flight.map((each) => rowDocument(each));
    const explained = differences.map(({ candidates, ...balance }) => ({
      ...rowDocument(balance),
      candidates: candidates.map(candidateDocument),
    }));
    const moves = differences
      .flatMap(({ candidates }) => candidates)
      .filter(({ what }) => what === 'own row without entry')
      .map(moveOf);
    const sections = differences.map(({ gateway, sub_account }, index) => [
      `what may explain ${gateway} ${sub_account}`,
      explained[index]!.candidates,
    ]);
    return {
      isFailure: !agrees,
      data: { agrees, balances, differences: explained, untold, silent, in_flight },
      lines: [
        `The books ${agrees ? 'agree' : 'do not agree'} with the world`,
        render({ balances, on_their_way: in_flight, ...Object.fromEntries(sections) }),
        untold.map((gateway) => `${gateway} has told no balance for ${untoldFor(gateway)}`),
        silent.map((gateway) => `${gateway} tells no balance: nothing proves its money`),
        moves.map(
          ({ from_account, to_account, amount, reference }) =>
            `To book it: ledger move --from ${from_account || 'ACCOUNT'} --to ${to_account || 'ACCOUNT'} --amount ${amount} --reference ${reference}`,
        ),
      ],
    };
  },
});

/** A line may be known by what its customer has typed, perhaps a phone, and everybody may run these commands. */
function candidateDocument(candidate: Candidate) {
  const isOfCustomer = candidate.what === 'line without payment';
  return rowDocument({ ...candidate, id: isOfCustomer ? VEILED.text(candidate.id) : candidate.id });
}

const WEEK_DAYS = 7;
const MAX_DAYS = 400;

const days = reads({
  role: 'anyone',
  summary: 'Lists the ends of days: the books agreed with the world, or what differed and why',
  options: {
    limit: withDefault(
      'limit',
      read.integer('COUNT', 1, MAX_DAYS),
      'The number of days, the newest first',
      WEEK_DAYS,
    ),
  },
  run: async ({ database }, { limit }) => {
    const closed = await listClosedDays(database, limit);
    const shown = closed.map(({ differences, ...day }) => ({
      ...rowDocument(day),
      differences: differences.map(({ candidates, ...difference }) => ({
        ...rowDocument(difference),
        candidates: candidates.map(candidateDocument),
      })),
    }));
    return { data: { days: shown }, lines: [closed.map(dayLines)] };
  },
});

function dayLines({ day, agrees, differences, untold }: ClosedDay) {
  return [
    `${day} ${agrees ? 'agrees' : 'does not agree'}`,
    untold.map((gateway) => `  ${gateway} had told no balance for ${untoldFor(gateway)}`),
    differences.map(({ gateway, sub_account, difference_cents, candidates }) => [
      `  ${kes(difference_cents)} at ${gateway} ${sub_account}`,
      candidates.map(({ what, kind, id }) => `    ${what}: ${kind} ${id}`),
    ]),
  ];
}

const compared: Parameters<typeof verbsOf>[1] = () => ({
  document: (row) => {
    const { rows, differences } = row as BankComparison;
    return { rows, differences: differences.map((each) => rowDocument(each)) };
  },
  lines: ({ row, notes = [] }) => {
    const differences = (row as BankComparison).differences.map((each) => rowDocument(each));
    return [
      differences.length === 0 ? 'Its rows and the books agree' : render({ differences }),
      [...notes],
    ];
  },
});

export const ledger: Noun = {
  summary: 'The books: every movement of money, entered twice',
  verbs: {
    verify,
    'prove-world': proveBooks,
    days,
    ...verbsOf([moveOwnMoney]),
    ...verbsOf([bankStatement], compared),
  },
};
