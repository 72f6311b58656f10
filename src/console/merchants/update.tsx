import { TOTP_OPERATIONS } from '../../domain/access/require-totp.ts';
import {
  changeMerchant,
  MAX_COMMISSION_BPS,
  MAX_RATE,
  type MerchantRecord,
} from '../../domain/merchants/merchant.ts';
import { formatAmount } from '../../domain/money.ts';
import { ipAllowList } from '../../operations/ip-allow-list.ts';
import * as read from '../../operations/readers.ts';
import { type Action, changeRow } from '../shell/action.ts';
import { Checks, Field } from '../shell/fields.tsx';
import { checkedWords, readField, readOptional } from '../shell/read-fields.ts';
import { requireVersion, Version } from '../shell/reason-form.tsx';
import { VEILED } from '../shell/veil.ts';
import type { Visit } from '../visit.ts';

const NAME = { name: 'name', label: 'Name' };
const EMAIL = { name: 'email', label: 'E-mail address' };
const PHONE = { name: 'phone_number', label: 'New phone' };
const BPS = { name: 'commission_bps', label: 'Commission in basis points' };
const FEE = { name: 'commission_fixed', label: 'Added to each commission' };
const RATE = { name: 'rate_limit_per_minute', label: 'Requests per minute' };
const BURST = { name: 'rate_limit_burst', label: 'Requests at once' };
const USER_IPS = { name: 'user_ip_allow_list', label: 'Addresses of its users' };
const TOTP = 'totp_';

const OR_DEFAULT = 'default: that of the configuration';
const bps = read.orDefault(read.integer('BPS', 0, MAX_COMMISSION_BPS));
const fee = read.orDefault(read.feeAmount);
const rate = read.orDefault(read.integer('COUNT', 1, MAX_RATE));

/** Changes what is written about a merchant, its limits and the rules for its users. */
export const update: Action<MerchantRecord> = {
  action: 'merchant.update',
  title: 'Change particulars and limits',
  verb: 'Change',
  preview: () => [
    'Only what you change here changes. The audit log keeps what it was and what it is.',
    'New requests have the new limits at once. Payments that were accepted keep their commission.',
  ],
  fields: (merchant, given) => (
    <>
      <Version of={merchant} />
      <Fields merchant={merchant} given={given} />
    </>
  ),
  perform: async ({ form }, merchant, by) => {
    const { id } = merchant;
    const wanted = wantedOf(form);
    requireVersion(form, merchant);
    await changeRow(by, `merchant ${id}`, (trx) => changeMerchant(trx, id, wanted));
  },
};

function wantedOf(form: Visit['form']) {
  const phone_number = readOptional(form, PHONE, read.phone);
  return {
    name: readField(form, NAME, read.name),
    email: readField(form, EMAIL, read.email),
    ...(phone_number !== undefined && { phone_number }),
    commission_bps: readField(form, BPS, bps),
    commission_fixed_cents: readField(form, FEE, fee),
    rate_limit_per_minute: readField(form, RATE, rate),
    rate_limit_burst: readField(form, BURST, rate),
    user_ip_allow_list: readField(form, USER_IPS, ipAllowList),
    totp_required_for: checkedWords(form, TOTP, TOTP_OPERATIONS),
  };
}

function Fields({ merchant, given }: { merchant: MerchantRecord; given: Visit['form'] }) {
  const isAgain = given.name !== undefined;
  const value = (name: string, now: string | number | null) => given[name] ?? String(now);
  const orDefault = (now: string | number | null) => now ?? 'default';
  const { commission_fixed_cents: fixed } = merchant;
  const required = isAgain
    ? checkedWords(given, TOTP, TOTP_OPERATIONS)
    : merchant.totp_required_for;
  return (
    <>
      <Field {...NAME} value={value('name', merchant.name)} />
      <Field {...EMAIL} type="email" value={value('email', merchant.email)} />
      <Field
        {...PHONE}
        required={false}
        value={given.phone_number}
        hint={`Empty: it stays ${VEILED.account(merchant.phone_number)}`}
      />
      <Field
        {...BPS}
        value={value(BPS.name, orDefault(merchant.commission_bps))}
        hint={`150 is 1.5 %. ${OR_DEFAULT}`}
      />
      <Field
        {...FEE}
        value={value(FEE.name, fixed === null ? 'default' : formatAmount(fixed))}
        hint={`Such as 5.00. ${OR_DEFAULT}`}
      />
      <Field
        {...RATE}
        value={value(RATE.name, orDefault(merchant.rate_limit_per_minute))}
        hint={`In the long run. ${OR_DEFAULT}`}
      />
      <Field
        {...BURST}
        value={value(BURST.name, orDefault(merchant.rate_limit_burst))}
        hint={OR_DEFAULT}
      />
      <Field
        {...USER_IPS}
        value={value(USER_IPS.name, merchant.user_ip_allow_list.join(', ') || 'none')}
        hint="Addresses and networks that its users may come from, separated by commas. none: anywhere"
      />
      <Checks
        prefix={TOTP}
        legend="Its users need a one-time password for"
        words={TOTP_OPERATIONS}
        on={required}
      />
    </>
  );
}
