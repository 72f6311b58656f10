import type { MerchantRecord } from '../domain/merchants/merchant.ts';
import { formatAmount, kes } from '../domain/money.ts';
import {
  type AdoptableLine,
  type AdoptionPlan,
  adoptAsAsked,
  gainOf,
  MAX_ADOPTED,
  planAdoption,
} from '../domain/support/adopt-movements.ts';
import { counted } from '../domain/text.ts';
import { required } from './field.ts';
import { MERCHANT } from './merchant.ts';
import { define, type Look, SECOND_ADMIN } from './operation.ts';
import * as read from './readers.ts';

const receipts = {
  ...read.reader('RECEIPT,…', `1 to ${MAX_ADOPTED} receipts`, (text) => {
    const given = [...new Set(text.split(/[\s,;]+/).filter((each) => each !== ''))];
    const isRight = given.length > 0 && given.length <= MAX_ADOPTED;
    return isRight && given.every((each) => each.length <= read.MAX_RECEIPT_LENGTH)
      ? given
      : undefined;
  }),
  write: (given: string[]) => given.join(', '),
};

interface Values {
  receipts: string[];
}

const planOf = ({ service, subject }: Look<MerchantRecord>, { receipts }: Values) =>
  planAdoption(service.database, { merchant_id: subject.id, receipts }, service.config);

/** Books money of payments that are not here, as after a restore, on a merchant's wallets. */
export const adoptMovements = define({
  name: 'discrepancy.adopt',
  role: 'admin',
  title: 'Adopt forgotten money',
  button: 'Adopt',
  summary: "Books unknown movements on a merchant's wallets, as its payments that are not here",
  notes: `For movements that no payment here explains, as after a restore. A collection comes to the collection wallet, less commission; a payout takes amount and fee from the payout wallet. --receipts "$(cat receipts.txt)" takes the receipts of a file. The merchant reads the reason.`,
  about: MERCHANT,
  fields: {
    receipts: required('receipts', receipts, 'Of the unknown movements, with commas or blanks'),
  },
  asksFirst: true,
  preview: async (look, values) => values && linesOf(await planOf(look, values)),
  twoPeople: SECOND_ADMIN.twoPeople,
  approval: async (look, values) => {
    const plan = await planOf(look, values);
    const { merchant_id, lines } = plan;
    return {
      subject: `merchant ${merchant_id}, ${counted(lines.length, 'receipt')}, the first ${lines[0]!.receipt}`,
      merchant_id,
      amount_cents: sumOf(plan),
      payload: { merchant_id, lines },
      why: SECOND_ADMIN.why,
    };
  },
  perform: async ({ audited, actor, reason, ...look }, values) => {
    const { service } = look;
    const plan = await planOf({ ...look, actor, reason }, values);
    const by = { requested_by: actor, reason };
    const { merchant_id, lines } = await audited((trx) =>
      adoptAsAsked(trx, plan, by, service.config),
    );
    return {
      title: `${counted(lines.length, 'receipt')} adopted`,
      facts: { merchant_id, adopted: lines.length, amount_cents: sumOf(plan) },
      notes: plan.refused.map(refusedLine),
    };
  },
});

function sumOf({ lines }: AdoptionPlan): number {
  return lines.reduce((sum, { amount_cents }) => sum + amount_cents, 0);
}

function linesOf(plan: AdoptionPlan): string[] {
  const { merchant_id, lines, refused } = plan;
  const gains = (['collection', 'payout'] as const).map((wallet) => [wallet, gainOf(plan, wallet)]);
  return [
    `${counted(lines.length, 'movement')} of ${kes(sumOf(plan))} come to the books of merchant ${merchant_id}.`,
    ...lines.map(adoptedLine),
    ...gains.flatMap(([wallet, cents]) =>
      cents === 0 ? [] : [`In all, the ${wallet} wallet changes by ${kes(Number(cents))}.`],
    ),
    'The merchant must not send these payments again.',
    ...refused.map((each) => `${refusedLine(each)}.`),
  ];
}

function adoptedLine({ receipt, kind, gateway, amount_cents, ...line }: AdoptableLine): string {
  const cost = `${kind === 'collection' ? 'commission' : 'fee'} ${formatAmount(line.cost_cents)}`;
  const doubt = line.is_told ? '' : ' Only a file has told it: look for it in the portal.';
  return `${receipt} at ${gateway}: ${kind} of ${formatAmount(amount_cents)}, ${cost}.${doubt}`;
}

function refusedLine({ receipt, why }: AdoptionPlan['refused'][number]): string {
  return `Not adopted: ${receipt}: ${why}`;
}
