import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import { NAME_OF_ROW } from '../discrepancies/row-back.ts';
import { IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import { SAME_ROW } from '../gateway-accounts/own-lines.ts';
import { showsNoMoreThan } from '../settlement/same-account.ts';
import { BEST_SOURCE, provenBy } from '../settlement/sources.ts';
import { IS_KNOWN } from './match-statement.ts';

/* Lines of files that say no more than is known. Nobody has to agree to them. */

/** SQL: the line `l` shows no account that the question `d` does not show. */
const SHOWS_NO_MORE = showsNoMoreThan('l.account', "d.details->>'account'");

/** SQL: how far the times of the line `l` and of the question `d` are apart. */
const APART = "l.completed_at - CAST(d.details->>'completed_at' AS timestamptz)";

/** SQL: the times are the same. At another time the line might be of another payment. */
const AT_SAME_TIME = `abs(extract(epoch FROM ${APART})) < ${MINUTE_MS / SECOND_MS}`;

/** SQL: somebody was asked as much about the row `l`, which brings money back. It is judged by the time of that question. */
export const WAS_ASKED = `EXISTS (SELECT FROM discrepancies d WHERE d.kind IN ('money_back', 'failure_after_success')
  AND d.gateway = :gateway AND d.trans_id = ${NAME_OF_ROW} AND d.amount_cents = l.amount_cents
  AND l.reference IS NOT DISTINCT FROM d.details->>'reference' AND ${SHOWS_NO_MORE}
  AND ${APART} BETWEEN -${SAME_ROW} AND ${SAME_ROW})`;

/** SQL: a line of a file about the movement `m` answers an open question. */
const ANSWERS = `EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = m.merchant_id
    AND d.payment_kind = m.payment_kind AND d.payment_id = m.payment_id AND d.resolved_at IS NULL
    AND (d.kind = 'taken_after_failure' OR d.kind = 'missing_at_gateway' AND d.details ? 'lacked_by'
      AND coalesce(d.trans_id = m.trans_id, true)))`;

/** SQL: the line `l` says nothing new. One that answers a question takes the people whom a decision about it takes. */
export const REPEATS = `(EXISTS (SELECT FROM movements m WHERE ${IS_KNOWN} AND NOT ${ANSWERS})
  -- People have decided about it, and it names no payment.
  OR l.reference IS NULL AND EXISTS (SELECT FROM discrepancies d WHERE d.${IS_UNKNOWN}
    AND d.gateway = :gateway AND d.trans_id = l.trans_id AND d.amount_cents = l.amount_cents
    AND coalesce(d.payment_kind, d.details->>'kind') = l.kind AND ${SHOWS_NO_MORE} AND ${AT_SAME_TIME}
    AND d.resolution IN ('dismissed', 'adopted')))`;

/** SQL: the line `l` of a file proves what only support, or a line that named nobody, has said. */
export const PROVES = `EXISTS (SELECT FROM movements m WHERE ${IS_KNOWN} AND (${isProvenBy('file_likeness')}
  OR l.reference IS NOT NULL AND ${isProvenBy('file')}))`;

/** SQL: news of a source proves more than is known of the money of the movement `m`, or of its receipt. */
function isProvenBy(source: string): string {
  const proven = provenBy(source).map((each) => `'${each}'`);
  return `(${BEST_SOURCE} IN (${proven}) OR m.receipt_told_by IN (${proven}))`;
}
