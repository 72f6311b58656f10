import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { missingProof, type StaffSession } from '../../domain/credentials/staff-session.ts';
import { namesOfMerchants } from '../../domain/merchants/merchant.ts';
import type { StaffMember } from '../../domain/staff/staff.ts';
import { speltOut } from '../../domain/text.ts';
import { navigationFor, pathTo } from '../routes.ts';
import type { OpenVisit } from '../visit.ts';
import { ASSETS } from './assets.ts';
import { Token } from './fields.tsx';
import { type LinkedMerchants, LinkedMerchantsContext } from './links.tsx';

/** Renders a page with everything that all pages have. Preact escapes every text. */
export async function renderPage(
  visit: OpenVisit,
  { title, page }: { title: string; page: VNode },
): Promise<string> {
  const { member, session } = visit as Partial<{ member: StaffMember; session: StaffSession }>;
  const isInside = member && session && missingProof(member, session) === null;
  const whole = (
    <Page title={title}>
      <header>
        <a class="brand" href="/">
          Malipo
        </a>
        {isInside && <Navigation visit={visit} member={member} />}
        {isInside && visit.req.path !== pathTo('search') && <QuickSearch />}
        {member && <Account visit={visit} member={member} isInside={isInside} />}
      </header>
      <main id="main">
        {visit.done && (
          <p class="note" role="status">
            {visit.done}
          </p>
        )}
        {visit.warnings.map((words) => (
          <p class="warning">{words}.</p>
        ))}
        {page}
      </main>
    </Page>
  );
  return `${DOCTYPE}${await rendered(visit, whole)}`;
}

/** Renders a page without navigation, for errors: nothing is known of the caller. */
export function renderBarePage(title: string, body: VNode): string {
  const page = (
    <Page title={title}>
      <header>
        <a class="brand" href="/">
          Malipo
        </a>
      </header>
      <main id="main">{body}</main>
    </Page>
  );
  return `${DOCTYPE}${text(page)}`;
}

/** Renders a part of a page, for htmx to put in its place. */
export function renderPart(visit: OpenVisit, part: VNode): Promise<string> {
  return rendered(visit, part);
}

const DOCTYPE = '<!doctype html>';

/** Renders twice if there are links to merchants: the first time tells whose names are needed. */
async function rendered({ service: { database } }: OpenVisit, node: VNode): Promise<string> {
  const merchants: LinkedMerchants = { linked: new Set(), names: new Map() };
  const render = () =>
    text(
      <LinkedMerchantsContext.Provider value={merchants}>{node}</LinkedMerchantsContext.Provider>,
    );
  const first = render();
  if (merchants.linked.size === 0) return first;
  merchants.names = await namesOfMerchants(database, [...merchants.linked]);
  return render();
}

/** Texts of strangers may have characters that turn or hide what stands beside them. */
function text(node: VNode): string {
  return speltOut(renderToString(node));
}

const HTMX_CONFIG = JSON.stringify({ includeIndicatorCSS: false, history: false });

function Page({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="htmx-config" content={HTMX_CONFIG} />
        <title>{`${title} · Malipo`}</title>
        <link rel="icon" href={ASSETS.icon.path} />
        <link rel="stylesheet" href={ASSETS.style.path} />
        <script src={ASSETS.htmx.path} defer />
        <script src={ASSETS.script.path} defer />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        {children}
      </body>
    </html>
  );
}

function Navigation({ visit, member }: { visit: OpenVisit; member: StaffMember }) {
  return (
    <nav aria-label="Pages">
      {navigationFor(member.role).map(({ path, label }) => (
        <a href={path} aria-current={visit.req.path === path ? 'page' : undefined}>
          {label}
          {path === pathTo('approvals') && visit.approvals ? ` (${visit.approvals})` : null}
        </a>
      ))}
    </nav>
  );
}

function QuickSearch() {
  return (
    <search>
      <form class="search" method="get" action={pathTo('search')}>
        <input type="search" name="q" aria-label="Search" placeholder="Search" />
      </form>
    </search>
  );
}

interface AccountProps {
  visit: OpenVisit;
  member: StaffMember;
  isInside: boolean | undefined;
}

function Account({ visit, member, isInside }: AccountProps) {
  const { email, role } = member;
  return (
    <form class="account" method="post" action={pathTo('logOut')}>
      <Token visit={visit} />
      <span title={`Role: ${role}`}>
        {isInside ? <a href={pathTo('ownSessions')}>{email}</a> : email}
      </span>
      <button type="submit" class="quiet">
        Log out
      </button>
    </form>
  );
}
