import type { AppRecord } from '../../domain/merchants/manage-apps.ts';
import type { Signing } from '../../domain/merchants/webhook-secrets.ts';
import { mayUse, pathTo } from '../routes.ts';
import { ActionLinks } from '../shell/action-page.tsx';
import { Facts } from '../shell/facts.tsx';
import { Time } from '../shell/time.tsx';
import type { Visit } from '../visit.ts';
import { APP_ACTIONS } from './changes.tsx';
import { ActiveBadge } from './table.tsx';

const SIGNERS = { app: 'its app secret', own: 'a webhook secret of its own' } as const;

interface Props {
  visit: Visit;
  app: AppRecord;
  signing: Signing;
}

/** An app, without its secrets. */
export function AppPage({ visit, app, signing }: Props) {
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
