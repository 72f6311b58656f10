import { OperatorRefusal } from '../../domain/errors.ts';
import {
  changeMerchant,
  endCredentials,
  type MerchantChanges,
  type MerchantRecord,
} from '../../domain/merchants/merchant.ts';
import { countOpenPayouts } from '../../domain/merchants/payout-hold.ts';
import { type Action, type Actions, changeRow } from '../shell/action.ts';
import { Check } from '../shell/fields.tsx';
import type { Visit } from '../visit.ts';
import { update } from './update.tsx';

/** The page looks at so many open payouts of a merchant. */
const MAX_COUNTED_PAYOUTS = 10_000;

/** Brings a merchant into a state that it is not in yet. */
function verdict(
  verb: string,
  title: string,
  wanted: MerchantChanges,
  lines: readonly string[],
): Action<MerchantRecord> {
  const isBrake = wanted.active === false || wanted.payouts_held === true;
  return {
    action: `merchant.${verb}`,
    title,
    verb: title,
    whyNot: (merchant) =>
      isLike(merchant, wanted) ? `Merchant ${merchant.id} is like that already` : null,
    preview: async (visit, merchant) =>
      isBrake ? [...lines, await openPayouts(visit, merchant)] : lines,
    perform: async (_visit, { id }, by) => {
      await changeRow(by, `merchant ${id}`, (trx) => changeMerchant(trx, id, wanted));
    },
  };
}

function isLike(merchant: MerchantRecord, wanted: MerchantChanges): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => merchant[name as keyof MerchantRecord] === value,
  );
}

async function openPayouts({ service }: Visit, { id }: MerchantRecord): Promise<string> {
  const open = await countOpenPayouts(service.database, id, MAX_COUNTED_PAYOUTS);
  const { waiting, maybe_sent } = open;
  const isMore = waiting + maybe_sent === MAX_COUNTED_PAYOUTS;
  return `Payouts that wait now: ${waiting}; that may have been sent already: ${maybe_sent}${isMore ? ', and there are more' : ''}.`;
}

const BRAKE =
  'Payouts that wait are not sent until then. One that may have been sent already is still asked about and settled.';

const revokeAll: Action<MerchantRecord> = {
  action: 'merchant.revoke-all',
  title: 'Revoke all credentials',
  verb: 'Revoke all credentials',
  preview: () => [
    'All its sessions and all secrets of its apps end at once. Its programs are shut out until they have new secrets.',
    'Passwords of its users stay: replace them one by one.',
    'Webhooks of an app that has no secret left to sign with wait until it has one, and are not lost.',
  ],
  fields: (_merchant, given) => (
    <Check
      name="keep_webhook_secrets"
      label="Apps keep the webhook secrets of their own"
      on={given.keep_webhook_secrets === 'on'}
    />
  ),
  perform: async ({ form }, { id }, { audited }) => {
    const keepWebhookSecrets = form.keep_webhook_secrets === 'on';
    const { changed } = await audited((trx) => endCredentials(trx, id, { keepWebhookSecrets }));
    if (!changed) {
      throw new OperatorRefusal(`The credentials of merchant ${id} had ended already`);
    }
  },
};

/** What can be done about a merchant, by the last part of the address. */
export const MERCHANT_ACTIONS: Actions<MerchantRecord> = {
  approve: verdict('approve', 'Approve', { approved: true }, [
    'The merchant may take and make payments.',
  ]),
  suspend: verdict('suspend', 'Suspend', { active: false }, [
    'All requests of the merchant are refused until it is activated. Its sessions end for good.',
    BRAKE,
  ]),
  activate: verdict('activate', 'Activate', { active: true }, [
    'The suspension ends: its requests are taken again, and its payouts go.',
    'Its people and programs must log in again.',
  ]),
  'hold-payouts': verdict('hold-payouts', 'Hold payouts', { payouts_held: true }, [
    'Its payouts are held until they are released. New ones are accepted and wait.',
    BRAKE,
  ]),
  'release-payouts': verdict('release-payouts', 'Release payouts', { payouts_held: false }, [
    'The payouts that were held go out, as far as their time has not run out.',
  ]),
  update,
  'revoke-all': revokeAll,
};
