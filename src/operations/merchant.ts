import type { Transaction } from '../connections/database.ts';
import { TOTP_OPERATIONS, type TotpOperation } from '../domain/access/require-access.ts';
import {
  changeMerchant,
  endCredentials,
  MAX_COMMISSION_BPS,
  MAX_RATE,
  type MerchantChanges,
  type MerchantRecord,
  registerMerchant,
  requireMerchant,
} from '../domain/merchants/merchant.ts';
import { countOpenOutgoing } from '../domain/merchants/outgoing-hold.ts';
import { ALREADY, changeRow, withMore } from './changed-row.ts';
import { flag, optional, required, requireOne } from './field.ts';
import { ipAllowList } from './ip-allow-list.ts';
import { type Deed, define, type Look, type Noun, type Operation } from './operation.ts';
import * as read from './readers.ts';
import { bySecondAdmin } from './second-admin.ts';

/** The most open payouts of a merchant that a preview counts. */
const MAX_COUNTED_PAYOUTS = 10_000;

export const MERCHANT: Noun<MerchantRecord> = {
  fields: { merchant_id: required('merchant', read.merchantId, 'The number of the merchant') },
  argument: 'merchant_id',
  find: ({ database }, { merchant_id }) => requireMerchant(database, Number(merchant_id)),
};

const nameOf = ({ id }: Pick<MerchantRecord, 'id'>) => `merchant ${id}`;
const seen: Operation<MerchantRecord>['seen'] = (executor, { id }, lock) =>
  requireMerchant(executor, id, lock);
const ACCESS = {
  names: ({ id }: MerchantRecord) => ({ merchant_id: id }),
  subject: nameOf,
  merchant: ({ id }: MerchantRecord) => id,
};

/** Is about no merchant that is there already. */
export const createMerchant = define({
  name: 'merchant.create',
  role: 'admin',
  title: 'Create a merchant',
  summary: 'Creates a merchant with its two empty wallets',
  fields: {
    name: required('name', read.name, 'Its name'),
    email: required('email', read.email, 'Its e-mail address', { label: 'E-mail address' }),
    phone_number: required('phone', read.phone, 'Its mobile phone'),
    approved: flag('approved', 'It may take and make payments from the start'),
  },
  preview: () => ['A merchant is created, with two empty wallets.'],
  perform: async ({ audited }, values) => {
    const row = await audited((trx) => registerMerchant(trx, values));
    return { title: `Merchant ${row.id} created`, row };
  },
});

const USER_IPS = 'Addresses and networks that its users may come from; none: anywhere';
const REQUIRE_TOTP = `For which of ${TOTP_OPERATIONS.join(', ')} its users need a one-time password`;
const bps = read.orDefault(read.integer('BPS', 0, MAX_COMMISSION_BPS));
const rate = read.orDefault(read.integer('COUNT', 1, MAX_RATE));

