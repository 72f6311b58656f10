import { OperatorRefusal } from '../../domain/errors.ts';
import type { Service } from '../../service/service.ts';
import { optional } from '../options/option.ts';
import * as read from '../options/readers.ts';

const MAX_NAME_LENGTH = 100;

/** The accounts with providers that a verb is about. */
export const GATEWAY = optional(
  'gateway',
  read.text('NAME', MAX_NAME_LENGTH),
  'The account, such as daraja-600980. Default: all that there are',
);

type Driver = NonNullable<ReturnType<Service['drivers']['get']>>;
export type Tools = NonNullable<ReturnType<NonNullable<Driver['tools']>['get']>>;
/** An account by name, with its tools. */
export type Account = readonly [name: string, tools: Tools];

/**
 * Returns the accounts that have tools, or the named one of these.
 * @throws OperatorRefusal when there is none
 */
export function accountsOf({ drivers }: Service, named: string | undefined): Account[] {
  const all = [...drivers.values()].flatMap(({ tools }) => [...(tools ?? [])]);
  if (all.length === 0) {
    throw new OperatorRefusal('No account with a gateway is configured: DARAJA has the accounts');
  }
  const chosen = all.filter(([name]) => named === undefined || name === named);
  if (chosen.length > 0) return chosen;
  const names = all.map(([name]) => name).join(', ');
  throw new OperatorRefusal(`There is no account ${named}: there is ${names}`);
}
