import { signingOf } from '../../domain/merchants/webhook-secrets.ts';
import { ConsoleError } from '../console-error.ts';
import { MERCHANT } from '../merchants/merchant.ts';
import { formOf, performing } from '../shell/change.tsx';
import type { Answer, Visit } from '../visit.ts';
import { APP, recordAppView } from './app.ts';
import { appChange } from './changes.tsx';
import { createApp } from './create.tsx';
import { AppPage } from './view.tsx';

/** The page of an app, and what can be done about it. */
export const appHandlers = {
  app: async (visit: Visit): Promise<Answer> => {
    const app = await APP.find(visit);
    const signing = await signingOf(visit.service.database, app);
    await recordAppView(visit, app);
    return { page: <AppPage visit={visit} app={app} signing={signing} />, title: app.name };
  },

  appChangeForm: formOf(APP, changeIn),
  appChange: performing(APP, changeIn),
  appNewForm: formOf(MERCHANT, () => createApp),
  appNew: performing(MERCHANT, () => createApp),
};

function changeIn({ params }: Visit) {
  const change = appChange(params.change ?? '');
  if (!change) throw new ConsoleError(404, 'There is no such page');
  return change;
}
