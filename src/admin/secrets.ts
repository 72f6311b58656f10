import { rekeySecrets, secretsWithoutKey } from '../domain/merchants/app-secrets.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { ALREADY, type ChangeContext, changes } from './command.ts';

/** Small, so that no transaction keeps apps' secrets for long. */
const BATCH_SIZE = 100;
const MAX_SHOWN_APPS = 10;

const rekey = changes({
  summary: 'Encrypts every app secret again, with the first key of SECRETS_KEY',
  notes: [
    'Put the new key first, restart every process of the service, then run this. The old keys',
    'stay in SECRETS_KEY until the payments that were open then have ended: they also prove',
    "gateways' callback addresses.",
  ],
  options: {},
  run: async (context) => {
    const { database, config } = context.service;
    const { count, unreadable } = await rekeyAll(context);
    const missing = await secretsWithoutKey(database, config.secretsKeys);
    const problems = problemsOf(unreadable, missing);
    if (problems.length > 0) {
      throw new OperatorRefusal(`Encrypted again: ${count}; but ${problems.join(', and ')}`);
    }
    const key = config.secretsKeys.current.id;
    return {
      data: { rekeyed: count, key_id: key },
      lines: [
        count > 0
          ? `App secrets encrypted again with the key ${key}: ${count}`
          : `Every app secret is encrypted with the key ${key} ${ALREADY}`,
      ],
    };
  },
});

/** Each batch is a transaction of its own: what is done stays done if this is interrupted. */
async function rekeyAll({ service, audited }: ChangeContext) {
  const { secretsKeys } = service.config;
  const unreadable = new Set<number>();
  let count = 0;
  let after: string | null = null;
  do {
    const from: string | null = after;
    const batch = await audited(async (trx) => {
      const value = await rekeySecrets(trx, secretsKeys, from, BATCH_SIZE);
      const to_key = secretsKeys.current.id;
      const details = { count: value.count, from_keys: value.fromKeys, to_key };
      const audit = { merchant_id: null, subject: 'app secrets', details };
      return { value, audit: value.count > 0 ? audit : null };
    });
    count += batch.count;
    for (const code of batch.unreadable) unreadable.add(code);
    after = batch.next;
  } while (after !== null);
  return { count, unreadable: [...unreadable] };
}

function problemsOf(unreadable: number[], missing: { count: number; keyIds: string[] }): string[] {
  const problems: string[] = [];
  if (missing.count > 0) {
    const keys = missing.keyIds.join(', ');
    problems.push(`${missing.count} need keys that SECRETS_KEY does not have (${keys})`);
  }
  if (unreadable.length > 0) {
    const more = unreadable.length > MAX_SHOWN_APPS ? ', …' : '';
    const apps = unreadable.slice(0, MAX_SHOWN_APPS).join(', ');
    problems.push(
      `the secrets of ${unreadable.length} apps cannot be decrypted with the key they name (${apps}${more})`,
    );
  }
  return problems;
}

export const secretsVerbs = { rekey };
