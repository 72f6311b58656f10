import { plainCode } from '../../domain/credentials/one-time-passwords.ts';
import { useStaffTotp } from '../../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { networkOf } from '../../http/caller.ts';
import { pathTo } from '../routes.ts';
import { Field, FormProblem, Token } from '../shell/fields.tsx';
import type { Answer, ProvenVisit } from '../visit.ts';
import { recordLogIn } from './audit.ts';
import { Next, ownPath } from './own-path.tsx';
import { renewSession } from './session.ts';

/** The second step of a log-in, for members who use one-time passwords. */
export const otpHandlers = {
  otpForm: async (visit: ProvenVisit): Promise<Answer> => form(visit),

  useOtp: async (visit: ProvenVisit): Promise<Answer> => {
    const { service, req, member, session, ip } = visit;
    const goTo = ownPath(visit.form.next);
    if (!member.totp || session.with_totp) return { goTo };
    try {
      const code = plainCode(visit.form.code ?? '');
      const network = ip && networkOf(ip);
      await useStaffTotp(service.database, service.config.secretsKeys, member, code, network);
      await renewSession(req, { ...session, with_totp: true });
      await recordLogIn(visit, member);
      return { goTo };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return form(visit, error);
    }
  },
};

/** The field for a code of an authenticator app. */
export function CodeField() {
  const hint = 'Six digits, from your authenticator app';
  return (
    <Field
      name="code"
      label="One-time password"
      inputmode="numeric"
      hint={hint}
      autocomplete="one-time-code"
    />
  );
}

function form(visit: ProvenVisit, refusal?: OperatorRefusal): Answer {
  const { member, session, query } = visit;
  if (!member.totp || session.with_totp) return { goTo: ownPath(query.next) };
  const page = (
    <form class="card narrow" method="post" action={pathTo('useOtp')}>
      <h1>One-time password</h1>
      <Token visit={visit} />
      <Next visit={visit} />
      <FormProblem words={refusal?.message} />
      <CodeField />
      <p class="buttons">
        <button type="submit">Log in</button>
      </p>
      <p class="hint">Have you lost the app? Ask an admin: malipo staff reset-totp EMAIL.</p>
    </form>
  );
  return { page, title: 'One-time password', ...(refusal && { status: 401, refusal }) };
}
