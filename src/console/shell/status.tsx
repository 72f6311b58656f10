import type { PaymentStatus } from '../../domain/payments/payment.ts';

/** The tone of a badge. The colour only repeats the words. */
export type Tone = 'good' | 'bad' | 'warn' | 'plain';

const TONES: Readonly<Record<PaymentStatus, Tone>> = {
  pending: 'plain',
  processing: 'plain',
  completed: 'good',
  failed: 'bad',
};

export function Badge({ tone, words }: { tone: Tone; words: string }) {
  return <span class={`badge ${tone}`}>{words}</span>;
}

/** Shows whether an app or a user is let in. @param off is the word for the other state */
export function ActiveBadge({ active, off }: { active: boolean; off: string }) {
  return <Badge tone={active ? 'good' : 'bad'} words={active ? 'active' : off} />;
}

/** The status of a payment, and what makes it a case for support. */
export function StatusBadges({
  status,
  overdue,
  parked_reason,
}: {
  status: PaymentStatus;
  overdue: boolean;
  parked_reason: string | null;
}) {
  return (
    <>
      <Badge tone={TONES[status]} words={status} />
      {overdue && <Badge tone="warn" words="overdue" />}
      {parked_reason !== null && <Badge tone="warn" words="needs a person" />}
    </>
  );
}
