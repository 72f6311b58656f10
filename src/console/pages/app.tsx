import type { AppRecord } from '../../domain/merchants/app.ts';
import { type Signing, signingOf } from '../../domain/merchants/change-app.ts';
import { APP, recordAppView } from '../apps/app.ts';
import { APP_ACTIONS } from '../apps/changes.tsx';
import { createApp } from '../apps/create.tsx';
import { ActiveBadge } from '../apps/table.tsx';
import { MERCHANT } from '../merchants/merchant.ts';
import { mayUse, pathTo } from '../routes.ts';
import { actionHandlers, namedIn } from '../shell/action.ts';
import { ActionLinks } from '../shell/action-page.tsx';
import { Facts, Time } from '../shell/links.tsx';
import type { Answer, Visit } from '../visit.ts';

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

const SIGNERS = { app: 'its app secret', own: 'a webhook secret of its own' } as const;

interface Props {
  visit: Visit;
  app: AppRecord;
  signing: Signing;
}

/** An app, without its secrets. */
function AppPage({ visit, app, signing }: Props) {
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
            ['May call from', app.ip_allow_list.join(', ') || 'anywhere'],
            ['Signs webhooks with', SIGNERS[app.signs_webhooks_with]],
            [
              'Signs with the newest secret since',
              since ? <Time at={since} /> : 'no secret is valid: its webhooks wait for a new one',
            ],
            ['Older secrets sign too, until', until && <Time at={until} />],
            ['Created', <Time at={app.created_at} />],
          ]}
        />
        {mayUse(visit.member.role, 'appChange') && (
          <p class="buttons">
            <ActionLinks
              {...{ route: 'appChange', params: visit.params, subject: app }}
              actions={APP_ACTIONS}
            />
          </p>
        )}
      </section>
    </>
  );
}
