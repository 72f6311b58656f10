import { passwordProblem } from '../../domain/credentials/password-problem.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../domain/credentials/passwords.ts';
import { setStaffPassword } from '../../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { networkOf } from '../../http/caller.ts';
import { pathTo } from '../routes.ts';
import { Field, FormProblem, Token } from '../shell/fields.tsx';
import type { Answer, OpenVisit } from '../visit.ts';

/** A member sets a password with the staff token, the first one or after it was lost. */
export const passwordHandlers = {
  passwordForm: async (visit: OpenVisit): Promise<Answer> => form(visit),

  setPassword: async (visit: OpenVisit): Promise<Answer> => {
    const { service, ip } = visit;
    const { email = '', token = '', password = '', again = '' } = visit.form;
    try {
      requireGoodPassword(password, again, email);
      const given = { email, token, password };
      const origin = { ip, network: ip && networkOf(ip) };
      await setStaffPassword(service.database, service.config.secretsKeys, given, origin);
      return { page: <Done />, title: 'Password set' };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return form(visit, error);
    }
  },
};

function requireGoodPassword(password: string, again: string, email: string): void {
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    throw new OperatorRefusal(
      `A password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`,
    );
  }
  const problem = passwordProblem(password, [email]);
  if (problem) throw new OperatorRefusal(`This password ${problem}`);
  if (password !== again) throw new OperatorRefusal('The two passwords are not the same');
}

function form(visit: OpenVisit, refusal?: OperatorRefusal): Answer {
  const lengths = { minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH };
  const page = (
    <form class="card narrow" method="post" action={pathTo('setPassword')}>
      <h1>Set a password</h1>
      <Token visit={visit} />
      <FormProblem words={refusal?.message} />
      <Field
        name="email"
        label="E-mail address"
        type="email"
        autocomplete="username"
        value={visit.form.email}
      />
      <StaffTokenField />
      <Field
        name="password"
        label="New password"
        type="password"
        {...lengths}
        autocomplete="new-password"
        hint={`At least ${MIN_PASSWORD_LENGTH} characters. It ends all your sessions`}
      />
      <Field
        name="again"
        label="The same again"
        type="password"
        {...lengths}
        autocomplete="new-password"
      />
      <p class="buttons">
        <button type="submit">Set the password</button>
        <a href={pathTo('logInForm')}>Log in</a>
      </p>
    </form>
  );
  return { page, title: 'Set a password', ...(refusal && { status: 422, refusal }) };
}

/** The field for the staff token, which proves who a member is without a password. */
export function StaffTokenField() {
  const hint = 'Have you no token? Ask an admin: malipo staff new-token EMAIL';
  return <Field name="token" label="Staff token" type="password" hint={hint} autocomplete="off" />;
}

function Done() {
  return (
    <section class="card narrow">
      <h1>Your password is set</h1>
      <p>All your sessions have ended.</p>
      <p>
        <a href={pathTo('logInForm')}>Log in</a>
      </p>
    </section>
  );
}
