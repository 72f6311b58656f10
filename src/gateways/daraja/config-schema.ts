import { z } from 'zod';
import { certificatesFromText } from '../../connections/address.ts';
import { httpUrl, oneOf, parsed } from '../../process/setting-types.ts';
import { centsOf, readTime } from './messages.ts';
import { securityCredential } from './request-fields.ts';

/**
 * The form of the operator's configuration. Each message continues a sentence that begins with the
 * field's name. It never repeats the value, because that may be a secret.
 */

const AMOUNT = /^\d{1,10}\.\d{2}$/;

const secret = () =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be text') })
    .min(1, 'must not be empty');
const digits = (pattern: RegExp, message: string) => z.string(message).regex(pattern, message);
const shortcodeText = () => digits(/^\d{5,7}$/, 'must be a shortcode of 5 to 7 digits');
const amount = () => {
  const message = 'must be an amount with two decimals, such as "50000.00"';
  return z
    .string(message)
    .regex(AMOUNT, message)
    .transform((text) => centsOf(text) ?? 0);
};
const date = () =>
  parsed((text) => {
    const day = /^\d{4}-\d\d-\d\d$/.test(text) ? readTime(`${text} 00:00:00`) : null;
    if (!day) throw new Error('must be a date, such as 2026-01-31');
    return day;
  });

const shortcodeFields = z.strictObject(
  {
    consumer_key: secret(),
    consumer_secret: secret(),
    passkey: secret().optional(),
    type: oneOf('paybill', 'till').default('paybill'),
    till: digits(/^\d{5,9}$/, 'must be a till number of 5 to 9 digits').optional(),
    initiator: secret().optional(),
    security_credential: digits(
      /^[A-Za-z0-9+/]{100,}={0,2}$/,
      'must be an encrypted password in base64',
    ).optional(),
    initiator_password: secret().optional(),
    certificate: parsed(certificatesFromText).optional(),
    password_set_on: date().optional(),
    payout_command: oneOf('BusinessPayment', 'SalaryPayment', 'PromotionPayment').default(
      'BusinessPayment',
    ),
    nominated_number: digits(/^254\d{9}$/, 'must be a phone such as 254712345678').optional(),
    float_alert_below: amount().optional(),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
);

type ShortcodeFields = z.output<typeof shortcodeFields>;

const configFields = z.strictObject({
  base_url: httpUrl().default('https://api.safaricom.co.ke'),
  collections: shortcodeText().optional(),
  payouts: shortcodeText().optional(),
  confirm_above: amount().optional(),
  shortcodes: z.record(z.string(), shortcodeFields.superRefine(checkShortcode)),
});

export const configSchema = configFields.superRefine(checkRoutes).transform((config, context) => ({
  baseUrl: config.base_url,
  collections: config.collections ?? null,
  payouts: config.payouts ?? null,
  confirmAboveCents: config.confirm_above ?? null,
  shortcodes: new Map(
    Object.entries(config.shortcodes).map(([shortcode, fields]) => [
      shortcode,
      shortcodeOf(shortcode, fields, (field, problem) =>
        addIssue(context, ['shortcodes', shortcode, field], problem),
      ),
    ]),
  ),
}));

/** The fields that a shortcode must have for a product. */
const ROUTES = [
  ['collections', 'passkey'],
  ['payouts', 'initiator'],
] as const;

/** The rules across the shortcodes. */
function checkRoutes(config: z.output<typeof configFields>, context: z.RefinementCtx): void {
  const { shortcodes } = config;
  for (const code of Object.keys(shortcodes)) {
    const { error } = shortcodeText().safeParse(code);
    if (error) addIssue(context, ['shortcodes', code], error.issues[0]!.message);
  }
  if (Object.keys(shortcodes).length === 0) {
    addIssue(context, ['shortcodes'], 'must have a shortcode');
  }
  for (const [route, need] of ROUTES) {
    const code = config[route];
    if (code === undefined) continue;
    const routed = shortcodes[code];
    if (!routed) addIssue(context, [route], 'names no configured shortcode');
    else if (!routed[need]) addIssue(context, [route], `names a shortcode without ${need}`);
  }
}

type Complain = (field: keyof ShortcodeFields, problem: string) => void;

/** The rules across the fields of a shortcode. */
function checkShortcode(fields: ShortcodeFields, context: z.RefinementCtx): void {
  const complain: Complain = (field, problem) => addIssue(context, [field], problem);
  const { type, till, initiator, security_credential, initiator_password, certificate } = fields;
  if (type === 'till' && !till) complain('till', 'is required with the type till');
  if (type !== 'till' && till) complain('till', 'is only for the type till');
  if (security_credential && initiator_password) {
    complain('security_credential', 'is given together with initiator_password: one is enough');
  }
  if (initiator_password && !certificate) {
    complain('certificate', 'is required with initiator_password');
  }
  const hasCredential = security_credential ?? initiator_password;
  if (hasCredential && !initiator) complain('initiator', 'is required with its credential');
  if (initiator && !hasCredential) {
    complain('security_credential', 'or initiator_password is required with initiator');
  }
}

function shortcodeOf(shortcode: string, fields: ShortcodeFields, complain: Complain) {
  return {
    shortcode,
    consumerKey: fields.consumer_key,
    consumerSecret: fields.consumer_secret,
    passkey: fields.passkey ?? null,
    type: fields.type,
    till: fields.till ?? null,
    initiator: fields.initiator ?? null,
    securityCredential: credentialOf(fields, complain),
    passwordSetOn: fields.password_set_on ?? null,
    payoutCommand: fields.payout_command,
    nominatedNumber: fields.nominated_number ?? null,
    floatAlertBelowCents: fields.float_alert_below ?? null,
  };
}

function credentialOf(fields: ShortcodeFields, complain: Complain): string | null {
  const { security_credential: ready, initiator_password: password, certificate } = fields;
  if (ready || !password || !certificate) return ready ?? null;
  try {
    return securityCredential(password, certificate);
  } catch {
    complain('certificate', 'cannot encrypt the password');
    return null;
  }
}

function addIssue(context: z.RefinementCtx, path: string[], message: string): void {
  context.addIssue({ code: 'custom', path, message });
}
