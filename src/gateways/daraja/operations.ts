import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorRefusal } from '../../domain/errors.ts';
import type {
  DriverOperation,
  DriverOperations,
  OperatedAccount,
  OperationContext,
} from '../driver.ts';
import type { Finding, Registration } from '../gateway.ts';

/** The finding about the question for the balance. Its answer comes as a callback. */
export const BALANCE_PRODUCT = 'product Account Balance';

/** The finding about statements. Our own records tell a quiet shortcode from an unregistered one. */
export const STATEMENT_PRODUCT = 'product Pull Transactions';

const LOOK_INTERVAL_MS = 200;

const check: DriverOperation = {
  role: 'anyone',
  isChange: false,
  summary: 'Tries whether the accounts with Daraja can be used, and says what is wrong',
  notes:
    'Nothing of it moves money. It asks each product a harmless question. The balance comes to our callback address, so it shows that Safaricom reaches us and takes the initiator. Only a first payment shows that B2C and reversals are approved. Exit status 1 when something is wrong; a warning is not.',
  run: async (context) => {
    const accounts = await Promise.all(
      context.accounts.map(async (account) => {
        return { gateway: account.name, findings: await look(context, account) };
      }),
    );
    const isFailure = accounts.some(({ findings }) =>
      findings.some(({ state }) => state === 'wrong'),
    );
    const lines = accounts.flatMap(({ gateway, findings }) => [
      gateway,
      ...findings.map(({ about, state, words }) => `  ${about}: ${state}, ${words}`),
    ]);
    return { data: { ok: !isFailure, accounts }, lines, isFailure };
  },
};

async function look(context: OperationContext, account: OperatedAccount): Promise<Finding[]> {
  const { name, tools } = account;
  const open = await context.countOpenPayments(name);
  const findings: Finding[] = [
    { about: 'open payments', state: 'ok', words: String(open) },
    ...(await tools.check(await context.addressesOf(name))),
  ];
  const silent = findings.findIndex(
    ({ about, state }) => about === STATEMENT_PRODUCT && state === 'warning',
  );
  if (silent >= 0) findings[silent] = await whySilent(context, name, findings[silent]!);
  const asked = findings.find(({ about }) => about === BALANCE_PRODUCT);
  return asked?.state === 'ok' ? [...findings, await answered(context, account)] : findings;
}

/** Tells by our own records whether a shortcode that lists nothing is quiet or not registered. */
async function whySilent(
  { statementRecord }: OperationContext,
  name: string,
  { about, words }: Finding,
): Promise<Finding> {
  const { isRegistered, hasListed, hasCollected } = await statementRecord(name);
  const register = 'register it (malipo daraja register)';
  if (hasCollected) {
    const contrary = `${words}. Customers have paid to it in these two days, so it is not quiet`;
    return { about, state: 'wrong', words: `${contrary}: ${register}, or ask Safaricom` };
  }
  if (hasListed) return { about, state: 'ok', words: 'lists nothing in two days: it is quiet' };
  if (isRegistered) {
    const quiet = 'lists nothing in two days. It was registered here, so it seems quiet';
    return { about, state: 'ok', words: quiet };
  }
  return { about, state: 'warning', words: `${words}: ${register}` };
}

/** Waits for the balance that was asked for. It comes the same way as the result of a payment. */
async function answered(
  { hasHeardFloat }: OperationContext,
  { name, answerWindowMs }: OperatedAccount,
): Promise<Finding> {
  const end = Date.now() + answerWindowMs;
  const about = 'callbacks from Safaricom';
  for (;;) {
    if (await hasHeardFloat(name)) {
      return { about, state: 'ok', words: 'the balance has come, and the initiator is right' };
    }
    if (Date.now() >= end) break;
    await sleep(LOOK_INTERVAL_MS);
  }
  const words = `no balance has come in ${answerWindowMs / 1_000} s: Safaricom does not reach the callback address, or refuses initiator, password or role, or the web process has not been restarted since the account was configured. Its log tells which`;
  return { about, state: 'wrong', words };
}

const register: DriverOperation = {
  role: 'admin',
  isChange: true,
  summary: 'Registers our address with the products of Daraja that want one (Pull Transactions)',
  notes: 'It is needed once for each shortcode. Nothing is read from the address.',
  run: async ({ accounts, requireAddressesOf, record }) => {
    const registrable = accounts.filter(({ tools }) => tools.register);
    if (registrable.length === 0) {
      throw new OperatorRefusal('Nothing to register: no shortcode has a nominated_number');
    }
    const results: object[] = [];
    const lines: string[] = [];
    let isFailure = false;
    for (const { name, tools } of registrable) {
      const { unread: callback_url } = await requireAddressesOf(name);
      const answer = await tools.register!(callback_url);
      const isRefused = 'problem' in answer;
      const result = isRefused ? answer : { outcome: answer.outcome, callback_url };
      results.push({ gateway: name, ...result });
      lines.push(`${name}: ${registrationWords(answer)}`);
      isFailure ||= isRefused;
      if (!isRefused) await record(name, result);
    }
    return { data: { accounts: results }, lines, isFailure };
  },
};

function registrationWords(answer: Registration): string {
  if ('problem' in answer) return `not registered: ${answer.problem}`;
  if (answer.outcome === 'registered') return 'registered';
  return 'was registered before: Safaricom keeps the address that it has';
}

const PAYEE_TYPES = ['till', 'paybill'] as const;

const payeeCheck: DriverOperation = {
  role: 'viewer',
  isChange: false,
  summary: 'Shows the name of a business before it is paid',
  fields: {
    type: { help: 'What kind of number it is', words: PAYEE_TYPES },
    number: {
      help: 'The number of the till or PayBill',
      placeholder: 'NUMBER',
      expected: 'a till or PayBill number of 5 to 9 digits',
      pattern: /^\d{5,9}$/,
    },
  },
  argument: 'number',
  run: async ({ accounts }, fields) => {
    const type = PAYEE_TYPES.find((word) => word === fields.type)!;
    const number = fields.number!;
    const asking = accounts.find(({ tools }) => tools.payeeName);
    if (!asking) throw new OperatorRefusal('No account can ask for names');
    const answer = await asking.tools.payeeName!(type, number);
    if ('problem' in answer) {
      throw new OperatorRefusal(`No name for the ${type} ${number}: ${answer.problem}`);
    }
    const { name } = answer;
    return {
      data: { type, number, name, gateway: asking.name },
      lines: [`${type} ${number}: ${name}`],
    };
  },
};

export const DARAJA_OPERATIONS: DriverOperations = {
  exampleAccount: 'daraja-600980',
  noAccounts: 'No account with a gateway is configured: DARAJA has the accounts',
  nouns: {
    daraja: {
      summary: 'The accounts with Safaricom’s Daraja (M-PESA)',
      verbs: { check, register },
    },
    payee: { summary: 'Businesses that are to be paid', verbs: { check: payeeCheck } },
  },
};
