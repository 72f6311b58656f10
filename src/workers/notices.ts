import { messageOf } from '../connections/database-errors.ts';
import { kes } from '../domain/money.ts';
import { clockTime } from '../domain/period.ts';
import { APPROVAL_LIFE_DAYS } from '../domain/staff/approval-store.ts';
import {
  keepTold,
  markTold,
  takeUntold,
  type UntoldApproval,
} from '../domain/staff/open-approvals.ts';
import { OPENS_AFTER } from '../domain/webhooks/endpoint.ts';
import {
  MAX_EMAILS_PER_HOUR,
  type Notice,
  recordTelling,
  takeNotice,
} from '../domain/webhooks/notices.ts';
import { addressesOfSystem } from '../outbound/addresses.ts';
import { sendEmail } from '../outbound/send-email.ts';
import { type PostOptions, postWebhook } from '../outbound/webhook-client.ts';
import type { Service } from '../service/service.ts';

/** A notice helps within minutes. */
export const NOTICES_INTERVAL_MS = 1_000;
/** The longest time for an e-mail or a call of the hook. */
export const NOTICE_TIMEOUT_MS = 10_000;

/** `limited`: the merchant has had enough e-mails for now. */
type Result = 'sent' | 'failed' | 'limited';

/** Tells whether this installation tells notices of outages to anybody. */
export function tellsNotices({ config }: Service): boolean {
  return config.smtpUrl !== undefined || config.noticeHookUrl !== undefined;
}

/**
 * Tells one due notice: take it and commit, send it with no transaction open, record. A process
 * that dies before the record lets another send it again, which is harmless.
 * @returns how many it took: 0 or 1
 */
export async function tellNotice(service: Service): Promise<number> {
  const { database, config } = service;
  const notice = await takeNotice(database);
  if (!notice) return 0;
  const wantsEmail = config.smtpUrl !== undefined && notice.emailed_at === null;
  const wantsPost = config.noticeHookUrl !== undefined && notice.posted_at === null;
  const [emailed, posted] = await Promise.all([
    wantsEmail ? resultOf(service, notice, 'email', () => email(service, notice)) : null,
    wantsPost ? resultOf(service, notice, 'hook', () => post(service, notice)) : null,
  ]);
  await recordTelling(database, notice, {
    isEmailed: emailed === 'sent',
    isPosted: posted === 'sent',
    isDone: [emailed, posted].every((result) => result === null || result === 'sent'),
  });
  return 1;
}

/** Counts and logs what came of one way. A failure says nothing about the other way. */
async function resultOf(
  { logger, meters }: Service,
  { id, merchant_id, endpoint, kind }: Notice,
  way: 'email' | 'hook',
  send: () => Promise<Result>,
): Promise<Result> {
  const facts = { notice_id: id, merchant_id, endpoint, kind, way };
  let result: Result = 'failed';
  try {
    result = await send();
    if (result === 'limited') logger.warn('notice put off: too many e-mails', facts);
    else logger.info('notice sent', facts);
  } catch (error) {
    logger.warn('notice not sent', { ...facts, error: messageOf(error) });
  }
  meters.webhookNotices.inc({ kind, way, result });
  return result;
}

async function email({ config }: Service, notice: Notice): Promise<Result> {
  if (notice.emailed_lately >= MAX_EMAILS_PER_HOUR) return 'limited';
  await emailText({ config }, notice.id, notice.email, noticeText(notice));
  return 'sent';
}

/** Sends a text to an address. The id names the e-mail, so that a second copy is known. */
export function emailText(
  { config: { smtpUrl, noticeFrom, malipoEnv } }: Pick<Service, 'config'>,
  id: string,
  to: string,
  text: NoticeText,
): Promise<void> {
  return sendEmail(
    smtpUrl!,
    { ...text, id, from: noticeFrom!, to },
    { timeoutMs: NOTICE_TIMEOUT_MS, requireTls: malipoEnv === 'production' },
  );
}

/** Ways to tell something, each by its name: an address, or the hook. */
type Ways = ReadonlyMap<string, () => Promise<void>>;

/** Returns the ways to send a text to addresses, each of them once. */
export function emailsTo(
  service: Pick<Service, 'config'>,
  id: string,
  addresses: readonly string[],
  text: NoticeText,
): Ways {
  return new Map(
    addresses.map((to) => [to, () => emailText(service, `${id}-${to}`, to, text)] as const),
  );
}

