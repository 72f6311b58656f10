import type { Audited } from '../../domain/audited-change.ts';
import type { PaymentFile } from '../../domain/support/payment-file.ts';
import { pathTo } from '../routes.ts';
import { actionDone, actionForm, type ThingAction } from '../shell/action.tsx';
import type { Handler, Visit } from '../visit.ts';
import { fileOf } from './query.ts';
import { recordPaymentView } from './seen.ts';
import { nameOf } from './words.ts';

/** Something that support can do about a payment. */
export interface Action
  extends Pick<
    ThingAction<PaymentFile>,
    'route' | 'action' | 'title' | 'verb' | 'preview' | 'carried'
  > {
  /** Does it. @throws OperatorRefusal when it is not possible any more */
  perform(
    visit: Visit,
    file: PaymentFile,
    by: { audited: Audited; reason: string },
  ): Promise<unknown>;
}

/** Shows an action: what will happen, and the question why. */
export function formOf(action: Action): Handler {
  return actionForm(aboutPayment(action));
}

/** Does an action, and goes back to the payment. */
export function performing(action: Action): Handler {
  return actionDone(aboutPayment(action));
}

function aboutPayment(action: Action): ThingAction<PaymentFile> {
  return {
    ...action,
    find: async (visit) => {
      const file = await fileOf(visit);
      await recordPaymentView(visit, file);
      return file;
    },
    back: (file) => ({ path: pathTo('payment', { ...file.payment }), words: nameOf(file.payment) }),
    perform: (visit, file, audited, reason) => action.perform(visit, file, { audited, reason }),
  };
}
