import { TOTP_OPERATIONS, type TotpOperation } from '../../domain/access/require-totp.ts';
import {
  changeMerchant,
  listMerchants,
  MAX_COMMISSION_BPS,
  MAX_RATE,
  type MerchantChanges,
  type MerchantRecord,
  registerMerchant,
  requireMerchant,
} from '../../domain/merchants/merchant.ts';
import { formatAmount } from '../../domain/money.ts';
import { walletBalances } from '../../domain/wallets/list-transactions.ts';
import { flag, optional, required, requireOne } from '../../operations/field.ts';
import { ipAllowList } from '../../operations/ip-allow-list.ts';
import * as read from '../../operations/readers.ts';
import type { Config } from '../../process/config.ts';
import { lists, recordLines, updateRow, type View, withEndedSessions } from '../output/answers.ts';
import { merchantView as view } from '../output/merchants.ts';
import { render } from '../output/table.ts';
import { changes, type Noun, reads, type Verb } from '../verb.ts';
import { revokeAll } from './merchant-revocation.ts';

const ANYWHERE = 'anywhere';

/** Shows the value of the configuration where a merchant has none of its own. */
function viewWith({ commissionDefaults, rateLimit }: Config): View<MerchantRecord> {
  const values = {
    commission_bps: commissionDefaults.bps,
    commission_fixed: formatAmount(commissionDefaults.fixedCents),
    rate_limit_per_minute: rateLimit.perMinute,
    rate_limit_burst: rateLimit.burst,
  };
  const texts = Object.entries(values).map(([name, value]) => [name, `${value} (default)`]);
  const empty = { ...Object.fromEntries(texts), user_ip_allow_list: ANYWHERE };
  return { ...view, empty };
}

const id = required('merchant', read.merchantId, 'The number of the merchant');
const bps = read.orDefault(read.integer('BPS', 0, MAX_COMMISSION_BPS));
const fee = read.orDefault(read.feeAmount);
const rate = read.orDefault(read.integer('COUNT', 1, MAX_RATE));
const totpOperations = read.orNone(read.someOf<TotpOperation>(TOTP_OPERATIONS));
const USER_IPS = 'Addresses and networks that its users may come from; none: anywhere';
const REQUIRE_TOTP = `For which of ${TOTP_OPERATIONS.join(', ')} its users need a one-time password`;

const create = changes({
  role: 'admin',
  summary: 'Creates a merchant with its two empty wallets',
  options: {
    name: required('name', read.name, 'Its name'),
    email: required('email', read.email, 'Its e-mail address'),
    phone_number: required('phone', read.phone, 'Its mobile phone'),
    approved: flag('approved', 'It may take and make payments from the start'),
  },
  run: async ({ config }, values, { audited }) => {
    const created = await audited((trx) => registerMerchant(trx, values));
    return {
      data: view.document(created),
      lines: recordLines(viewWith(config), created, 'created'),
    };
  },
});

const list = lists(view, read.merchantId, {
  role: 'viewer',
  summary: 'Lists merchants by number',
  read: ({ database }, page) => listMerchants(database, page),
});

const show = reads({
  role: 'viewer',
  summary: 'Shows a merchant and the balances of its wallets',
  options: { merchant_id: id },
  argument: 'merchant_id',
  run: async ({ database, config }, { merchant_id }) => {
    const found = await requireMerchant(database, merchant_id);
    const { collection, payout } = await walletBalances(database, found.id);
    const balance = (cents?: number) => (cents === undefined ? null : formatAmount(cents));
    const wallets = { collection: balance(collection), payout: balance(payout) };
    return {
      data: { ...view.document(found), wallets },
      lines: [recordLines(viewWith(config), found), render({ wallets }, 'missing')],
    };
  },
});

const update = changes({
  role: 'admin',
  summary: "Changes a merchant's particulars, commission, rate limit or the rules for its users",
  notes: 'The word default gives a commission or a limit back to the configuration.',
  options: {
    id,
    name: optional('name', read.name, 'Its name'),
    email: optional('email', read.email, 'Its e-mail address'),
    phone_number: optional('phone', read.phone, 'Its mobile phone'),
    commission_bps: optional('commission-bps', bps, 'Commission in basis points: 150 is 1.5 %'),
    commission_fixed_cents: optional('commission-fixed', fee, 'Added to each, such as 5.00'),
    rate_limit_per_minute: optional('rate-per-minute', rate, 'Requests per minute in the long run'),
    rate_limit_burst: optional('rate-burst', rate, 'Requests at once'),
    user_ip_allow_list: optional('user-ips', ipAllowList, USER_IPS),
    totp_required_for: optional('require-totp', totpOperations, REQUIRE_TOTP),
  },
  argument: 'id',
  check: ({ id: _, ...wanted }) =>
    requireOne(wanted, 'Say what to change: merchant update --help lists what can be'),
  run: ({ config }, { id, ...wanted }, change) =>
    updateRow(change, viewWith(config), (trx) => changeMerchant(trx, id, wanted)),
});

function verdict(summary: string, wanted: MerchantChanges, state: string): Verb {
  return changes({
    role: 'admin',
    summary,
    options: { id },
    argument: 'id',
    run: ({ config }, { id }, change) =>
      updateRow(change, viewWith(config), (trx) => changeMerchant(trx, id, wanted), state),
  });
}

/** Makes a brake on payouts. It says how many it holds, and for how many it comes too late. */
function brake(summary: string, wanted: MerchantChanges, state: string): Verb {
  return changes({
    role: 'admin',
    summary,
    notes:
      'Payouts that wait are not sent until then. One that may have been sent already is still asked about and settled.',
    options: { id },
    argument: 'id',
    run: ({ config }, { id }, change) =>
      updateRow(
        change,
        viewWith(config),
        async (trx) => {
          const update = await changeMerchant(trx, id, wanted);
          const payouts = update.payouts!;
          const { waiting, maybe_sent } = payouts;
          const note = `Payouts that wait: ${waiting}; that may have been sent already: ${maybe_sent}`;
          const shown = { ...update, more: { payouts }, notes: [note] };
          return wanted.active === false ? withEndedSessions(shown) : shown;
        },
        state,
      ),
  });
}

const SUSPEND =
  'Refuses all requests of a merchant, holds its payouts until it is activated, and ends its sessions for good';
const HOLD =
  'Holds the payouts of a merchant until they are released; new ones are accepted and wait';

export const merchant: Noun = {
  summary: 'Businesses that take and make payments',
  verbs: {
    create,
    list,
    show,
    update,
    approve: verdict('Lets a merchant take and make payments', { approved: true }, 'approved'),
    suspend: brake(SUSPEND, { active: false }, 'suspended'),
    activate: verdict('Ends the suspension of a merchant', { active: true }, 'active'),
    'revoke-all': revokeAll,
    'hold-payouts': brake(HOLD, { payouts_held: true }, 'kept from sending payouts'),
    'release-payouts': verdict(
      'Lets the payouts of a merchant go that hold-payouts has held',
      { payouts_held: false },
      'free to send payouts',
    ),
  },
};