/**
 * Goes each way, whatever becomes of the others: an address that no server takes keeps nobody else from hearing.
 * @returns the ways that have worked, and the first error of the others
 */
export async function tellEach(ways: Ways): Promise<{ told: string[]; error: unknown }> {
  const told: string[] = [];
  let error: unknown = null;
  for (const [name, send] of ways) {
    try {
      await send();
      told.push(name);
    } catch (failure) {
      error ??= failure;
    }
  }
  return { told, error };
}

const HOOK = 'the hook';

/**
 * Tells one request for a second person to those who may agree to it, and to its asker. Nobody is told twice,
 * unless a way has failed or the process died.
 * @returns how many it took: 0 or 1
 */
export async function tellApproval(service: Service): Promise<number> {
  const { database, config, logger } = service;
  const request = await takeUntold(database);
  if (!request) return 0;
  const { id, action, subject, requested_by, amount_cents, merchant_id, tell } = request;
  const facts = { id, action, subject, requested_by, amount_cents, merchant_id };
  const ways = new Map(emailsTo(service, id, config.smtpUrl ? tell : [], approvalText(request)));
  const { noticeHookUrl } = config;
  const document = JSON.stringify({ kind: 'approval', ...facts });
  if (noticeHookUrl) ways.set(HOOK, () => postToHook(noticeHookUrl, id, document));
  for (const name of request.told) ways.delete(name);
  const { told, error } = await tellEach(ways);
  if (error === null) {
    await markTold(database, request);
    logger.info('approval told', { approval: id, members: tell.length });
  } else {
    await keepTold(database, request, told);
    logger.warn('approval not told', { approval: id, error: messageOf(error) });
  }
  return 1;
}

/** The operator's own address may be private and in `/etc/hosts`. A merchant's address may not. */
const HOOK_OPTIONS: PostOptions = {
  timeoutMs: NOTICE_TIMEOUT_MS,
  allowPrivate: true,
  blocked: [],
  ports: null,
  find: addressesOfSystem,
};

async function post({ config }: Service, notice: Notice): Promise<Result> {
  await postToHook(config.noticeHookUrl!, notice.id, JSON.stringify(hookDocument(notice)));
  return 'sent';
}

async function postToHook(url: string, id: string, body: string): Promise<void> {
  const { status, error, reason } = await postWebhook(
    url,
    body,
    { 'webhook-id': id },
    HOOK_OPTIONS,
  );
  if (status !== null && status >= 200 && status <= 299) return;
  throw new Error(reason ?? error ?? `the hook answered with status ${status}`);
}

function hookDocument(notice: Notice) {
  const { kind, merchant_id, merchant_name, endpoint } = notice;
  const { failing_since, last_status, last_error, waiting, created_at } = notice;
  return {
    kind,
    merchant_id,
    merchant_name,
    endpoint,
    failing_since,
    last_status,
    last_error,
    waiting,
    created_at,
  };
}

/** An e-mail as plain text. */
export interface NoticeText {
  subject: string;
  text: string;
}

/** Writes a notice for the merchant. It has nothing that its sender would have to keep secret. */
export function noticeText(notice: Notice): NoticeText {
  const { subject, happened, now } = TEMPLATES[notice.kind](notice);
  const parts = [
    [happened, '', ...facts(notice)],
    ['What Malipo does:', now],
    ['What you can do:', ...ADVICE[notice.kind].map((line) => `- ${line}`)],
  ];
  return { subject, text: `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n` };
}

const HOLDING =
  'It holds back the webhooks to this endpoint. They wait and spend no attempts. One at a time goes as a probe, every two minutes at the latest. When your endpoint takes one, the others follow by themselves. A webhook that has waited for seven days is given up.';
const SENDING = 'It sends the webhooks to this endpoint again, a few at first and then ever more.';

const TEMPLATES: Record<
  Notice['kind'],
  (notice: Notice) => { subject: string; happened: string; now: string }
