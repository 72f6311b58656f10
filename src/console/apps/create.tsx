import { newestAppOf } from '../../domain/merchants/app.ts';
import { registerApp } from '../../domain/merchants/change-app.ts';
import { lockMerchant, type MerchantRecord } from '../../domain/merchants/merchant.ts';
import { pathTo } from '../routes.ts';
import type { Action } from '../shell/action.ts';
import { requireVersion, Version } from '../shell/reason-form.tsx';
import { shownOnce } from '../shell/shown-once.tsx';
import { AppFields, particularsIn } from './fields.tsx';

/** Creates an app of a merchant, and shows its secret once. */
export const createApp: Action<MerchantRecord> = {
  action: 'app.create',
  title: 'Create an app',
  verb: 'Create and show the secret',
  preview: (_visit, { name }) => [
    `${name} gets another app, with a key and a secret of its own.`,
    'The secret is shown once, on the next page.',
  ],
  fields: async ({ id }, given, { service }) => (
    <>
      <Version of={await newestAppOf(service.database, id)} />
      <AppFields app={{ name: '', products: [], ip_allow_list: [] }} given={given} />
    </>
  ),
  perform: async ({ form, service }, { id: merchant_id }, { audited }) => {
    const wanted = particularsIn(form);
    const { app, app_secret } = await audited(async (trx) => {
      await lockMerchant(trx, merchant_id);
      // Whoever reloads the answer would create another app.
      requireVersion(form, await newestAppOf(trx, merchant_id));
      return registerApp(trx, service.config.secretsKeys, merchant_id, wanted);
    });
    return shownOnce({
      title: `App ${app.code} is created`,
      what: 'app secret',
      secret: app_secret,
      back: pathTo('app', { merchant_id, code: app.code }),
      lines: [`Its key is ${app.app_key}.`, 'The secret also signs its webhooks.'],
    });
  },
};
