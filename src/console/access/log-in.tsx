import { LineIsFull } from '../../domain/credentials/passwords.ts';
import { proveStaffPassword } from '../../domain/credentials/staff-log-in.ts';
import { startStaffSession } from '../../domain/credentials/staff-session.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { recordSecurityEvent } from '../../domain/security/security-events.ts';
import { networkOf } from '../../http/caller.ts';
import { pathTo } from '../routes.ts';
import { Field, FormProblem, Token } from '../shell/fields.tsx';
import type { Answer, OpenVisit, ProvenVisit } from '../visit.ts';
import { Next, ownPath } from './own-path.tsx';
import { endSession, renewSession } from './session.ts';

const FULL = 'Too many people log in now: try again in a minute';

/** Log-in by e-mail address and password, and log-out. */
export const logInHandlers = {
  logInForm: async (visit: OpenVisit): Promise<Answer> => form(visit),

  logIn: async (visit: OpenVisit): Promise<Answer> => {
    const { service, req, ip } = visit;
    const { database, config } = service;
    const { email = '', password = '' } = visit.form;
    try {
      const proven = await proveStaffPassword(
        database,
        config.secretsKeys,
        { email, password },
        ip && networkOf(ip),
      );
      const session = await startStaffSession(database, proven, ip);
      await renewSession(req, session);
      return { goTo: ownPath(visit.form.next) };
    } catch (error) {
      if (error instanceof LineIsFull) return form(visit, { words: FULL, status: 503 });
      if (!(error instanceof OperatorRefusal)) throw error;
      return form(visit, { words: error.message, status: 401, refusal: error });
    }
  },

  logOut: async ({ service, req, member, ip }: ProvenVisit): Promise<Answer> => {
    await endSession(req);
    const event = { kind: 'logged_out', staff: member.email, ip } as const;
    await recordSecurityEvent(service.database, event);
    return { goTo: pathTo('logInForm') };
  },
};

interface Problem {
  words: string;
  status: number;
  refusal?: OperatorRefusal;
}

function form(visit: OpenVisit, { words, ...answer }: Partial<Problem> = {}): Answer {
  const { email } = visit.form;
  const page = (
    <form class="card narrow" method="post" action={pathTo('logIn')}>
      <h1>Log in</h1>
      <Token visit={visit} />
      <Next visit={visit} />
      <FormProblem words={words} />
      <Field
        name="email"
        label="E-mail address"
        type="email"
        value={email}
        autocomplete="username"
      />
      <Field name="password" label="Password" type="password" autocomplete="current-password" />
      <p class="buttons">
        <button type="submit">Log in</button>
        <a href={pathTo('passwordForm')}>Set a password</a>
      </p>
    </form>
  );
  return { page, title: 'Log in', ...answer };
}
