import { HOUR_MS } from '../../time.ts';
import { networksFromText } from '../networks.ts';
import {
  duration,
  flag,
  integer,
  mailAddress,
  parsed,
  ports,
  SECRET,
  text,
  wholeUrl,
} from '../setting-types.ts';
import { smtpAddressFromText } from '../smtp-address.ts';

/** A stopping process must be able to wait for as long. */
const MAX_WAIT_MS = 20_000;
const MAX_CONCURRENCY = 200;

export const WORKERS = {
  SUBMISSION_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(10)
    .describe('Submissions under way at once, per gateway and process'),
  SETTLEMENT_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(10)
    .describe('Status queries per gateway, and stored callbacks, under way at once per process'),
  REFUNDS_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(5)
    .describe(
      'Refunds of payouts, and returns to customers per gateway, under way at once per process',
    ),
  JOB_LOCK_MS: duration(1_000)
    .default(30_000)
    .describe('Time without a sign of life after which a worker’s job is given to another worker'),
  SWEEP_INTERVAL_MS: duration(100)
    .default(5_000)
    .describe('Interval at which the sweeper looks for due steps whose job was lost'),
  SWEEP_GRACE_MS: duration(100)
    .default(30_000)
    .describe('Time for which a step may be due before the sweeper enqueues it again'),
  LEDGER_VERIFY_INTERVAL_MS: duration(1_000)
    .default(HOUR_MS)
    .describe('Interval at which the dispatcher proves the books, as `ledger verify` does'),
  SEALS_FOLDER: text(1)
    .optional()
    .describe(
      'Folder in which the dispatcher appends each [seal of a day](operations.md#seals) to `seals.jsonl`. Keep it away from the people who keep the database. Default: seals are in the database only',
    )
    .meta({ example: '/var/lib/malipo/seals' }),
};

export const WEBHOOKS = {
  WEBHOOKS_CONCURRENCY: integer(1, MAX_CONCURRENCY)
    .default(64)
    .describe(
      'Webhook deliveries under way at once per process. Half of the places of all processes are kept for endpoints that answer; one endpoint gets an eighth at most',
    ),
  WEBHOOK_TIMEOUT_MS: duration(100, MAX_WAIT_MS)
    .default(10_000)
    .describe('Longest time that one webhook attempt may take in all'),
  WEBHOOK_ALLOW_PRIVATE: flag()
    .optional()
    .describe(
      'Allows webhooks to private and loopback addresses. Default: only in `development`. Production refuses it',
    ),
  WEBHOOK_PORTS: ports()
    .optional()
    .describe(
      'Ports to which webhooks go. A payment whose `callback_url` has another is refused. Default: any in `development` and with `WEBHOOK_ALLOW_PRIVATE=true`, else 443 and 8443',
    )
    .meta({ example: '443,8443' }),
  WEBHOOK_BLOCK: parsed(networksFromText)
    .optional()
    .describe(
      'Addresses and networks to which no webhook goes, whatever else is allowed: public ones of your own, behind which there is more than the public may see',
    )
    .meta({ example: '203.0.113.0/24,2001:db8::/32' }),
  SMTP_URL: parsed(smtpAddressFromText)
    .optional()
    .describe(
      'Mail server through which people get links to their passwords and secrets, and are told of changed access, of requests for a second person, and of endpoints that fail: `smtps://` uses TLS, `smtp://` STARTTLS. Default: no e-mails, and staff see passwords and secrets',
    )
    .meta({ ...SECRET, example: 'smtps://malipo:password@mail.example.com' }),
  NOTICE_FROM: mailAddress()
    .optional()
    .describe('Address from which these e-mails come. Required with `SMTP_URL`')
    .meta({ example: 'malipo@pay.example.com' }),
  NOTICE_HOOK_URL: wholeUrl('http', 'https')
    .optional()
    .describe(
      'Address of your own to which the same is sent as JSON by POST, for all merchants. It may be a private one. Default: none',
    )
    .meta({ ...SECRET, example: 'https://ops.example.com/hooks/malipo' }),
};
