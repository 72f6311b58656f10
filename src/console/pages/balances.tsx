import type { BalanceProof } from '../../domain/gateway-accounts/balances.ts';
import { type ClosedDay, listClosedDays } from '../../domain/gateway-accounts/close-day.ts';
import type { InFlight } from '../../domain/gateway-accounts/in-flight.ts';
import {
  type Candidate,
  type Difference,
  moveOf,
  proveWorld,
  untoldFor,
  type WorldProof,
} from '../../domain/gateway-accounts/prove-world.ts';
import type { GatewayPaymentKind } from '../../domain/gateway-results.ts';
import { VEILED } from '../../domain/veil.ts';
import { moveOwnMoney } from '../../operations/own-move.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Money, Time } from '../shell/links.tsx';
import { operationHandlers, pagesOf, type Resource } from '../shell/operation.tsx';
import { Badge } from '../shell/status.tsx';
import { type Column, Empty, Table } from '../shell/table.tsx';
import type { Answer, Visit } from '../visit.ts';

const SHOWN_DAYS = 14;

const BOOKS: Resource<unknown> = {
  find: async () => null,
  nameOf: () => 'Balances',
  pathOf: () => pathTo('balances'),
};

/** The balances that gateways tell, beside the books, and moves between the operator's accounts. */
export const balanceHandlers = {
  balances: async (visit: Visit): Promise<Answer> => {
    const { database, gateways } = visit.service;
    const proof = await proveWorld(database, gateways.values());
    const days = await listClosedDays(database, SHOWN_DAYS);
    await recordView(visit, {
      action: 'balances.show',
      subject: 'balances',
      lookedFor: {},
      merchant_id: null,
      rows: proof.balances.length,
    });
    return { page: <BalancesPage visit={visit} proof={proof} days={days} />, title: 'Balances' };
  },

  ...operationHandlers('ownMove', {
    resource: BOOKS,
    pages: pagesOf([moveOwnMoney]),
    part: 'move',
  }),
};

interface Props {
  visit: Visit;
  proof: WorldProof;
  days: ClosedDay[];
}

function BalancesPage({ visit, proof, days }: Props) {
  const mayMove = mayUse(visit.member.role, 'ownMove');
  const { balances, differences, untold, silent, in_flight } = proof;
  return (
    <>
      <h1>Balances</h1>
      <p class="soft">
        What gateways have told of our accounts, beside the ledger. A balance agrees if payments on
        their way explain what differs.
      </p>
      {untold.map((gateway) => (
        <p>
          <Badge tone="bad" words={`${gateway} has told no balance for ${untoldFor(gateway)}`} />
        </p>
      ))}
      {silent.map((gateway) => (
        <p>{gateway} tells no balance: nothing proves its money.</p>
      ))}
      {balances.length > 0 ? (
        <Table rows={balances} columns={PROOF} caption="Balances" />
      ) : (
        <Empty>No gateway has told a balance.</Empty>
      )}
      {differences.map((difference) => (
        <Explanation {...difference} mayMove={mayMove} />
      ))}
      {mayMove && (
        <a class="button quiet" href={pathTo('ownMoveForm')}>
          Book a move of own money
        </a>
      )}
      <h2>On their way</h2>
      {in_flight.length > 0 ? (
        <Table rows={in_flight} columns={ON_THEIR_WAY} caption="Payments on their way" />
      ) : (
        <Empty>No payment is on its way.</Empty>
      )}
      <h2>Ends of days</h2>
      {days.length > 0 ? (
        <Table rows={days} columns={DAY} caption="Ends of days" />
      ) : (
        <Empty>No day is closed yet.</Empty>
      )}
    </>
  );
}

function Explanation({
  gateway,
  sub_account,
  difference_cents,
  candidates,
  mayMove,
}: Difference & { mayMove: boolean }) {
  return (
    <>
      <h2>
        What may explain <Money cents={difference_cents} /> of {gateway}, {sub_account}
      </h2>
      {candidates.length > 0 ? (
        <Table rows={candidates} columns={candidateColumns(mayMove)} caption="Candidates" />
      ) : (
        <Empty>Nothing is known that may explain it. Compare a statement of the gateway.</Empty>
      )}
    </>
  );
}