const update = define({
  name: 'merchant.update',
  role: 'admin',
  title: 'Change particulars and limits',
  button: 'Change',
  summary: "Changes a merchant's particulars, commission, limits or the rules for its users",
  notes: 'The word default gives a commission or a limit back to the configuration.',
  about: MERCHANT,
  fields: {
    name: optional('name', read.name, 'Its name'),
    email: optional('email', read.email, 'Its e-mail address', { label: 'E-mail address' }),
    phone_number: optional('phone', read.phone, 'Its mobile phone', {
      label: 'New phone',
      isPersonal: true,
    }),
    commission_bps: optional('commission-bps', bps, '150 is 1.5 %', {
      label: 'Commission in basis points',
    }),
    commission_fixed_cents: optional(
      'commission-fixed',
      read.orDefault(read.feeAmount),
      'Added to each commission, such as 5.00',
      { label: 'Added to each commission' },
    ),
    debt_limit_cents: optional(
      'debt-limit',
      read.feeAmount,
      'It may pay out while its collection wallet is this far below zero',
      { label: 'Debt limit' },
    ),
    rate_limit_per_minute: optional('rate-per-minute', rate, 'In the long run', {
      label: 'Requests per minute',
    }),
    rate_limit_burst: optional('rate-burst', rate, 'Requests at once', {
      label: 'Requests at once',
    }),
    payout_limit_per_minute: optional('payouts-per-minute', rate, 'In the long run', {
      label: 'Payouts per minute',
    }),
    payout_limit_burst: optional('payout-burst', rate, 'Payouts at once', {
      label: 'Payouts at once',
    }),
    user_ip_allow_list: optional('user-ips', ipAllowList, USER_IPS, {
      label: 'Addresses of its users',
      empty: 'any address',
    }),
    totp_required_for: optional(
      'require-totp',
      read.orNone(read.someOf<TotpOperation>(TOTP_OPERATIONS)),
      REQUIRE_TOTP,
      { label: 'Its users need a one-time password for', empty: 'nothing' },
    ),
  },
  check: (wanted) => {
    requireOne(wanted, 'Say what to change: merchant update --help lists what can be');
  },
  preview: () => [
    'Only what you change here changes. The audit log keeps what it was and what it is.',
    'New requests have the new limits at once. Payments that were accepted keep their commission.',
  ],
  now: (merchant) => merchant,
  seen,
  ...bySecondAdmin<MerchantRecord, MerchantChanges>({
    ...ACCESS,
    what: 'name, address, commission, debt limit, payouts a minute, or the rules for its users',
    isNeeded: (_merchant, wanted) =>
      Object.entries(wanted).some(
        ([name, value]) => value !== undefined && !ALONE.includes(name as keyof MerchantChanges),
      ),
  }),
  perform: async (deed, wanted) => changed(deed, wanted),
});

/** One admin may change these alone. The name is not among them: by it a second admin knows who a request is for. */
const ALONE: readonly (keyof MerchantChanges)[] = [
  'phone_number',
  'rate_limit_per_minute',
  'rate_limit_burst',
];

async function changed(deed: Deed<MerchantRecord>, wanted: MerchantChanges, state?: string) {
  const { id } = deed.subject;
  const work = (trx: Transaction) => changeMerchant(trx, id, wanted);
  const { change, result } = await changeRow(deed, nameOf, work, state);
  const { payouts } = change;
  if (!payouts) return result;
  return withMore(result, { more: { payouts }, notes: [openWords(payouts)] });
}

interface Verdict {
  verb: string;
  title: string;
  summary: string;
  /** The state that it brings about, in words. */
  state: string;
  wanted: MerchantChanges;
  lines: readonly string[];
  /** It ends a brake, which another admin may have set for a good reason. */
  endsBrake?: true;
}

/** Brings a merchant into a state. */
function verdict({ verb, title, summary, state, wanted, lines, endsBrake }: Verdict) {
  const isBrake = wanted.active === false || wanted.payouts_held === true;
  return define<MerchantRecord, Record<never, never>>({
    name: `merchant.${verb}`,
    role: 'admin',
    title,
    summary,
    ...(isBrake && { notes: BRAKE }),
    about: MERCHANT,
    fields: {},
    whyNot: (merchant) => {
      const isLike = Object.entries(wanted).every(
        ([name, value]) => merchant[name as keyof MerchantRecord] === value,
      );
      return isLike ? `Merchant ${merchant.id} is ${state} already` : null;
    },
    preview: async (look) => (isBrake ? [...lines, BRAKE, await openPayouts(look)] : lines),
    ...(endsBrake && { seen, ...bySecondAdmin<MerchantRecord, object>(ACCESS) }),
    perform: (deed) => changed(deed, wanted, state),
  });
}

const BRAKE =
  'Payouts and reversals that wait are not sent until then. One that may have been sent already is still asked about and settled.';