> = {
  failing: ({ endpoint, is_held }) => ({
    subject: `Your webhook endpoint does not work: ${endpoint}`,
    happened: `Your endpoint has not taken the webhooks of Malipo, ${OPENS_AFTER} times in a row.`,
    now: is_held ? HOLDING : `Your endpoint has taken one since then. ${SENDING}`,
  }),
  recovered: ({ endpoint, is_held }) => ({
    subject: `Your webhook endpoint works again: ${endpoint}`,
    happened: 'Your endpoint takes the webhooks of Malipo again.',
    now: is_held ? `Your endpoint has failed again since then. ${HOLDING}` : SENDING,
  }),
  exhausted: ({ endpoint, is_held }) => ({
    subject: `Webhooks were given up: ${endpoint}`,
    happened:
      'Malipo has given up at least one webhook to your endpoint, because no attempt has succeeded for days. You may not know how its payment ended.',
    now: `It sends a webhook that was given up only when somebody asks for it. ${is_held ? HOLDING : 'It goes on to send the others.'}`,
  }),
};

const LOOK =
  'GET /webhooks/endpoints shows the state of your endpoints, and GET /webhooks/deliveries each webhook with what your endpoint answered.';
const EVENTS =
  'GET /events lists everything that webhooks have told or should have told. Nothing is lost.';
const TEST = 'POST /webhooks/test sends a webhook to try your endpoint with.';
const RECOVER =
  'POST /webhooks/recover sends again the webhooks of a time that have not reached you.';

const ADVICE: Record<Notice['kind'], readonly string[]> = {
  failing: [
    'Mend the endpoint, so that it answers in time with a status from 200 to 299.',
    LOOK,
    TEST,
    RECOVER,
    EVENTS,
  ],
  recovered: ['You need to do nothing for the webhooks that wait.', LOOK, RECOVER, EVENTS],
  exhausted: ['Mend the endpoint first, if it does not work.', LOOK, TEST, RECOVER, EVENTS],
};

function facts(notice: Notice): string[] {
  const { kind, created_at } = notice;
  return [
    `Endpoint: ${notice.endpoint}`,
    `Merchant: ${oneLine(notice.merchant_name)} (${notice.merchant_id})`,
    `${kind === 'recovered' ? 'Had failed' : 'Failing'} since: ${bothTimes(notice.failing_since)}`,
    ...(kind === 'recovered' ? [`Works again since: ${bothTimes(created_at)}`] : []),
    ...(kind === 'exhausted' ? [`Given up: ${bothTimes(created_at)}`] : []),
    `Last failure: ${lastFailure(notice)}`,
    `Webhooks that wait now: ${notice.waiting}`,
  ];
}

/** Writes to a member of staff. The reasons and the names in a request stay in the console. */
function approvalText({
  id,
  action,
  requested_by,
  amount_cents,
  requested_at,
  decided_by,
}: UntoldApproval): NoticeText {
  const amount = amount_cents === null ? '' : ` about ${kes(amount_cents)}`;
  const lines = [
    `${requested_by} asks for a second person: ${action}${amount}.`,
    `Asked: ${bothTimes(requested_at)}. It expires after ${APPROVAL_LIFE_DAYS} days.`,
    ...(decided_by === null ? [] : [`${decided_by} has approved it since.`]),
    `Look at it on the page “Approvals” of the console, or with: approval show ${id}`,
    `If you are ${requested_by} and have not asked for it, tell the other admins at once.`,
  ];
  const subject = decided_by === null ? 'Approve or reject' : 'Approved';
  return { subject: `${subject}: ${action}${amount}`, text: `${lines.join('\n')}\n` };
}

/** Writes a moment in the time of Nairobi and in UTC. */
export function bothTimes(date: Date): string {
  return `${clockTime(date, 'EAT')} (${clockTime(date, 'UTC')})`;
}

const MAX_ERROR_LENGTH = 200;

function lastFailure({ last_status, last_error }: Notice): string {
  if (last_status !== null) return `your endpoint answered with status ${last_status}`;
  return `no answer (${beginningOf(oneLine(last_error ?? 'unknown'))})`;
}

/** Cuts between characters: half of one that needs two units would be none. */
function beginningOf(text: string): string {
  return [...text].slice(0, MAX_ERROR_LENGTH).join('');
}

/** The other side may have chosen the words of an error. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cs}\p{Bidi_Control}]+/gu, ' ').trim();
}
