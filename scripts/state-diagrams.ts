import type { GatewayPaymentKind } from '../src/domain/gateway-results.ts';
import { REVERSAL_STATES } from '../src/domain/payments/kinds.ts';
import {
  isOpen,
  LATE_MOVES,
  MACHINES,
  type PaymentStatus,
} from '../src/domain/payments/payment.ts';
import { withGeneratedPart } from './generated-part.ts';

/** The beginning of each kind. */
const BEGINNINGS: Readonly<Record<GatewayPaymentKind, string>> = {
  collection: 'accepted',
  payout: 'accepted, debited',
  reversal: 'accepted',
  return: 'a late success was booked',
};

/** The causes of moves. LATE_MOVES has the conditions of those out of an end. */
const CAUSES: Readonly<Record<string, string>> = {
  'pending processing': 'the gateway acknowledged',
  'pending completed': 'success overtook the acknowledgement',
  'pending failed': 'declined, or failure overtook',
  'processing completed': 'success',
  'processing failed': 'failure',
  'completed failed': 'undone',
  'failed completed': 'late success',
};

/** The document with the drawings between its markers as the tables say. @throws Error without markers */
export function withStateDiagrams(document: string): string {
  const kinds = Object.keys(MACHINES) as GatewayPaymentKind[];
  const drawings = kinds.map((kind) => `A ${kind}:\n\n${diagramOf(kind)}\n`);
  return withGeneratedPart(document, 'states', drawings.join('\n'));
}

/** One state machine as a drawing in Mermaid. */
export function diagramOf(kind: GatewayPaymentKind): string {
  const { initial, transitions } = MACHINES[kind];
  const moves = Object.entries(transitions) as [PaymentStatus, readonly PaymentStatus[]][];
  const states = moves.map(([state]) => state);
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...(kind === 'reversal' ? states.flatMap(apiNameOf) : []),
    `    [*] --> ${initial}: ${BEGINNINGS[kind]}`,
    ...moves.flatMap(([from, targets]) => targets.map((to) => arrow(from, to))),
    ...states.filter((state) => !isOpen({ status: state })).map((state) => `    ${state} --> [*]`),
    ...Object.entries(LATE_MOVES[kind]).flatMap(([state, condition]) => note(state, condition)),
    '```',
  ].join('\n');
}

/** The API has names of its own for what becomes of a reversal. */
function apiNameOf(state: PaymentStatus): string[] {
  const { label } = REVERSAL_STATES[state];
  return label === state ? [] : [`    state "${label} (${state})" as ${state}`];
}

function arrow(from: PaymentStatus, to: PaymentStatus): string {
  return `    ${from} --> ${to}: ${CAUSES[`${from} ${to}`]}`;
}

function note(state: string, condition: string): string[] {
  return [`    note right of ${state}`, `        ${condition}`, '    end note'];
}
