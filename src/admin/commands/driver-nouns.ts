import { databaseNow } from '../../connections/database.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { hasHeardFloat } from '../../domain/gateway-accounts/float-store.ts';
import { countOpen } from '../../domain/payments/list-payments.ts';
import { readStatementRecord } from '../../domain/reconciliation/import-store.ts';
import { floatUrl, unreadUrl } from '../../gateways/callback-address.ts';
import type {
  DriverOperation,
  DriverOperations,
  OperatedAccount,
  OperationContext,
  OperationField,
} from '../../gateways/driver.ts';
import { DRIVER_OPERATIONS } from '../../gateways/driver-operations.ts';
import { type Fields, optional, type Reader, required } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { CALLBACK_BASE_UNKNOWN } from '../../service/callback-base.ts';
import type { Service } from '../../service/service.ts';
import { type Change, changes, type Nouns, reads, type Verb } from '../verb.ts';

const MAX_ACCOUNT_LENGTH = 100;

/** The nouns of all gateway drivers, with the operations that each driver states. */
export const driverNouns: Nouns = Object.fromEntries(
  Object.entries(DRIVER_OPERATIONS).flatMap(([driver, operations]) =>
    Object.entries(operations.nouns).map(([name, { summary, verbs }]) => {
      const rendered = Object.entries(verbs).map(([verb, operation]) => {
        return [verb, verbOf(driver, operations, operation)];
      });
      return [name, { summary, verbs: Object.fromEntries(rendered) }];
    }),
  ),
);

function verbOf(driver: string, operations: DriverOperations, operation: DriverOperation): Verb {
  const { role, summary, notes, argument, fields = {} } = operation;
  const gateway = optional(
    'gateway',
    read.text('NAME', MAX_ACCOUNT_LENGTH),
    `The account, such as ${operations.exampleAccount}. Default: all that there are`,
  );
  const own: Fields = Object.fromEntries(
    Object.entries(fields).map(([flag, field]) => {
      return [flag, required<string>(flag, readerOf(field), field.help)];
    }),
  );
  const verb = {
    role,
    summary,
    options: { ...own, gateway } as Fields,
    ...(notes !== undefined && { notes }),
    ...(argument !== undefined && { argument }),
  };
  const run = async (
    service: Service,
    { gateway: named, ...given }: Record<string, unknown>,
    change?: Change,
  ) => {
    const tools = accountsOf(service, driver, operations, named as string | undefined);
    const context = await contextOf(service, tools, change);
    return operation.run(context, given as Record<string, string>);
  };
  return operation.isChange ? changes({ ...verb, run }) : reads({ ...verb, run });
}

function readerOf(field: OperationField): Reader<string> {
  if ('words' in field) return read.oneOf(field.words);
  return read.textThat(field.placeholder, field.expected, (text) => field.pattern.test(text));
}

/** @throws OperatorRefusal when there is no account, or none of the name */
function accountsOf(
  { drivers, gateways }: Service,
  driver: string,
  { noAccounts }: DriverOperations,
  named: string | undefined,
): OperatedAccount[] {
  const all = [...(drivers.get(driver)?.tools ?? [])].map(([name, tools]) => {
    return { name, tools, answerWindowMs: gateways.get(name)?.answerWindowMs ?? 0 };
  });
  if (all.length === 0) throw new OperatorRefusal(noAccounts);
  const chosen = all.filter(({ name }) => named === undefined || name === named);
  if (chosen.length > 0) return chosen;
  const names = all.map(({ name }) => name).join(', ');
  throw new OperatorRefusal(`There is no account ${named}: there is ${names}`);
}

async function contextOf(
  { database, callbackBase, config }: Service,
  accounts: OperatedAccount[],
  change: Change | undefined,
): Promise<OperationContext> {
  const began = await databaseNow(database);
  const addressesOf = async (account: string) => {
    const base = await callbackBase.find();
    if (base === null) return null;
    const keys = config.secretsKeys;
    return {
      base,
      keyId: keys.current.id,
      float: floatUrl(base, keys, account, { use: 'float', askedAt: began }),
      floatTimeout: floatUrl(base, keys, account, { use: 'float-timeout', askedAt: began }),
      unread: unreadUrl(base, account),
    };
  };
  return {
    accounts,
    addressesOf,
    requireAddressesOf: async (account) => {
      const addresses = await addressesOf(account);
      if (!addresses) throw new OperatorRefusal(CALLBACK_BASE_UNKNOWN);
      return addresses;
    },
    countOpenPayments: (account) => countOpen(database, account),
    hasHeardFloat: (account) => hasHeardFloat(database, account, began),
    statementRecord: (account) => readStatementRecord(database, account),
    record: async (account, details) => {
      const audit = { merchant_id: null, subject: `gateway ${account}`, details };
      await change?.audited(async () => ({ value: null, audit }));
    },
  };
}
