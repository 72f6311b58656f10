import type { Transaction } from '../connections/database.ts';
import { offerSetUp } from '../domain/credentials/set-ups.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import type { Service } from '../service/service.ts';
import type { Result } from './operation.ts';

/*
 * No member of staff sees a password or a secret of a merchant where e-mail works: its owner gets a
 * link. Without e-mail it is shown once.
 */

type Mails = Pick<Service, 'config'>;

const isMailed = ({ config }: Mails) => config.smtpUrl !== undefined;

/** Offers a link to the owner of a password or secret that was made, where e-mail works. */
export async function offerLink(
  service: Mails,
  trx: Transaction,
  holder: Parameters<typeof offerSetUp>[2],
): Promise<void> {
  if (isMailed(service)) await offerSetUp(trx, service.config.secretsKeys, holder);
}

/** Says how the owner gets what was made: by a link, or from the one who reads it now. */
export function handOver(
  service: Mails,
  secret: NonNullable<Result['secret']>,
  notes: readonly (string | false)[],
): Pick<Result, 'secret' | 'notes'> {
  if (!isMailed(service)) return { secret, notes };
  const whose = secret.name === 'password' ? 'user' : 'merchant';
  const link = `A link to it goes to the ${whose} by e-mail. It is good once, for 24 hours`;
  return { notes: [link, ...notes] };
}

/** Says beforehand how the owner gets what will be made. */
export function handOverLine(service: Mails, what: string): string {
  return isMailed(service)
    ? `The ${what} is shown to nobody here: a link to it goes out by e-mail, good once, for 24 hours.`
    : `The ${what} is shown once.`;
}

/** @throws OperatorRefusal when somebody brings a password where e-mail lets its owner set it */
export function refuseOwnPassword(service: Mails, password: string | undefined): void {
  if (password === undefined || !isMailed(service)) return;
  throw new OperatorRefusal('Leave --password-stdin out: the user sets the password by a link');
}
