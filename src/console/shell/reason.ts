import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import type { OpenVisit } from '../visit.ts';
import { MAX_REASON_LENGTH } from './form.tsx';

/** Reads the reason of a form that changes something. @throws OperatorRefusal without a good one */
export function givenReason({ form: { reason = '' } }: Pick<OpenVisit, 'form'>): string {
  if (reason === '') throw new OperatorRefusal('Give a reason');
  if (reason.length <= MAX_REASON_LENGTH) return reason;
  throw new OperatorRefusal(`A reason has at most ${MAX_REASON_LENGTH} characters`);
}
