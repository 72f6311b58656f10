import {
  listMerchants,
  MAX_SEARCH_LENGTH,
  type MerchantRecord,
} from '../../domain/merchants/merchant.ts';
import { formatAmount } from '../../domain/money.ts';
import { VEILED } from '../../domain/veil.ts';
import { walletBalances } from '../../domain/wallets/list-transactions.ts';
import { optional } from '../../operations/field.ts';
import { createMerchant, MERCHANT, merchantOperations } from '../../operations/merchant.ts';
import * as read from '../../operations/readers.ts';
import type { Config } from '../../process/config.ts';
import { verbsOf } from '../operation-verb.ts';
import { lists, recordLines, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { render } from '../output/table.ts';
import { type Noun, reads } from '../verb.ts';

const ANYWHERE = 'anywhere';

const view: View<MerchantRecord> = {
  what: 'merchant',
  keyOf: ({ id }) => id,
  document: ({ id, ...row }) => ({ merchant_id: id, ...rowDocument(row) }),
  columns: ['id', 'name', 'email', 'phone_number', 'active', 'approved', 'payouts_held'],
};

/** Shows the value of the configuration where a merchant has none of its own. */
function viewWith({ commissionDefaults, rateLimit }: Config): View<MerchantRecord> {
  const values = {
    commission_bps: commissionDefaults.bps,
    commission_fixed: formatAmount(commissionDefaults.fixedCents),
    rate_limit_per_minute: rateLimit.perMinute,
    rate_limit_burst: rateLimit.burst,
    payout_limit_per_minute: rateLimit.perMinute,
    payout_limit_burst: rateLimit.burst,
  };
  const texts = Object.entries(values).map(([name, value]) => [name, `${value} (default)`]);
  const empty = { ...Object.fromEntries(texts), user_ip_allow_list: ANYWHERE };
  return { ...view, empty };
}

const list = lists(view, read.merchantId, {
  role: 'viewer',
  summary: 'Lists merchants by number',
  options: {
    what: optional(
      'search',
      read.text('TEXT', MAX_SEARCH_LENGTH),
      'Only those with this number, or with this part of the name or the e-mail address',
    ),
  },
  // Viewers read it, too. `show` is for support.
  read: async ({ database }, page) => {
    const found = await listMerchants(database, page);
    return found.map((row) => ({ ...row, phone_number: VEILED.account(row.phone_number) }));
  },
});

const show = reads({
  role: 'support',
  summary: 'Shows a merchant and the balances of its wallets',
  options: MERCHANT.fields,
  argument: MERCHANT.argument,
  run: async (service, names) => {
    const { database, config } = service;
    const found = await MERCHANT.find(service, names);
    const { collection, payout } = await walletBalances(database, found.id);
    const balance = (cents?: number) => (cents === undefined ? null : formatAmount(cents));
    const wallets = { collection: balance(collection), payout: balance(payout) };
    return {
      data: { ...view.document(found), wallets },
      lines: [recordLines(viewWith(config), found), render({ wallets }, 'missing')],
    };
  },
});

const { create, ...changes } = verbsOf([createMerchant, ...merchantOperations], ({ config }) =>
  viewWith(config),
);

export const merchant: Noun = {
  summary: 'Businesses that take and make payments',
  verbs: { create: create!, list, show, ...changes },
};
