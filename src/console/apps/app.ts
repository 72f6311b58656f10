import { type AppRecord, requireApp } from '../../domain/merchants/app.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import type { Resource } from '../shell/action.ts';
import { found, numberInPath } from '../shell/read-fields.ts';
import { ConsoleError, type Visit } from '../visit.ts';

/** The app that the pages under its address are about. */
export const APP: Resource<AppRecord> = {
  find: async ({ service, params }) => {
    const app = await found(requireApp(service.database, numberInPath(params, 'code')));
    if (app.merchant_id === numberInPath(params, 'merchant_id')) return app;
    throw new ConsoleError(404, `Merchant ${params.merchant_id} has no app ${app.code}`);
  },
  recordView: recordAppView,
  nameOf: ({ code, name }) => `${name} (app ${code})`,
  pathOf: ({ merchant_id, code }) => pathTo('app', { merchant_id, code }),
};

export async function recordAppView(visit: Visit, { code, merchant_id }: AppRecord): Promise<void> {
  const read = { action: 'app.show', merchant_id, subject: `app ${code}` };
  await recordView(visit, { ...read, lookedFor: { code }, rows: 1 });
}
