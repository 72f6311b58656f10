import { type OpenSetUp, openSetUps } from '../../domain/credentials/set-ups.ts';
import { type AppRecord, requireApp } from '../../domain/merchants/app.ts';
import { type Signing, signingOf } from '../../domain/merchants/app-secrets.ts';
import { appOperations, createApp } from '../../operations/app.ts';
import { recordView } from '../access/audit.ts';
import { mayUse, pathTo } from '../routes.ts';
import { Facts, Time } from '../shell/links.tsx';
import { OperationLinks, operationHandlers, pagesOf, type Resource } from '../shell/operation.tsx';
import { found, numberInPath } from '../shell/read-fields.ts';
import { ActiveBadge } from '../shell/status.tsx';
import { type Column, Table } from '../shell/table.tsx';
import { type Answer, ConsoleError, type Visit } from '../visit.ts';
import { MERCHANT } from './merchants.tsx';
import { linkFacts } from './set-up-links.tsx';

/** The app that the pages under its address are about. */
const APP: Resource<AppRecord> = {
  find: async ({ service, params }) => {
    const app = await found(requireApp(service.database, numberInPath(params, 'code')));
    if (app.merchant_id === numberInPath(params, 'merchant_id')) return app;
    throw new ConsoleError(404, `Merchant ${params.merchant_id} has no app ${app.code}`);
  },
  recordView: recordAppView,
  nameOf: ({ code, name }) => `${name} (app ${code})`,
  pathOf: ({ merchant_id, code }) => pathTo('app', { merchant_id, code }),
};

async function recordAppView(visit: Visit, { code, merchant_id }: AppRecord): Promise<void> {
  const read = { action: 'app.show', merchant_id, subject: `app ${code}` };
  await recordView(visit, { ...read, lookedFor: { code }, rows: 1 });
}

const pages = pagesOf(appOperations);

/** The page of an app, and what can be done about it. */
export const appHandlers = {
  app: async (visit: Visit): Promise<Answer> => {
    const app = await APP.find(visit);
    const signing = await signingOf(visit.service.database, app);
    const { merchant_id, code: app_code } = app;
    const links = await openSetUps(visit.service.database, { merchant_id, app_code });
    await recordAppView(visit, app);
    return { page: <AppPage {...{ visit, app, signing, links }} />, title: app.name };
  },

  ...operationHandlers('appChange', { resource: APP, pages }),
  ...operationHandlers('appNew', {
    resource: MERCHANT,
    pages: pagesOf([createApp]),
    part: 'create',
    madeAt: ({ row }) => APP.pathOf(row as AppRecord),
  }),
};

const SIGNERS = { app: 'its app secret', own: 'a webhook secret of its own' } as const;

interface Props {
  visit: Visit;
  app: AppRecord;
  signing: Signing;
  links: OpenSetUp[];
}

/** An app, without its secrets. */
function AppPage({ visit, app, signing, links }: Props) {
  const { merchant_id, code } = app;
  const { signs_webhooks_since: since, older_secrets_sign_until: until } = signing;
  return (
    <>
      <h1>{app.name}</h1>
      <p>
        <ActiveBadge active={app.active} off="suspended" /> of{' '}
        <a href={pathTo('merchant', { merchant_id })}>merchant {merchant_id}</a>
      </p>
      <section class="card">
        <Facts
          facts={[
            ['Code', code],
            ['Key', <code>{app.app_key}</code>],
            ['Products', app.products.join(', ') || 'none'],
            ['May call from', app.ip_allow_list.join(', ') || ANYWHERE],
            ['Signs webhooks with', SIGNERS[app.signs_webhooks_with]],
            [
              'Signs with the newest secret since',
              since ? <Time at={since} /> : 'no secret is valid: its webhooks wait for a new one',
            ],
            ['Older secrets sign too, until', until && <Time at={until} />],
            ['Created', <Time at={app.created_at} />],
            ...linkFacts(links),
          ]}
        />
        {mayUse(visit.member.role, 'appChange') && (
          <p class="buttons">
            <OperationLinks route="appChange" params={visit.params} subject={app} pages={pages} />
          </p>
        )}
      </section>
    </>
  );
}

const ANYWHERE = 'anywhere';

const COLUMNS: readonly Column<AppRecord>[] = [
  {
    heading: 'App',
    cell: ({ merchant_id, code, name }) => (
      <a href={pathTo('app', { merchant_id, code })}>{name}</a>
    ),
  },
  { heading: 'Code', cell: ({ code }) => code },
  { heading: 'Products', cell: ({ products }) => products.join(', ') || 'none' },
  { heading: 'May call from', cell: ({ ip_allow_list }) => ip_allow_list.join(', ') || ANYWHERE },
  { heading: 'State', cell: ({ active }) => <ActiveBadge active={active} off="suspended" /> },
];

/** The apps of a merchant, by their codes. */
export function AppTable({ apps }: { apps: AppRecord[] }) {
  return <Table rows={apps} columns={COLUMNS} caption="Apps" />;
}
