import { shownName } from '../domain/discrepancies/row-back.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { kes } from '../domain/money.ts';
import type { PaymentSummary } from '../domain/payments/payment-summary.ts';
import { openApprovalsAbout } from '../domain/staff/approval-store.ts';
import { factsOf } from '../domain/support/asked-decision.ts';
import { assignRow as assign } from '../domain/support/assign-row.ts';
import { findCase } from '../domain/support/discrepancy-cases.ts';
import { findPayments } from '../domain/support/find-payments.ts';
import { VEILED } from '../domain/veil.ts';
import type { Service } from '../service/service.ts';
import { DISCREPANCY, discrepancySubject } from './discrepancy.ts';
import { required } from './field.ts';
import { define } from './operation.ts';
import * as read from './readers.ts';

/** Says whose money a row brings back, so that its payment can be decided. */
export const assignRow = define({
  name: 'discrepancy.assign',
  role: 'support',
  title: 'Say whose money a row brings back',
  button: 'It is of this payment',
  summary: 'Says which payment the row of a money_back brings back',
  notes:
    'It books nothing. The payment is asked about (failure_after_success). Two people decide about that, and who has assigned the row approves nothing.',
  about: DISCREPANCY,
  fields: {
    payment: required('payment', read.uuid, 'The id of the payout, the reversal or the return', {
      label: 'Payment',
    }),
  },
  asksFirst: true,
  whyNot: ({ id, kind, resolution }) =>
    kind === 'money_back' && resolution === null
      ? null
      : `Discrepancy ${id} is about no row that waits for its payment`,
  seen: async (executor, { id }) => factsOf((await findCase(executor, id))!),
  preview: async ({ service, subject }, values) => {
    if (!values) return null;
    const { kind, ref_no, status } = await paidOut(service, values.payment);
    return [
      `The row ${shownName(subject.trans_id!, null)} brings ${kes(subject.amount_cents ?? 0)} back.`,
      `It is of the ${kind} ${VEILED.numbers(ref_no ?? values.payment)}, which is ${status}.`,
      'Nothing is booked. The payment is a question then, for two people. You cannot be the one who approves.',
    ];
  },
  perform: async ({ audited, service, subject, actor }, values) => {
    const { kind, merchant_id, id } = await paidOut(service, values.payment);
    const about = [discrepancySubject(subject.id)];
    const [asked] = await openApprovalsAbout(service.database, 'discrepancy.resolve', about);
    if (asked) {
      throw new OperatorRefusal(
        `${asked.requested_by} has asked for a decision about it: have that decided first`,
      );
    }
    await audited(async (trx) => ({
      value: await assign(trx, subject.id, { kind, merchant_id, id }, actor),
      audit: {
        ...{ merchant_id, subject: `${kind} ${id}` },
        details: { row: subject.trans_id, discrepancy: subject.id },
      },
    }));
    return {
      title: `The ${kind} ${id} is asked about: its money has come back by the row ${shownName(subject.trans_id!, null)}`,
      more: { kind, merchant_id, id },
    };
  },
});

/** Finds a payment of money that went out, by its id. */
async function paidOut({ database }: Service, id: string): Promise<PaymentSummary> {
  const found = await findPayments(database, { what: id, limit: 2 });
  const payment = found.find((each) => each.id === id && each.kind !== 'collection');
  if (payment) return payment;
  throw new OperatorRefusal(`No payout, reversal or return has the id ${id}`);
}
