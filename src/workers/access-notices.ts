import { messageOf } from '../connections/database-errors.ts';
import {
  type AccessNotice,
  endAccessNotice,
  keepTold,
  takeAccessNotice,
} from '../domain/security/access-notices.ts';
import type { SecurityEventKind } from '../domain/security/security-events.ts';
import type { Service } from '../service/service.ts';
import { bothTimes, emailsTo, type NoticeText, tellEach } from './notices.ts';

/**
 * Tells one change of access by staff to its owner, and to the merchant. Nobody is told twice, unless
 * an e-mail has failed or the process died.
 * @returns how many it took: 0 or 1
 */
export async function tellAccess(service: Service): Promise<number> {
  const { database, config, logger } = service;
  const notice = config.smtpUrl === undefined ? null : await takeAccessNotice(database);
  if (!notice) return 0;
  const { id, kind, tell } = notice;
  const facts = { event_id: id, kind };
  const { told, error } = await tellEach(emailsTo(service, id, tell, textOf(notice)));
  if (error === null) {
    await endAccessNotice(database, notice);
    logger.info('access told', { ...facts, people: told.length });
  } else {
    await keepTold(database, notice, told);
    logger.warn('access not told', { ...facts, error: messageOf(error) });
  }
  return 1;
}

const WORDS: Partial<Record<SecurityEventKind, string>> = {
  user_created: 'was made a user',
  app_created: 'was made',
  app_secret_rotated: 'has a new secret',
  webhook_secret_rotated: 'has a new webhook secret',
  role_changed: 'has another role',
  allow_list_changed: 'may be used from other addresses',
  access_widened: 'was changed',
  password_changed: 'has a new password',
  totp_reset: 'has no one-time passwords any more',
  staff_created: 'was made a member of staff',
  staff_changed: 'has another name, role or state',
  staff_token_renewed: 'has a new staff token',
  staff_totp_enabled: 'has set up one-time passwords',
  staff_totp_reset: 'has no one-time passwords any more',
};

/** Writes to the owner. It has nothing that its sender would have to keep secret. */
function textOf({
  kind,
  person,
  app_code,
  merchant_id,
  staff,
  at,
  detail,
}: AccessNotice): NoticeText {
  const app = app_code === null ? null : `App ${app_code}`;
  const subject = `${person ?? app ?? `Merchant ${merchant_id}`} ${WORDS[kind] ?? kind}`;
  const lines = [
    `${subject}${kind === 'access_widened' ? `: ${(detail.changed as string[]).join(', ')}` : ''}.`,
    `Done by ${staff}, of Malipo’s operator, at ${bothTimes(at)}.`,
    'If you have not asked for it, tell the operator at once.',
    ...(merchant_id === null
      ? []
      : [
          'A new secret, password or role sends no payouts for some hours, if the operator has not switched that off.',
        ]),
  ];
  return { subject, text: `${lines.join('\n')}\n` };
}
