import { databaseNow } from '../connections/database.ts';
import type { Channel } from '../domain/channels/channel.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import type { AnyPayment } from '../domain/payments/payment-store.ts';
import {
  FROM_GATEWAY,
  momentsOf,
  type OwnLine,
  type Period,
  type StatementLine,
} from '../domain/reconciliation/statement.ts';
import { timesOfReceipts } from '../domain/settlement/receipts.ts';
import type { UsedAccount } from '../domain/upkeep/restore-progress.ts';
import { queryRequestOf } from '../gateways/callback-address.ts';
import type { Service } from './service.ts';

type Gateway = NonNullable<ReturnType<Service['gateways']['get']>>;

/**
 * Returns the gateway of a channel whose statement is meant. A driver may have several accounts;
 * then the operator names one.
 * @throws OperatorRefusal when the channel has none, or none of this name
 */
export function gatewayOf(
  service: Service,
  { code, name }: Pick<Channel, 'code' | 'name'>,
  named: string | undefined,
): Gateway {
  const driver = service.drivers.get(service.config.channels.get(code) ?? '');
  if (!driver) {
    const why = 'has no driver: CHANNELS does not name one';
    throw new OperatorRefusal(`Channel ${code} (${name}) ${why}`);
  }
  const names = driver.gateways.map((each) => each.name);
  const only = named ?? (names.length === 1 ? names[0]! : null);
  const found = only !== null && names.includes(only) && service.gateways.get(only);
  if (found) return found;
  throw new OperatorRefusal(`Name the account, one of ${names.join(', ')}`);
}

/** A statement that was asked for, with how far it is complete. */
export interface GivenStatement {
  lines: StatementLine[];
  own?: readonly OwnLine[] | undefined;
  source: string;
  covers: readonly StatementLine['kind'][];
  complete_until: Date | null;
}

/**
 * Asks a gateway for its statement.
 * @throws OperatorRefusal when it gives none
 */
export async function askForStatement(
  { database }: Pick<Service, 'database'>,
  gateway: Gateway,
  period: Period,
): Promise<GivenStatement> {
  const { start, end } = momentsOf(period);
  if (!gateway.statement) {
    throw new OperatorRefusal(`The driver ${gateway.name} gives no statements: take a file`);
  }
  // The gateway may list the newest movements later.
  const now = await databaseNow(database);
  const complete_until = new Date(now.getTime() - gateway.settlingWindowMs);
  const answer = await gateway.statement(start, end, (receipts) =>
    timesOfReceipts(database, gateway.name, receipts),
  );
  if (answer.outcome !== 'lines') {
    throw new OperatorRefusal(`The gateway gave no statement: ${answer.reason}`);
  }
  const covers = answer.mayLack ? [] : (gateway.statementCovers ?? []);
  return { lines: answer.lines, own: answer.own, source: FROM_GATEWAY, covers, complete_until };
}

/** Returns the accounts with gateways that channels use, once for each channel. */
export function accountsOf({
  config,
  drivers,
}: Pick<Service, 'config' | 'drivers'>): UsedAccount[] {
  return [...config.channels].flatMap(([channel, driver]) => {
    const gateways = drivers.get(driver)?.gateways ?? [];
    return gateways.map(({ name: gateway }) => ({ gateway, channel }));
  });
}

/** Returns what the comparison of a statement needs of its gateway. */
export function comparisonWith(service: Service, gateway: Gateway) {
  return {
    settling_window_ms: gateway.settlingWindowMs,
    answer_window_ms: gateway.answerWindowMs,
    accounts: [...new Set(accountsOf(service).map((each) => each.gateway))],
    ask: async (payment: AnyPayment) => {
      const base = await service.callbackBase.find();
      const now = await databaseNow(service.database);
      return gateway.query(queryRequestOf(service.config, base, payment, now));
    },
    parserOf: service.parserOf,
  };
}