const money = <Row,>(heading: string, centsOf: (row: Row) => number): Column<Row> => ({
  heading,
  cell: (row) => <Money cents={centsOf(row)} />,
  isNumber: true,
});

const PROOF: readonly Column<BalanceProof>[] = [
  { heading: 'Gateway', cell: ({ gateway }) => gateway },
  { heading: 'Account', cell: ({ sub_account }) => sub_account },
  money('Told', ({ told_cents }) => told_cents),
  money('Ledger', ({ ledger_cents }) => ledger_cents),
  money('Difference', ({ difference_cents }) => difference_cents),
  money('May still come', ({ may_rise_cents }) => may_rise_cents),
  money('May still go', ({ may_fall_cents }) => may_fall_cents),
  { heading: 'Told at', cell: ({ told_at }) => <Time at={told_at} /> },
  {
    heading: 'Differs since',
    cell: ({ gateway, is_told, differs_since }) => {
      if (!is_told) return `not told for ${untoldFor(gateway)}`;
      return differs_since ? <Time at={differs_since} /> : <Badge tone="good" words="agrees" />;
    },
  },
];

const ON_THEIR_WAY: readonly Column<InFlight>[] = [
  { heading: 'Gateway', cell: ({ gateway }) => gateway },
  { heading: 'Kind', cell: ({ kind }) => kind },
  { heading: 'Age', cell: ({ age }) => age },
  { heading: 'Payments', cell: ({ count }) => count, isNumber: true },
  money('Amount', ({ amount_cents }) => amount_cents),
];

const DAY: readonly Column<ClosedDay>[] = [
  { heading: 'Day', cell: ({ day }) => day },
  { heading: 'Closed', cell: ({ closed_at }) => <Time at={closed_at} /> },
  { heading: 'Result', cell: (day) => <DayResult {...day} /> },
];

function DayResult({ agrees, differences, untold }: ClosedDay) {
  return (
    <>
      {agrees && <Badge tone="good" words="agrees" />}
      {untold.map((gateway) => (
        <div>
          {gateway} had told no balance for {untoldFor(gateway)}
        </div>
      ))}
      {differences.map(({ gateway, sub_account, difference_cents, candidates }) => (
        <div>
          <Money cents={difference_cents} /> at {gateway}, {sub_account}:{' '}
          {candidates
            .map(({ what, kind, id }) => `${what}: ${kind} ${VEILED.text(id)}`)
            .join('; ') || 'unexplained'}
        </div>
      ))}
    </>
  );
}

const candidateColumns = (mayMove: boolean): readonly Column<Candidate>[] => [
  { heading: 'What', cell: ({ what, kind }) => `${what}: ${kind}` },
  { heading: 'Which', cell: (candidate) => <Which candidate={candidate} mayMove={mayMove} /> },
  {
    heading: 'Amount',
    cell: ({ amount_cents: cents }) => (cents === null ? 'unknown' : <Money cents={cents} />),
    isNumber: true,
  },
  { heading: 'When', cell: ({ at }) => <Time at={at} /> },
];

function Which({ candidate, mayMove }: { candidate: Candidate; mayMove: boolean }) {
  const { what, id, kind, merchant_id } = candidate;
  if (what === 'discrepancy') return <a href={pathTo('discrepancy', { id })}>{id}</a>;
  if (what === 'own row without entry' && mayMove) {
    const move = new URLSearchParams(moveOf(candidate));
    return <a href={`${pathTo('ownMoveForm')}?${move}`}>{VEILED.text(id)}: book the move</a>;
  }
  const isPayment = what === 'on its way' || what === 'decided by hand';
  if (merchant_id === null || !isPayment) return <>{VEILED.text(id)}</>;
  const payment = { kind: kind as GatewayPaymentKind, merchant_id, id };
  return <a href={pathTo('payment', payment)}>{id}</a>;
}
