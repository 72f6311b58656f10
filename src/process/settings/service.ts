import { totpOperationsFromText } from '../../domain/access/require-access.ts';
import { DAY_MS, MINUTE_MS } from '../../time.ts';
import { networksFromText, trustedProxiesFromText } from '../networks.ts';
import {
  contact,
  duration,
  flag,
  httpUrl,
  integer,
  oneOf,
  parsed,
  SECRET,
  text,
} from '../setting-types.ts';
import { profilesFromFile } from '../statement-profiles.ts';

const MAX_PORT = 65_535;
const MAX_RATE = 100_000;
const MAX_HOLD_MS = 7 * DAY_MS;
const MAX_APPROVAL_LIMIT_CENTS = 1_000_000_000_000;

export const PROCESS = {
  MALIPO_ENV: oneOf('development', 'sandbox', 'production')
    .default('development')
    .describe(
      'Kind of installation. `production` refuses gateways without real money, weak or missing secrets, and settings that open the service to strangers',
    ),
  LOG_LEVEL: oneOf('error', 'warn', 'info', 'debug')
    .default('info')
    .describe('The least severe level of log line that a process writes'),
  LOG_SAMPLE_PERCENT: integer(0, 100)
    .default(100)
    .describe(
      'Of how many payments in 100 the usual log lines are written: requests, submissions, callbacks, polls, refunds and webhooks that went well. A payment has all of them or none. Every other line is always written',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl()
    .optional()
    .describe(
      'Address of an OpenTelemetry collector, to which the traces of payments are sent by OTLP over HTTP, below `/v1/traces`. OpenTelemetry’s own `OTEL_EXPORTER_OTLP_HEADERS` adds headers. Default: no traces',
    )
    .meta({ example: 'http://localhost:4318' }),
  TRACE_SAMPLE_PERCENT: integer(0, 100)
    .default(100)
    .describe(
      'Of how many payments in 100 the traces are sent. A payment has its whole trace or none',
    ),
  METRICS_PORT: integer(0, MAX_PORT)
    .optional()
    .describe(
      'Operators’ port of the process, with `/healthz`, `/readyz` and `/metrics`. If it is taken, the process uses the next free one and logs it. `0` picks any free one. Default: 9464 `web`, 9465 `console`, 9466 `dispatcher`, 9467 `submission`, 9468 `settlement`, 9469 `refunds`, 9470 `webhooks`, 9471 all workers in one; a second process of a type takes the first free one from 9472 on',
    )
    .meta({ example: '9464' }),
  METRICS_HOST: text()
    .default('127.0.0.1')
    .describe('Address that the operators’ port listens on. Strangers must never reach it'),
  SHUTDOWN_TIMEOUT_MS: duration(1_000)
    .default(25_000)
    .describe(
      'Time from the signal in which a stopping process must end: the drain, then its requests and jobs',
    ),
  DRAIN_DELAY_MS: duration(0, MINUTE_MS)
    .default(5_000)
    .describe(
      'Time for which a web process still serves after SIGTERM, while `/readyz` says no, so that load balancers notice',
    ),
};

export const CONSOLE = {
  CONSOLE_HOST: text()
    .default('127.0.0.1')
    .describe(
      'Address that the support console listens on. With the development key it must be a loopback address',
    ),
  CONSOLE_PORT: integer(0, MAX_PORT)
    .default(8070)
    .describe('Port of the support console. `0` picks a free one'),
  CONSOLE_URL: httpUrl()
    .optional()
    .describe(
      'Address at which staff reach the console, without path. If it begins with https, the session cookie goes over HTTPS only, and the console refuses forms from other addresses. Default: `CONSOLE_HOST` and `CONSOLE_PORT`. Required for a console in production',
    )
    .meta({ example: 'https://console.example.com' }),
  CONSOLE_SOURCES: parsed(networksFromText)
    .optional()
    .describe(
      'Addresses and networks from which staff may use the console, such as those of your office. Default: all',
    )
    .meta({ example: '10.0.0.0/8' }),
  STAFF_APPROVAL_LIMIT: integer(0, MAX_APPROVAL_LIMIT_CENTS)
    .default(10_000_000)
    .describe(
      'From this number of cents on, a decision needs a second member of staff. Decisions of one person within 24 hours count together, and so do decisions about one merchant. Default: KES 100,000.00. `0`: every decision',
    ),
  STATEMENT_PROFILES: parsed(profilesFromFile)
    .optional()
    .describe(
      'JSON file with more forms of statement files, which [the handbook](support.md#forms-of-statement-files) explains. It is read at the start. Default: only the built-in ones',
    ),
};

export const API = {
  HOST: text()
    .default('127.0.0.1')
    .describe(
      'Address that the API listens on; `0.0.0.0` means all. With the development key it must be a loopback address',
    ),
  PORT: integer(0, MAX_PORT).default(8080).describe('Port of the API. `0` picks a free one'),
  PUBLIC_URL: httpUrl()
    .optional()
    .describe(
      'Address at which merchants reach the API, without path. Default: the web process’s own `HOST` and `PORT`. Required in production',
    )
    .meta({ example: 'https://pay.example.com' }),
  GATEWAY_CALLBACK_URL: httpUrl()
    .optional()
    .describe(
      'Address at which gateways reach the API. Default: `PUBLIC_URL`, or else the address of the web process that started last, which it records in the database',
    )
    .meta({ example: 'https://callbacks.example.com' }),
  TRUST_PROXY: parsed(trustedProxiesFromText)
    .optional()
    .describe(
      'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: addresses, networks, `loopback`, or the number of proxies. Default: none. Production needs this or `TLS_CERT`, and refuses a number, and networks so large that anybody could be a proxy',
    ),
  TLS_CERT: text()
    .optional()
    .describe('File with the certificate chain, to serve HTTPS without a proxy'),
  TLS_KEY: text().optional().describe('File with the key of `TLS_CERT`'),
  REQUIRE_HTTPS: flag()
    .optional()
    .describe(
      'Refuses requests over plain HTTP, and callback addresses without https. Default: only in production',
    ),
  NEW_ACCESS_HOLD_MS: duration(0, MAX_HOLD_MS)
    .optional()
    .describe(
      'Time for which passwords, roles and secrets that staff have just given to a merchant send no payouts, transfers and reversals, unless a user of the merchant with the role Admin releases them, and for which new one-time passwords of staff approve nothing. Default: 12 hours in production, else `0`, which is not at all',
    ),
  RATE_LIMIT_PER_MINUTE: integer(1, MAX_RATE)
    .default(60)
    .describe('Requests that a merchant may make per minute in the long run'),
  RATE_LIMIT_BURST: integer(1, MAX_RATE)
    .default(100)
    .describe('Requests that a merchant may make at once'),
  REQUIRE_TOTP_FOR: parsed(totpOperationsFromText)
    .optional()
    .describe(
      'Operations (`payouts`, `transfers`, `reversals`) that a person may start only after a log-in with a one-time password, at every merchant. Default: each merchant decides',
    )
    .meta({ example: 'payouts,transfers,reversals' }),
  SECURITY_CONTACT: contact()
    .optional()
    .describe(
      'Where people report a vulnerability of this installation. The API then serves it at `/.well-known/security.txt`',
    )
    .meta({ example: 'mailto:security@pay.example.com' }),
  METRICS_TOKEN: text(32)
    .optional()
    .describe(
      'The API then also serves `/metrics` of its process, to callers that send this text as a bearer token',
    )
    .meta(SECRET),
};
