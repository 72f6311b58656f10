import { type RekeyedSecrets, rekeyAllSecrets } from '../../domain/merchants/rekey-all-secrets.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { ALREADY } from '../output/answers.ts';
import { changes, type Noun } from '../verb.ts';

const MAX_SHOWN_APPS = 10;

const rekey = changes({
  summary: 'Encrypts every app secret again, with the first key of SECRETS_KEY',
  notes:
    "Put the new key first, restart every process of the service, then run this. Keep the old keys in SECRETS_KEY until the payments that were open then have ended: they also prove gateways' callback addresses.",
  run: async ({ database, config: { secretsKeys } }, _values, { audited }) => {
    const rekeyed = await rekeyAllSecrets(database, audited, secretsKeys);
    const { count } = rekeyed;
    const problems = problemsOf(rekeyed).join(', and ');
    if (problems) throw new OperatorRefusal(`Encrypted again: ${count}; but ${problems}`);
    const key = secretsKeys.current.id;
    const done = `App secrets encrypted again with the key ${key}: ${count}`;
    const already = `Every app secret is encrypted with the key ${key} ${ALREADY}`;
    return { data: { rekeyed: count, key_id: key }, lines: [count > 0 ? done : already] };
  },
});

function problemsOf({ unreadable, missing }: RekeyedSecrets): string[] {
  const problems: string[] = [];
  if (missing.count > 0) {
    const keys = missing.keyIds.join(', ');
    problems.push(`${missing.count} need keys that SECRETS_KEY does not have (${keys})`);
  }
  if (unreadable.length > 0) {
    const more = unreadable.length > MAX_SHOWN_APPS ? ', …' : '';
    const apps = `${unreadable.slice(0, MAX_SHOWN_APPS).join(', ')}${more}`;
    const secrets = `the secrets of ${unreadable.length} apps`;
    problems.push(`${secrets} cannot be decrypted with the key they name (${apps})`);
  }
  return problems;
}

export const secrets: Noun = { summary: 'What is stored encrypted', verbs: { rekey } };
