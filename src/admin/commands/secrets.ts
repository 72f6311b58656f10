import type { Audited } from '../../domain/audit/audit.ts';
import { type RekeyedSecrets, rekeyAllSecrets } from '../../domain/credentials/rekey-secrets.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import {
  type KeptCallbackKeys,
  keepCallbackKeys,
} from '../../domain/settlement/retired-callback-keys.ts';
import { callbackKeysOf } from '../../gateways/callback-address.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { ALREADY } from '../output/answers.ts';
import { changes, type Noun } from '../verb.ts';

const MAX_SHOWN_OWNERS = 10;

const rekey = changes({
  role: 'admin',
  summary:
    'Encrypts every secret of apps, users and staff again, with the first key of SECRETS_KEY',
  notes:
    "Put the new key first, restart every process of the service, then run this. After that the old keys may leave SECRETS_KEY: the part of each that proves gateways' callback addresses is kept, encrypted with the new key. Never use the name of a key again.",
  run: async ({ database, config: { secretsKeys } }, _values, { audited }) => {
    const kept = await keepOldCallbackKeys(audited, secretsKeys);
    const rekeyed = await rekeyAllSecrets(database, audited, secretsKeys);
    const { count } = rekeyed;
    const problems = [...problemsOf(rekeyed), ...problemsOfCallbackKeys(kept)].join(', and ');
    if (problems) throw new OperatorRefusal(`Encrypted again: ${count}; but ${problems}`);
    const key = secretsKeys.current.id;
    const done = `Secrets encrypted again with the key ${key}: ${count}`;
    const already = `Every secret is encrypted with the key ${key} ${ALREADY}`;
    const ids = kept.ids.join(', ');
    return {
      data: { rekeyed: count, key_id: key, callback_keys: kept.ids },
      lines: [
        count > 0 ? done : already,
        ids && `Callback keys kept for addresses that were given out before: ${ids}`,
      ],
    };
  },
});

/** Keeps what proves callback addresses of the keys that are not current. */
function keepOldCallbackKeys(audited: Audited, secretsKeys: KeyRing): Promise<KeptCallbackKeys> {
  return audited(async (trx) => {
    const value = await keepCallbackKeys(trx, secretsKeys, callbackKeysOf(secretsKeys));
    const details = { keys: value.changed, to_key: secretsKeys.current.id };
    const audit = { merchant_id: null, subject: 'callback keys', details };
    return { value, audit: value.changed.length > 0 ? audit : null };
  });
}

function problemsOfCallbackKeys({ unreadable, reused }: KeptCallbackKeys): string[] {
  const lost = `the callback keys ${unreadable.join(', ')} cannot be decrypted with the keys of SECRETS_KEY`;
  const named = `${reused.join(', ')} was the name of another key: give the new one another name`;
  return [...(unreadable.length > 0 ? [lost] : []), ...(reused.length > 0 ? [named] : [])];
}

function problemsOf({ unreadable, missing }: RekeyedSecrets): string[] {
  const problems: string[] = [];
  if (missing.count > 0) {
    const keys = missing.keyIds.join(', ');
    problems.push(`${missing.count} need keys that SECRETS_KEY does not have (${keys})`);
  }
  if (unreadable.length > 0) {
    const more = unreadable.length > MAX_SHOWN_OWNERS ? ', …' : '';
    const owners = `${unreadable.slice(0, MAX_SHOWN_OWNERS).join(', ')}${more}`;
    problems.push(`these secrets cannot be decrypted with the key they name: ${owners}`);
  }
  return problems;
}

export const secrets: Noun = { summary: 'What is stored encrypted', verbs: { rekey } };
