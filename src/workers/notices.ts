import { messageOf } from '../connections/database-errors.ts';
import { noticeText } from '../domain/webhooks/notice-text.ts';
import {
  MAX_EMAILS_PER_HOUR,
  type Notice,
  recordTelling,
  takeNotice,
} from '../domain/webhooks/notices.ts';
import { addressesOfSystem } from '../outbound/host-addresses.ts';
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
  const { smtpUrl, noticeFrom, malipoEnv } = config;
  await sendEmail(
    smtpUrl!,
    { ...noticeText(notice), id: notice.id, from: noticeFrom!, to: notice.email },
    { timeoutMs: NOTICE_TIMEOUT_MS, requireTls: malipoEnv === 'production' },
  );
  return 'sent';
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
  const { status, error, reason } = await postWebhook(
    config.noticeHookUrl!,
    JSON.stringify(hookDocument(notice)),
    { 'webhook-id': notice.id },
    HOOK_OPTIONS,
  );
  if (status === null || status < 200 || status > 299) {
    throw new Error(reason ?? error ?? `the hook answered with status ${status}`);
  }
  return 'sent';
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
