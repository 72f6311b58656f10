import { DISCREPANCY_KINDS, type Evidence } from '../../domain/discrepancies/discrepancy.ts';
import { shownName } from '../../domain/discrepancies/row-back.ts';
import { MAX_PARTS } from '../../domain/reconciliation/payouts-in-parts.ts';
import { type Approval, openApprovalsAbout } from '../../domain/staff/approval-store.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import { RESOLUTION_WORDS, takesReceipt } from '../../domain/support/resolution.ts';
import { VEILED } from '../../domain/veil.ts';
import { assignRow } from '../../operations/assign-row.ts';
import { discrepancySubject, resolveDiscrepancy } from '../../operations/discrepancy.ts';
import { MAX_RECEIPT_LENGTH } from '../../operations/readers.ts';
import { mayUse, pathTo } from '../routes.ts';
import { MerchantLink, Time } from '../shell/links.tsx';
import { operationHandlers, pagesOf, type Resource } from '../shell/operation.tsx';
import { StatusBadges } from '../shell/status.tsx';
import type { Answer, Visit } from '../visit.ts';
import {
  Cents,
  Discrepancies,
  movedCents,
  PaymentOf,
  readDiscrepancies,
  readDiscrepancy,
} from './discrepancies.tsx';

const DISCREPANCY: Resource<DiscrepancyCase> = {
  find: readDiscrepancy,
  nameOf: ({ kind }) => `Discrepancy: ${kind}`,
  pathOf: ({ id }) => pathTo('discrepancy', { id }),
};

/** What does not add up, and the decisions about it. */
export const discrepancyHandlers = {
  discrepancies: async (visit: Visit): Promise<Answer> => {
    const page = await readDiscrepancies(visit);
    return { page: <Discrepancies visit={visit} page={page} />, title: 'Discrepancies' };
  },

  discrepancy: async (visit: Visit): Promise<Answer> => {
    const found = await readDiscrepancy(visit);
    const { database } = visit.service;
    const subject = discrepancySubject(found.id);
    const [request] = await openApprovalsAbout(database, 'discrepancy.resolve', [subject]);
    const page = <Discrepancy visit={visit} found={found} request={request} />;
    return { page, title: DISCREPANCY.nameOf(found) };
  },

  ...operationHandlers('decideDiscrepancy', {
    resource: DISCREPANCY,
    pages: pagesOf([resolveDiscrepancy]),
    part: 'resolve',
    isAskedBefore: true,
  }),
  ...operationHandlers('assignRow', {
    resource: DISCREPANCY,
    pages: pagesOf([assignRow]),
    part: 'assign',
    isAskedBefore: true,
  }),
};

interface DiscrepancyProps {
  visit: Visit;
  found: DiscrepancyCase;
  /** The request about it that waits for a second person. */
  request: Approval | undefined;
}

/** One discrepancy: what was found, and every way out. */
function Discrepancy({ visit, found, request }: DiscrepancyProps) {
  return (
    <>
      <h1>
        {found.kind}: {DISCREPANCY_KINDS[found.kind]}
      </h1>
      <section class="card">
        <Facts found={found} />
      </section>
      <h2>What was found</h2>
      {found.evidence.map((each) => (
        <EvidenceCard each={each} />
      ))}
      {!found.evidence_complete && <p class="warning">There was more than is kept.</p>}
      <h2>Decision</h2>
      <WaysOut visit={visit} found={found} request={request} />
    </>
  );
}

function Facts({ found }: { found: DiscrepancyCase }) {
  const { merchant_id, gateway, trans_id, opened_at, status, account, moved_account } = found;
  return (
    <dl>
      <dt>Since</dt>
      <dd>
        <Time at={opened_at} />
      </dd>
      <dt>Payment</dt>
      <dd>
        <PaymentOf found={found} />{' '}
        {status && <StatusBadges status={status} overdue={false} parked_reason={null} />}
      </dd>
      <dt>Merchant</dt>
      <dd>
        <MerchantLink merchant_id={merchant_id} />
      </dd>
      <dt>Gateway</dt>
      <dd>{gateway}</dd>
      <dt>Receipt</dt>
      <dd>{trans_id === null ? '–' : shownName(trans_id, found.details.reference)}</dd>
      <dt>Account</dt>
      <dd>{account === null ? '–' : VEILED.account(account)}</dd>
      <dt>Asked for</dt>
      <dd>
        <Cents cents={found.asked_cents} />
      </dd>
      <dt>Moved</dt>
      <dd>
        <Cents cents={movedCents(found)} />
      </dd>
      <dt>In suspense</dt>
      <dd>
        <Cents cents={found.suspense_cents} />
        {moved_account !== null && `, account ${VEILED.account(moved_account)}`}
      </dd>
      {found.by_hand_for !== null && (
        <>
          <dt>Booked by hand for</dt>
          <dd>
            <MerchantLink merchant_id={found.by_hand_for} />
          </dd>
        </>
      )}
      {found.rows_back !== null && found.rows_back.length > 0 && (
        <>
          <dt>Rows that bring as much back</dt>
          <dd>{found.rows_back.map((name) => shownName(name, null)).join(', ')}</dd>
        </>
      )}
    </dl>
  );
}

