import { type AppRecord, requireApp } from '../domain/merchants/app.ts';
import type { AppRef } from '../domain/merchants/app-secrets.ts';
import { required } from './field.ts';
import type { Noun, Operation } from './operation.ts';
import * as read from './readers.ts';

/** The app that an operation is about. */
export const APP: Noun<AppRecord> = {
  fields: { code: required('app', read.appCode, 'The code of the app') },
  argument: 'code',
  find: ({ database }, { code }) => requireApp(database, Number(code)),
};

/** The end of the notes of each operation that makes a secret. */
export const WITHOUT_MAIL = 'Without a mail server (SMTP_URL) the secret is shown once.';

/** Names an app in messages and in the audit log. */
export const nameOf = ({ code }: AppRecord) => `app ${code}`;

/** Names an app with its merchant. */
export const refOf = ({ merchant_id, code }: AppRecord): AppRef => ({
  merchant_id,
  app_code: code,
});

/** The app secret, as it is handed over. */
export function appSecret(value: string) {
  return { name: 'app_secret', what: 'app secret', value };
}

/** The webhook secret, as it is handed over. */
export function webhookSecret(value: string) {
  return { name: 'webhook_secret', what: 'webhook secret', value };
}

/** The app as somebody has seen it before a decision. */
export const seen: Operation<AppRecord>['seen'] = (executor, { code }, lock) =>
  requireApp(executor, code, lock);

/** Names the app in a request for another admin. */
export const ACCESS = {
  names: ({ code }: AppRecord) => ({ code }),
  subject: nameOf,
  merchant: ({ merchant_id }: AppRecord) => merchant_id,
};
