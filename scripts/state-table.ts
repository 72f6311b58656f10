import type { GatewayPaymentKind } from '../src/domain/gateway-results.ts';
import { REVERSAL_STATES } from '../src/domain/payments/kinds.ts';
import {
  isOpen,
  LATE_MOVES,
  MACHINES,
  type PaymentStatus,
} from '../src/domain/payments/payment.ts';
import { withGeneratedPart } from './generated-part.ts';

/** A move of a payment from a status to another one; `[*]` is the beginning and the end. */
interface Move {
  from: string;
  to: string;
  cause: string;
}

const OUTSIDE = '[*]';
const KINDS = Object.keys(MACHINES) as GatewayPaymentKind[];

/** The beginning of each kind. */
const BEGINNINGS: Readonly<Record<GatewayPaymentKind, string>> = {
  collection: 'accepted',
  payout: 'accepted, debited',
  reversal: 'accepted',
  return: 'a late success was booked',
};

/** The causes of moves. LATE_MOVES adds the conditions of moves out of an end. */
const CAUSES: Readonly<Record<string, string>> = {
  'pending processing': 'the gateway acknowledged',
  'pending completed': 'success overtook the acknowledgement',
  'pending failed': 'declined, or failure overtook',
  'processing completed': 'success',
  'processing failed': 'failure',
  'completed failed': 'undone',
  'failed completed': 'late success',
};

/** Returns the document with the table between its markers. @throws Error without markers */
export function withStateTable(document: string): string {
  return withGeneratedPart(document, 'states', `${stateTable()}\n\n${reversalNames()}\n`);
}

/** Returns one row for each move and cause, with the kinds that it applies to. */
export function stateTable(): string {
  const kindsOf = new Map<string, GatewayPaymentKind[]>();
  for (const kind of KINDS) {
    for (const { from, to, cause } of movesOf(kind)) {
      const move = `${from} → ${to} | ${cause}`;
      kindsOf.set(move, [...(kindsOf.get(move) ?? []), kind]);
    }
  }
  const rows = [...kindsOf]
    .sort(([a], [b]) => placeOf(a) - placeOf(b))
    .map(([move, kinds]) => {
      const names = kinds.length === KINDS.length ? 'all' : kinds.join(', ');
      return `| ${move} | ${names} |`;
    });
  return ['| Move | Cause | Kinds |', '|---|---|---|', ...rows].join('\n');
}

/** Orders rows by the status that a move leaves. */
function placeOf(row: string): number {
  return [OUTSIDE, ...Object.keys(MACHINES.payout.transitions)].indexOf(row.split(' ')[0]!);
}

function movesOf(kind: GatewayPaymentKind): Move[] {
  const { initial, transitions } = MACHINES[kind];
  const moves = Object.entries(transitions) as [PaymentStatus, readonly PaymentStatus[]][];
  return [
    { from: OUTSIDE, to: initial, cause: BEGINNINGS[kind] },
    ...moves.flatMap(([from, targets]) => targets.map((to) => moveOf(kind, from, to))),
    ...moves
      .filter(([status]) => !isOpen({ status }))
      .map(([from]) => ({ from, to: OUTSIDE, cause: 'the end' })),
  ];
}

function moveOf(kind: GatewayPaymentKind, from: PaymentStatus, to: PaymentStatus): Move {
  const cause = CAUSES[`${from} ${to}`];
  const condition = LATE_MOVES[kind][from];
  return { from, to, cause: condition ? `${cause}: ${condition}` : `${cause}` };
}

/** The API has its own names for the states of a reversal. */
function reversalNames(): string {
  const names = Object.entries(REVERSAL_STATES).map(([state, { label }]) =>
    label === state ? `\`${label}\`` : `\`${label}\` (${state})`,
  );
  return `The API calls a reversal ${names.join(', ')}.`;
}
