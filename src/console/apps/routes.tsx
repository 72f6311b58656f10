import { signingOf } from '../../domain/merchants/webhook-secrets.ts';
import { MERCHANT } from '../merchants/merchant.ts';
import { actionHandlers, namedIn } from '../shell/action.ts';
import type { Answer, Visit } from '../visit.ts';
import { APP, recordAppView } from './app.ts';
import { APP_ACTIONS } from './changes.tsx';
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

  ...actionHandlers('appChange', APP, namedIn(APP_ACTIONS)),
  ...actionHandlers('appNew', MERCHANT, () => createApp),
};