function EvidenceCard({ each }: { each: Evidence }) {
  const { found_at, amount_cents, details, decided } = each;
  return (
    <section class="card">
      <h3>
        <Time at={new Date(found_at)} /> {decided && <span class="soft">(decided before)</span>}
      </h3>
      <dl>
        {amount_cents !== null && (
          <>
            <dt>amount</dt>
            <dd>
              <Cents cents={amount_cents} />
            </dd>
          </>
        )}
        {Object.entries(details).map(([name, value]) => (
          <>
            <dt>{name.replace(/_cents$/, '').replaceAll('_', ' ')}</dt>
            <dd>{detail(name, value)}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

/** Shows a fact of the gateway's. Those that may name a customer are hidden. */
function detail(name: string, value: unknown) {
  if (value === null) return '–';
  if (name.endsWith('_cents') && typeof value === 'number') return <Cents cents={value} />;
  if (name.endsWith('_at') && typeof value === 'string' && !Number.isNaN(Date.parse(value))) {
    return <Time at={new Date(value)} />;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (name === 'account') return VEILED.account(text);
  return typeof value === 'number' ? text : VEILED.text(text);
}

function WaysOut({ visit, found, request }: DiscrepancyProps) {
  if (found.allowed.length === 0) return <Resolved found={found} />;
  if (request) {
    return (
      <p class="warning">
        {request.requested_by} has asked for a decision.{' '}
        <a href={pathTo('approval', { id: request.id })}>It waits for a second person</a>.
      </p>
    );
  }
  if (!mayUse(visit.member.role, 'decideDiscrepancy')) {
    return <p class="soft">Support decides: {found.allowed.join(', ')}.</p>;
  }
  return (
    <>
      {found.kind === 'money_back' && <Candidates found={found} />}
      <Choice visit={visit} found={found} />
    </>
  );
}

/** The payments that a row may bring back, or, if nobody knows one, a field for it. */
function Candidates({ found: { id, details } }: { found: DiscrepancyCase }) {
  const candidates = ((details.candidates ?? []) as string[]).map((name) => name.split(' '));
  const payments = candidates
    .filter(([, , of]) => of === 'of')
    .filter(([kind]) => kind !== 'adoption');
  return (
    <form class="card" method="get" action={pathTo('assignRowForm', { id })}>
      <fieldset>
        <legend>Whose money it brings back</legend>
        {payments.map(([kind, payment, , , merchant_id]) => (
          <p>
            <label>
              <input type="radio" name="payment" value={payment} required /> The {kind}{' '}
              <a href={pathTo('payment', { kind, merchant_id, id: payment })}>{payment}</a> of{' '}
              <MerchantLink merchant_id={Number(merchant_id)} />
            </label>
          </p>
        ))}
        {payments.length === 0 && (
          <p class="field">
            <label for="payment">The id of the payout, the reversal or the return</label>
            <input id="payment" name="payment" required />
          </p>
        )}
      </fieldset>
      <p class="buttons">
        <button type="submit">See what will happen</button>
      </p>
    </form>
  );
}

function Resolved({ found }: { found: DiscrepancyCase }) {
  const { resolution, resolved_by, resolved_reason, resolved_at } = found;
  return (
    <p class="card">
      Resolved as {resolution}
      {resolved_by && ` by ${resolved_by}`}
      {resolved_at && (
        <>
          , <Time at={resolved_at} />
        </>
      )}
      {resolved_reason && `: ${VEILED.text(resolved_reason)}`}
    </p>
  );
}

function Choice({ visit, found }: Pick<DiscrepancyProps, 'visit' | 'found'>) {
  const { id, kind, allowed, gateway, payment_kind, merchant_id, payment_id } = found;
  const canAsk = visit.service.gateways.get(gateway)?.askReceipt !== undefined;
  const mayBeParts = allowed.includes('parts');
  const asksReceipt = allowed.includes('completed') && takesReceipt(kind);
  return (
    <form class="card" method="get" action={pathTo('decideDiscrepancyForm', { id })}>
      <fieldset>
        <legend>Your decision</legend>
        {allowed.map((as) => (
          <p>
            <label>
              <input type="radio" name="as" value={as} required /> {RESOLUTION_WORDS[as]}{' '}
              <span class="soft">({as})</span>
            </label>
          </p>
        ))}
      </fieldset>
      {(asksReceipt || mayBeParts) && (
        <p class="field">
          <label for="trans_id">
            {asksReceipt && 'Receipt, if it has completed and you know it. '}
            {mayBeParts && `Of parts: all receipts, up to ${MAX_PARTS}, with commas`}
          </label>
          <input id="trans_id" name="trans_id" maxLength={MAX_RECEIPT_LENGTH} />
        </p>
      )}
      <p class="buttons">
        <button type="submit">See what will happen</button>
        {asksReceipt && canAsk && (
          <button
            type="submit"
            class="quiet"
            formaction={pathTo('paymentAskReceiptForm', {
              kind: payment_kind,
              merchant_id,
              id: payment_id,
            })}
            formnovalidate
          >
            Ask the gateway about the receipt
          </button>
        )}
        <a href={pathTo('discrepancies')}>Do nothing</a>
      </p>
    </form>
  );
}
