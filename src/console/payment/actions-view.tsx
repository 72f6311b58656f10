import { DISCREPANCY_KINDS } from '../../domain/discrepancies/discrepancy.ts';
import { whyNotAsked } from '../../domain/support/ask-now.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import { mayUse, pathTo, type RouteName } from '../routes.ts';
import type { Visit } from '../visit.ts';

interface Offer {
  /** Why it is offered. */
  about: string;
  verb: string;
  route: RouteName;
  params: Record<string, unknown>;
}

/** What can be done now, each with a link to a page that says first what will happen. */
export function Actions({ visit, file }: { visit: Visit; file: PaymentFile }) {
  const offers = offersOf(file).filter(({ route }) => mayUse(visit.member.role, route));
  if (offers.length === 0) return null;
  return (
    <section class="card">
      <h2>What you can do</h2>
      <ul class="offers">
        {offers.map(({ about, verb, route, params }) => (
          <li>
            <span>{about}</span>
            <a class="button" href={pathTo(route, { ...file.payment, ...params })}>
              {verb}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function offersOf(file: PaymentFile): Offer[] {
  const { payment, discrepancies, failedJobs, events } = file;
  return [
    ...discrepancies
      .filter(({ resolved_at }) => resolved_at === null)
      .map(({ id, kind }) => ({
        about: `A discrepancy: ${DISCREPANCY_KINDS[kind]}`,
        ...({ verb: 'Decide', route: 'paymentDecideForm', params: { discrepancy: id } } as const),
      })),
    ...failedJobs
      .filter(({ state }) => state === 'waiting')
      .map(({ id, step, error }) => ({
        about: `A job failed for good (${step}): ${error}`,
        ...({ verb: 'Replay', route: 'paymentReplayForm', params: { job: id } } as const),
      })),
    ...(whyNotAsked(payment) === null
      ? [
          {
            about: 'The gateway is asked by itself, and can be asked at once',
            ...({ verb: 'Ask now', route: 'paymentAskForm', params: {} } as const),
          },
        ]
      : []),
    ...events
      .filter(({ status }) => status !== null)
      .map(({ id, type, status, attempts }) => ({
        about: `The webhook ${type} is ${status} after ${attempts} attempts`,
        ...({ verb: 'Resend', route: 'paymentResendForm', params: { webhook: id } } as const),
      })),
  ];
}
