import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { missingProof, type StaffSession } from '../../domain/credentials/staff-session.ts';
import type { StaffMember } from '../../domain/staff/staff.ts';
import { speltOut } from '../../domain/text.ts';
import { navigationFor, pathTo } from '../routes.ts';
import type { OpenVisit } from '../visit.ts';
import { ASSETS } from './assets.ts';
import { Token } from './fields.tsx';

/** Renders a page with everything that all pages have. Preact escapes every text. */
export function renderPage(visit: OpenVisit, { title, page }: { title: string; page: VNode }) {
  const { member, session } = visit as Partial<{ member: StaffMember; session: StaffSession }>;
  const isInside = member && session && missingProof(member, session) === null;
  return document(
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
    </Page>,
  );
}

/** Renders a page without navigation, for errors: nothing is known of the caller. */
export function renderBarePage(title: string, body: VNode): string {
  return document(
    <Page title={title}>
      <header>
        <a class="brand" href="/">
          Malipo
        </a>
      </header>
      <main id="main">{body}</main>
    </Page>,
  );
}

/** Renders a part of a page, for htmx to put in its place. */
export function renderPart(part: VNode): string {
  return speltOut(renderToString(part));
}

/** Texts of strangers may have characters that turn or hide what stands beside them. */
function document(page: VNode): string {
  return `<!doctype html>${renderPart(page)}`;
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
