import {
  endOwnSession,
  listOwnSessions,
  type OwnSession,
} from '../../domain/credentials/staff-session.ts';
import { recordSecurityEvent } from '../../domain/security/security-events.ts';
import { pathTo } from '../routes.ts';
import { Token } from '../shell/fields.tsx';
import { Time } from '../shell/links.tsx';
import { type Column, Table } from '../shell/table.tsx';
import type { Answer, Visit } from '../visit.ts';
import { nameOfSession } from './session.ts';

/** A member sees where the account is logged in, and ends what somebody else may have begun. */
export const ownSessionHandlers = {
  ownSessions: async (visit: Visit): Promise<Answer> => {
    const sessions = await listOwnSessions(visit.service.database, visit.session);
    return { page: <OwnSessions visit={visit} sessions={sessions} />, title: 'Your sessions' };
  },

  endOwnSession: async (visit: Visit): Promise<Answer> => {
    const { service, session, member, ip, form } = visit;
    const name = form.session ?? '';
    if (await endOwnSession(service.database, session, name)) {
      const detail = { session: name };
      const event = { kind: 'session_ended', staff: member.email, ip, detail } as const;
      await recordSecurityEvent(service.database, event);
    }
    return { goTo: pathTo('ownSessions') };
  },
};

function OwnSessions({ visit, sessions }: { visit: Visit; sessions: OwnSession[] }) {
  const own = nameOfSession(visit.req);
  const columns: Column<OwnSession>[] = [
    { heading: 'Logged in', cell: ({ started_at }) => <Time at={started_at} /> },
    { heading: 'Last used', cell: ({ used_at }) => <Time at={used_at} /> },
    { heading: 'From', cell: ({ address }) => address ?? 'unknown' },
    { heading: 'In the audit log', cell: ({ name }) => <code>{name}</code> },
    {
      heading: 'End',
      cell: ({ name }) => (name === own ? 'This session' : <End visit={visit} name={name} />),
    },
  ];
  return (
    <section>
      <h1>Your sessions</h1>
      <Table rows={sessions} columns={columns} caption="Your sessions" />
      <p class="soft">
        Do you not know one? End it, and <a href={pathTo('passwordForm')}>set another password</a>:
        that ends all of them.
      </p>
    </section>
  );
}

function End({ visit, name }: { visit: Visit; name: string }) {
  return (
    <form method="post" action={pathTo('endOwnSession')}>
      <Token visit={visit} />
      <input type="hidden" name="session" value={name} />
      <button type="submit" class="quiet">
        End it
      </button>
    </form>
  );
}
