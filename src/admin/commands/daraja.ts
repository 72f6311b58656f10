import { setTimeout as sleep } from 'node:timers/promises';
import { databaseNow } from '../../connections/database.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { hasHeardFloat } from '../../domain/gateway-accounts/float-store.ts';
import { countOpen } from '../../domain/payments/list-payments.ts';
import { floatUrl, unreadUrl } from '../../gateways/callback-address.ts';
import { CALLBACK_BASE_UNKNOWN } from '../../service/callback-base.ts';
import type { Service } from '../../service/service.ts';
import { type Answer, changes, type Noun, reads } from '../verb.ts';
import { type Account, accountsOf, GATEWAY, type Tools } from './account-tools.ts';

const LOOK_INTERVAL_MS = 200;
const options = { gateway: GATEWAY };

type Addresses = Parameters<Tools['check']>[0];
type Finding = Awaited<ReturnType<Tools['check']>>[number];

const check = reads({
  role: 'anyone',
  summary: 'Tries whether the accounts with Daraja can be used, and says what is wrong',
  notes:
    'Nothing of it moves money. It asks each product a harmless question. The balance comes to our callback address, so it shows that Safaricom reaches us and takes the initiator. Only a first payment shows that B2C and reversals are approved. Exit status 1 when something is wrong; a warning is not.',
  options,
  run: async (service, { gateway }) => {
    const accounts = await Promise.all(
      accountsOf(service, gateway).map(async (account) => {
        return { gateway: account[0], findings: await look(service, account) };
      }),
    );
    const findings = accounts.flatMap((each) => each.findings);
    const problems = findings.filter(({ state }) => state === 'wrong').length;
    const data = { ok: problems === 0, accounts };
    return { data, lines: accounts.map(linesOf), isFailure: problems > 0 } satisfies Answer;
  },
});

function linesOf({ gateway, findings }: { gateway: string; findings: Finding[] }): string[] {
  const lines = findings.map(({ about, state, words }) => `  ${about}: ${state}, ${words}`);
  return [gateway, ...lines];
}

async function look(service: Service, [name, tools]: Account): Promise<Finding[]> {
  const since = await databaseNow(service.database);
  const open = await countOpen(service.database, name);
  const findings: Finding[] = [
    { about: 'open payments', state: 'ok', words: String(open) },
    ...(await tools.check(await addressesOf(service, name))),
  ];
  const asked = findings.find(({ about }) => about.endsWith('Account Balance'));
  return asked?.state === 'ok' ? [...findings, await answered(service, name, since)] : findings;
}

async function addressesOf({ callbackBase, config }: Service, name: string): Promise<Addresses> {
  const base = await callbackBase.find();
  if (base === null) return null;
  const { secretsKeys } = config;
  return {
    ...{ base, keyId: secretsKeys.current.id },
    float: floatUrl(base, secretsKeys, name),
    floatTimeout: floatUrl(base, secretsKeys, name, 'float-timeout'),
    unread: unreadUrl(base, name),
  };
}

/** Waits for the balance that was asked for. It passes through everything that a result does. */
async function answered({ database, gateways }: Service, name: string, since: Date) {
  const windowMs = gateways.get(name)?.answerWindowMs ?? 0;
  const end = Date.now() + windowMs;
  const about = 'callbacks from Safaricom';
  for (;;) {
    if (await hasHeardFloat(database, name, since)) {
      return {
        about,
        state: 'ok',
        words: 'the balance has come, and the initiator is right',
      } as const;
    }
    if (Date.now() >= end) break;
    await sleep(LOOK_INTERVAL_MS);
  }
  const words = `no balance has come in ${windowMs / 1_000} s: Safaricom does not reach the callback address, or refuses initiator, password or role, or the web process has not been restarted since the account was configured. Its log tells which`;
  return { about, state: 'wrong', words } as const;
}

const register = changes({
  role: 'admin',
  summary: 'Registers our address with the products of Daraja that want one (Pull Transactions)',
  notes: 'It is needed once for each shortcode. Nothing is read from the address.',
  options,
  run: async (service, { gateway }, { audited }) => {
    const base = await service.callbackBase.find();
    if (base === null) throw new OperatorRefusal(CALLBACK_BASE_UNKNOWN);
    const accounts = accountsOf(service, gateway).filter(([, tools]) => tools.register);
    if (accounts.length === 0) {
      throw new OperatorRefusal('Nothing to register: no shortcode has a nominated_number');
    }
    const results: object[] = [];
    const lines: string[] = [];
    for (const [name, tools] of accounts) {
      const callback_url = unreadUrl(base, name);
      const answer = await tools.register!(callback_url);
      const result = 'problem' in answer ? answer : { outcome: answer.outcome, callback_url };
      results.push({ gateway: name, ...result });
      lines.push(`${name}: ${registrationWords(answer)}`);
      if ('problem' in answer) continue;
      const audit = { merchant_id: null, subject: `gateway ${name}`, details: result };
      // Daraja takes part in no transaction, so this is written down afterwards.
      await audited(async () => ({ value: null, audit }));
    }
    const isFailure = results.some((result) => 'problem' in result);
    return { data: { accounts: results }, lines, isFailure };
  },
});

function registrationWords(answer: Awaited<ReturnType<NonNullable<Tools['register']>>>): string {
  if ('problem' in answer) return `not registered: ${answer.problem}`;
  if (answer.outcome === 'registered') return 'registered';
  return 'was registered before: Safaricom keeps the address that it has';
}

export const daraja: Noun = {
  summary: 'The accounts with Safaricom’s Daraja (M-PESA)',
  verbs: { check, register },
};
