import { z } from 'zod';
import { isEmail } from '../domain/text.ts';

/**
 * The kinds of value that an environment variable can have. Each reads the variable's text.
 * Each message continues a sentence that begins with the variable's name. It never repeats the
 * value, because that may be a secret.
 */

/** The longest delay that a timer of Node accepts. */
export const MAX_TIMER_MS = 2_147_483_647;

export function integer(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return z.codec(
    z.string().regex(/^-?\d{1,15}$/, message),
    z.int(message).min(minimum, message).max(maximum, message),
    { decode: Number, encode: String },
  );
}

export function duration(minimumMs: number, maximumMs = MAX_TIMER_MS) {
  return integer(minimumMs, maximumMs);
}

export function flag() {
  const error = 'must be true or false';
  return z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive', error });
}

export function oneOf<const Value extends string>(...values: Value[]) {
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

export function text(minimumLength = 0) {
  return z.string().min(minimumLength, `must have at least ${minimumLength} characters`);
}

/** An address that begins with one of these schemes. */
export function url(...schemes: string[]) {
  const beginnings = schemes.map((scheme) => `${scheme}://`);
  return z
    .string('is required')
    .regex(new RegExp(`^(${beginnings.join('|')})`), `must begin with ${beginnings.join(' or ')}`);
}

/** An address that is used as it stands, with its path. */
export function wholeUrl(...schemes: string[]) {
  return url(...schemes).refine((address) => URL.canParse(address), 'is no address');
}

/** The address of a mailbox, without a name. */
export function mailAddress() {
  return z.string().refine(isEmail, 'must be an e-mail address');
}

/** An address to which people report a problem, as RFC 9116 wants it. */
export function contact() {
  return z
    .string()
    .regex(/^(mailto:|https:\/\/|tel:)[!-~]+$/, 'must begin with mailto:, https:// or tel:');
}

/** An HTTP address, without the slashes at its end, so that a path can be added. */
export function httpUrl() {
  return url('http', 'https').overwrite((address) => address.replace(/\/+$/, ''));
}

const MAX_PORT = 65_535;

/** Ports, separated by commas. */
export function ports() {
  return parsed((text): readonly number[] => {
    const items = text.split(',').map((item) => item.trim());
    const isPort = (item: string) => /^[1-9]\d{0,4}$/.test(item) && Number(item) <= MAX_PORT;
    if (items.every(isPort)) return items.map(Number);
    throw new Error(`must be a list of ports from 1 to ${MAX_PORT}, such as 443,8443`);
  });
}

/** Text that `read` turns into a value, or refuses with an Error that says why. */
export function parsed<Value>(read: (text: string) => Value) {
  return z.string().transform((given, context) => {
    try {
      return read(given);
    } catch (error) {
      context.issues.push({ code: 'custom', message: (error as Error).message, input: given });
      return z.NEVER;
    }
  });
}

/** Marks what `NAME_FILE` may give as the path of a file: `readSecret` reads it. */
export const SECRET = { secret: true };

/** A rule across variables: whether it is broken, and the line to show then. */
export type Check = [isBroken: unknown, line: string];

/** Environment variables by name, each with its type, its description and its default. */
export type SettingShape = Readonly<Record<string, z.ZodType>>;

/** The part of the configuration that one gateway driver states. */
export interface DriverSettings<Shape extends SettingShape = SettingShape> {
  /** The name in CHANNELS. */
  name: string;
  /** The environment variables of the driver. */
  settings: Shape;
  /** The codes of the channels that the driver carries while CHANNELS is not set. */
  usualChannels?: readonly number[];
  /** The rules across variables that concern the driver. */
  rules?(environment: DriverEnvironment<Shape>): Check[];
  /** The rules for production alone. */
  productionRules?(environment: DriverEnvironment<Shape>): Check[];
}

/** The settings of a driver. A variable with a wrong text has no value. */
export interface DriverEnvironment<Shape extends SettingShape> {
  /** The texts of all variables. */
  given: Readonly<Record<string, string | undefined>>;
  values: Partial<z.output<z.ZodObject<Shape>>>;
  /** The codes of the channels that CHANNELS gives to the driver. */
  channels: readonly number[];
}
