import {
  createMerchant,
  listMerchants,
  type MerchantChanges,
  requireMerchant,
  updateMerchant,
} from '../domain/merchants/manage-merchants.ts';
import { walletBalances } from '../domain/wallets/wallet.ts';
import { feeAmount } from './amounts.ts';
import {
  ALREADY,
  type Answer,
  type ChangeContext,
  type Command,
  changes,
  flag,
  optional,
  reads,
  required,
  UsageError,
} from './command.ts';
import { answerList, limitOption } from './lists.ts';
import { amountOrNull, merchantDocument, merchantLines, merchantList } from './merchant-view.ts';
import { email, integer, merchantId, name, orDefault, phone } from './readers.ts';

const MAX_BPS = 10_000;
const MAX_RATE = 100_000;

const merchant = { merchant: required(merchantId, 'Which merchant') };
const NAME = 'What it is called';
const EMAIL = 'Where it reads mail';
const PHONE = 'Its mobile phone';
const rate = integer('COUNT', 1, MAX_RATE);

const create = changes({
  summary: 'Creates a merchant with its two empty wallets',
  options: {
    name: required(name, NAME),
    email: required(email, EMAIL),
    phone: required(phone, PHONE),
    approved: flag('It may take and make payments from the start'),
  },
  run: async (context, values) => {
    const created = await context.audited(async (trx) => {
      const { name: called, email: mail, phone: phoneNumber, approved } = values;
      const id = await createMerchant(trx, {
        name: called,
        email: mail,
        phone_number: phoneNumber,
        approved,
      });
      const details = { name: called, email: mail, phone_number: phoneNumber, approved };
      const audit = { merchant_id: id, subject: `merchant ${id}`, details };
      return { value: await requireMerchant(trx, id), audit };
    });
    return { data: merchantDocument(created), lines: merchantLines('created', created) };
  },
});

const list = reads({
  summary: 'Lists merchants by their numbers',
  options: { after: optional(merchantId, 'Begin after this one'), limit: limitOption },
  run: ({ database }, { after, limit }) =>
    answerList(merchantList, limit, (count) => listMerchants(database, { after, limit: count })),
});

const show = reads({
  summary: 'Shows a merchant and what is in its wallets',
  options: merchant,
  run: async ({ database }, values) => {
    const found = await requireMerchant(database, values.merchant);
    const balances = await walletBalances(database, found.id);
    const collection = amountOrNull(balances.collection);
    const payout = amountOrNull(balances.payout);
    return {
      data: { ...merchantDocument(found), wallets: { collection, payout } },
      lines: merchantLines('', found, {
        'collection wallet': collection ?? 'missing',
        'payout wallet': payout ?? 'missing',
      }),
    };
  },
});

const update = changes({
  summary: "Changes a merchant's particulars, commission or rate limit",
  notes: ['The word default gives a commission or a limit back to the configuration.'],
  options: {
    ...merchant,
    name: optional(name, NAME),
    email: optional(email, EMAIL),
    phone: optional(phone, PHONE),
    'commission-bps': optional(
      orDefault(integer('BPS', 0, MAX_BPS)),
      'Commission in basis points: 150 is 1.5 %',
    ),
    'commission-fixed': optional(orDefault(feeAmount), 'Commission besides, such as 5.00'),
    'rate-per-minute': optional(
      orDefault(rate),
      'Requests a minute that it may make in the long run',
    ),
    'rate-burst': optional(orDefault(rate), 'Requests that it may make at once'),
  },
  check: ({ merchant: _merchant, ...wanted }) => {
    if (Object.values(wanted).every((value) => value === undefined)) {
      throw new UsageError('Say what to change: merchant update --help lists what can be');
    }
  },
  run: (context, values) => {
    const wanted: Wanted = {
      name: values.name,
      email: values.email,
      phone_number: values.phone,
      commission_bps: values['commission-bps'],
      commission_fixed_cents: values['commission-fixed'],
      rate_limit_per_minute: values['rate-per-minute'],
      rate_limit_burst: values['rate-burst'],
    };
    return change(context, values.merchant, wanted, 'changed', `is like that ${ALREADY}`);
  },
});

const approve = verdict('Lets a merchant take and make payments', { approved: true }, 'approved');
const suspend = verdict(
  'Refuses all requests of a merchant, until it is activated',
  { active: false },
  'suspended',
);
const activate = verdict('Ends the suspension of a merchant', { active: true }, 'active');

type Wanted = { [Name in keyof MerchantChanges]: MerchantChanges[Name] | undefined };

function verdict(summary: string, wanted: MerchantChanges, state: string): Command {
  return changes({
    summary,
    options: merchant,
    run: (context, values) =>
      change(context, values.merchant, wanted, `is ${state} now`, `is ${state} ${ALREADY}`),
  });
}

async function change(
  context: ChangeContext,
  id: number,
  wanted: Wanted,
  done: string,
  already: string,
): Promise<Answer> {
  const { after, changed } = await context.audited(async (trx) => {
    const updated = await updateMerchant(trx, id, wanted);
    const isChanged = Object.keys(updated.changed).length > 0;
    const audit = { merchant_id: id, subject: `merchant ${id}`, details: updated.changed };
    const value = { after: updated.merchant, changed: isChanged };
    return { value, audit: isChanged ? audit : null };
  });
  return {
    data: { ...merchantDocument(after), changed },
    lines: merchantLines(changed ? done : already, after),
  };
}

export const merchantVerbs = { create, list, show, update, approve, suspend, activate };
