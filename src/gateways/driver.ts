import type { z } from 'zod';
import type { TokenStore } from '../domain/gateway-accounts/access-token.ts';
import type { StatementRecord } from '../domain/reconciliation/import-store.ts';
import type { Config } from '../process/config.ts';
import type { DriverSettings, SettingShape } from '../process/setting-types.ts';
import type { AccountTools, CheckAddresses, Gateway, InitiatedKind } from './gateway.ts';

/** Everything that a driver states of itself, in its own folder. `registry.ts` lists the drivers. */
export interface DriverDefinition<Shape extends SettingShape = SettingShape>
  extends DriverSettings<Shape> {
  /** The answer to a callback of this provider. It has been stored, or belongs to no payment. */
  callbackAnswer: CallbackAnswer;
  /** Returns true if payments have accounts with the provider, though no channel names the driver. */
  isConfigured?(settings: SettingsOf<Shape>): boolean;
  /** Builds the driver with its accounts. Connects to nothing. */
  create(settings: SettingsOf<Shape>, parts: DriverParts): Driver;
}

export type SettingsOf<Shape extends SettingShape> = z.output<z.ZodObject<Shape>>;

export interface CallbackAnswer {
  status: number;
  /** Sent as JSON. */
  body: object;
}

/** The parts of the service that a driver works with. */
export interface DriverParts {
  tokens: TokenStore;
  /** The longest wait for an answer. */
  timeoutMs: number;
}

/** A driver with the accounts that it is configured with. */
export interface Driver {
  gateways: readonly Gateway[];
  /** The tools of its accounts, by their names. */
  tools?: ReadonlyMap<string, AccountTools>;
  /** The account that carries new payments of each kind. */
  routes: Readonly<Partial<Record<InitiatedKind, string>>>;
}

/** Returns the values of a driver's own settings. */
export function settingsOf<Shape extends SettingShape>(
  { name }: DriverDefinition<Shape>,
  { drivers }: Pick<Config, 'drivers'>,
): SettingsOf<Shape> {
  return drivers.get(name) as SettingsOf<Shape>;
}

export interface DriverOperations {
  /** The name of an account, as the help of the option --gateway shows it. */
  exampleAccount: string;
  /** Tells the operator that no account is configured. */
  noAccounts: string;
  nouns: Readonly<Record<string, DriverNoun>>;
}

/** A noun of the command line. */
export interface DriverNoun {
  summary: string;
  verbs: Readonly<Record<string, DriverOperation>>;
}

/** An operation of an operator with accounts at the provider. It moves no money. */
export interface DriverOperation {
  /** Members of staff with this role or a higher one may run it. */
  role: 'anyone' | 'viewer' | 'admin';
  /** The operation changes something, so it needs a reason and records what it did. */
  isChange: boolean;
  summary: string;
  /** More for --help. */
  notes?: string;
  /** The required options, by their flags. Every operation also has --gateway. */
  fields?: Readonly<Record<string, OperationField>>;
  /** The field whose value may stand without its flag. */
  argument?: string;
  /** @throws OperatorRefusal in words for the operator */
  run(
    context: OperationContext,
    fields: Readonly<Record<string, string>>,
  ): Promise<OperationAnswer>;
}

export type OperationField = { help: string } & (
  | { words: readonly string[] }
  | { placeholder: string; expected: string; pattern: RegExp }
);

/** One document for programs, and lines for people. */
export interface OperationAnswer {
  data: object;
  lines: string[];
  /** The answer reports a problem, so the exit status is 1. */
  isFailure?: boolean;
}

/** The service as an operation of a driver sees it. */
export interface OperationContext {
  /** The accounts of the driver, or the named one. There is at least one. */
  accounts: readonly OperatedAccount[];
  /** Returns our addresses for an account. Null: nobody knows yet where gateways reach us. */
  addressesOf(account: string): Promise<CheckAddresses | null>;
  /** @throws OperatorRefusal when nobody knows where gateways reach us */
  requireAddressesOf(account: string): Promise<CheckAddresses>;
  countOpenPayments(account: string): Promise<number>;
  /** Returns true if the provider has told the account's float since the operation began. */
  hasHeardFloat(account: string): Promise<boolean>;
  /** Returns what our own records tell of an account's statements. */
  statementRecord(account: string): Promise<StatementRecord>;
  /** Records a change of an account in the audit log. The provider has made it before. */
  record(account: string, details: Record<string, unknown>): Promise<void>;
}

export interface OperatedAccount {
  name: string;
  tools: AccountTools;
  /** The time in which callbacks answer questions. */
  answerWindowMs: number;
}