async function openPayouts({ service, subject }: Look<MerchantRecord>): Promise<string> {
  const open = await countOpenOutgoing(service.database, subject.id, MAX_COUNTED_PAYOUTS);
  const isAll = open.waiting + open.maybe_sent < MAX_COUNTED_PAYOUTS;
  return `${openWords(open)}${isAll ? '' : ', and there are more'}.`;
}

function openWords({ waiting, maybe_sent }: { waiting: number; maybe_sent: number }): string {
  return `Payouts and reversals that wait now: ${waiting}; that may have been sent already: ${maybe_sent}`;
}

const revokeAll = define({
  name: 'merchant.revoke-all',
  role: 'admin',
  title: 'Revoke all credentials',
  summary: 'Ends all sessions and all secrets of a merchant at once',
  notes:
    'Passwords of its users stay: user update --new-password replaces one. Webhooks of an app that has no secret left to sign with wait until it has one, and are not lost: app rotate-secret, or app rotate-webhook-secret for an app with a webhook secret of its own. With --keep-webhook-secrets the webhooks of such an app go on. docs/operations.md has the steps after a leak.',
  about: MERCHANT,
  fields: {
    keep_webhook_secrets: flag(
      'keep-webhook-secrets',
      'Apps keep the webhook secrets of their own',
    ),
  },
  preview: () => [
    'All its sessions and all secrets of its apps end at once. Its programs are shut out until they have new secrets.',
    'Passwords of its users stay: replace them one by one.',
    'Webhooks of an app that has no secret left to sign with wait until it has one, and are not lost.',
  ],
  perform: async ({ audited, subject: { id } }, { keep_webhook_secrets }) => {
    const { revoked, unsigned, changed } = await audited((trx) =>
      endCredentials(trx, id, { keepWebhookSecrets: keep_webhook_secrets }),
    );
    return {
      title: changed
        ? `The credentials of merchant ${id} have ended`
        : `The credentials of merchant ${id} had ended ${ALREADY}`,
      facts: changed ? revoked : {},
      more: { merchant_id: id, changed, ...revoked, apps_without_signing_secret: unsigned },
      notes: [
        unsigned.length > 0 &&
          `Webhooks wait until these apps have a new secret to sign with: ${unsigned.join(', ')}`,
      ],
      isDone: changed,
    };
  },
});

/** Operations about a merchant. */
export const merchantOperations: readonly Operation<MerchantRecord>[] = [
  update,
  verdict({
    verb: 'approve',
    title: 'Approve',
    summary: 'Lets a merchant take and make payments',
    state: 'approved',
    wanted: { approved: true },
    lines: ['The merchant may take and make payments.'],
  }),
  verdict({
    verb: 'suspend',
    title: 'Suspend',
    summary:
      'Refuses all requests of a merchant, holds its payouts and reversals until it is activated, and ends its sessions for good',
    state: 'suspended',
    wanted: { active: false },
    lines: [
      'All requests of the merchant are refused until it is activated. Its sessions end for good.',
    ],
  }),
  verdict({
    verb: 'activate',
    title: 'Activate',
    summary: 'Ends the suspension of a merchant',
    state: 'active',
    wanted: { active: true },
    endsBrake: true,
    lines: [
      'The suspension ends: its requests are taken again, and its payouts and reversals go.',
      'Its people and programs must log in again.',
    ],
  }),
  revokeAll,
  verdict({
    verb: 'hold-payouts',
    title: 'Hold payouts',
    summary:
      'Holds the payouts and reversals of a merchant until they are released; new ones are accepted and wait',
    state: 'kept from sending payouts',
    wanted: { payouts_held: true },
    lines: [
      'Its payouts and reversals are held until they are released. New ones are accepted and wait.',
    ],
  }),
  verdict({
    verb: 'release-payouts',
    title: 'Release payouts',
    summary: 'Lets the payouts and reversals of a merchant go that hold-payouts has held',
    state: 'free to send payouts',
    wanted: { payouts_held: false },
    endsBrake: true,
    lines: ['The payouts and reversals that were held go out.'],
  }),
];
