import { messageOf } from '../connections/database-errors.ts';
import { endSetUpMail, type SetUp, takeSetUp } from '../domain/credentials/set-ups.ts';
import type { Service } from '../service/service.ts';
import { bothTimes, emailText, type NoticeText, oneLine } from './notices.ts';

/**
 * Mails one link to its owner. A link whose e-mail has failed, or whose process died, goes again with
 * another code, and the older code is good no more.
 * @returns how many it took: 0 or 1
 */
export async function mailSetUp(service: Service): Promise<number> {
  const { database, config, logger } = service;
  const setUp = config.smtpUrl === undefined ? null : await takeSetUp(database, config.secretsKeys);
  if (!setUp) return 0;
  const { id, code_hash, email } = setUp;
  const mailId = `${id}-${code_hash.toString('hex').slice(0, 8)}`;
  try {
    await emailText(service, mailId, email, textOf(setUp, config.publicUrl));
    await endSetUpMail(database, setUp);
    logger.info('set-up link sent', { set_up_id: id });
  } catch (error) {
    logger.warn('set-up link not sent', { set_up_id: id, error: messageOf(error) });
  }
  return 1;
}

function textOf(setUp: SetUp, publicUrl: string): NoticeText {
  const { code, expires_at, app_code, secret_kind } = setUp;
  const merchant = oneLine(setUp.merchant_name);
  const secret = secret_kind === 'own' ? 'webhook secret' : 'secret';
  const [subject, what, part] =
    app_code === null
      ? [`Set your password for ${merchant}`, `Set your password for ${merchant}:`, 'password']
      : [
          `Read the ${secret} of app ${app_code}`,
          `App ${app_code} of ${merchant} has a new ${secret}. Read it once:`,
          'secret',
        ];
  const lines = [
    what,
    `${publicUrl}/set-up/${part}#${code}`,
    `The link is good once, until ${bothTimes(expires_at)}. Nobody else has it: give it to nobody.`,
    'If you have not asked for it, tell the operator at once.',
  ];
  return { subject, text: `${lines.join('\n\n')}\n` };
}
