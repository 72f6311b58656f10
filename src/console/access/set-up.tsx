import { type Audited, auditedFor } from '../../domain/audit/audit.ts';
import { plainCode } from '../../domain/credentials/one-time-passwords.ts';
import {
  beginStaffTotp,
  enableStaffTotp,
  useStaffTotp,
} from '../../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { requireOwnToken } from '../../domain/staff/require-staff.ts';
import { networkOf } from '../../http/caller.ts';
import { pathTo } from '../routes.ts';
import { FormProblem, Token } from '../shell/fields.tsx';
import type { Answer, ProvenVisit } from '../visit.ts';
import { recordLogIn } from './audit.ts';
import { CodeField } from './one-time-password.tsx';
import { Next, ownPath } from './own-path.tsx';
import { StaffTokenField } from './password.tsx';
import { renewSession } from './session.ts';

interface Begun {
  secret: string;
  otpauth_uri: string;
}

/**
 * A member sets up one-time passwords, and sees nothing else before. The set-up needs
 * the staff token, so a thief of a password cannot make one-time passwords.
 */
export const setUpHandlers = {
  setUpForm: async (visit: ProvenVisit): Promise<Answer> =>
    visit.member.totp ? { goTo: ownPath(visit.query.next) } : form(visit, {}),

  beginSetUp: async (visit: ProvenVisit): Promise<Answer> => {
    const { service, member } = visit;
    try {
      const begun = await ownChange(
        visit,
        'staff.begin-totp',
      )(async (trx) => {
        const value = await beginStaffTotp(trx, service.config.secretsKeys, member);
        // The member is locked now, so the token cannot be replaced any more.
        await requireOwnToken(trx, member, visit.form.token ?? '');
        return { value, audit: subjectOf(visit, {}) };
      });
      return form(visit, { begun });
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return form(visit, { wrongToken: error });
    }
  },

  confirmSetUp: async (visit: ProvenVisit): Promise<Answer> => {
    const { service, req, member, session, ip } = visit;
    try {
      const code = plainCode(visit.form.code ?? '');
      const network = ip && networkOf(ip);
      await useStaffTotp(service.database, service.config.secretsKeys, member, code, network);
      await ownChange(
        visit,
        'staff.confirm-totp',
      )(async (trx) => {
        await enableStaffTotp(trx, member);
        const detail = { staff_id: member.id };
        const event = { kind: 'staff_totp_enabled', ip: visit.ip, detail } as const;
        return { value: null, audit: subjectOf(visit, { totp: true }), events: [event] };
      });
      await renewSession(req, { ...session, with_totp: true });
      await recordLogIn(visit, { ...member, totp: true });
      return { goTo: ownPath(visit.form.next) };
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      return form(visit, { wrongCode: error });
    }
  },
};

function ownChange({ service, member }: ProvenVisit, action: string): Audited {
  const reason = 'The member set them up at the console';
  return auditedFor(service.database, { actor: member.email, action, reason });
}

function subjectOf({ member }: ProvenVisit, details: Record<string, unknown>) {
  return { merchant_id: null, subject: `staff member ${member.email}`, details };
}

interface Step {
  begun?: Begun;
  wrongToken?: OperatorRefusal;
  wrongCode?: OperatorRefusal;
}

function form(visit: ProvenVisit, { begun, wrongToken, wrongCode }: Step): Answer {
  const refusal = wrongToken ?? wrongCode;
  const hasBegun = begun !== undefined || wrongCode !== undefined;
  const page = (
    <section class="card narrow">
      <h1>Set up one-time passwords</h1>
      <p>
        They are a second proof, from an authenticator app on your phone. Every member needs them at
        the console.
      </p>
      {begun && <Secret {...begun} />}
      {hasBegun && <Confirmation visit={visit} refusal={wrongCode} />}
      <form method="post" action={pathTo('beginSetUp')}>
        <Token visit={visit} />
        <Next visit={visit} />
        <FormProblem words={wrongToken?.message} />
        <StaffTokenField />
        <p class="buttons">
          <button type="submit" class={hasBegun ? 'quiet' : ''}>
            {hasBegun ? 'Begin again with another secret' : 'Show a secret'}
          </button>
        </p>
      </form>
    </section>
  );
  return { page, title: 'Set up one-time passwords', ...(refusal && { status: 422, refusal }) };
}

function Secret({ secret, otpauth_uri }: Begun) {
  return (
    <>
      <p>
        Put this secret into the app: six digits, 30 seconds. It is shown once. On this phone,{' '}
        <a href={otpauth_uri}>open it in the app</a>.
      </p>
      <pre id="secret">{secret}</pre>
      <p class="hint">For a QR code:</p>
      <pre id="otpauth">{otpauth_uri}</pre>
    </>
  );
}

function Confirmation({
  visit,
  refusal,
}: {
  visit: ProvenVisit;
  refusal?: OperatorRefusal | undefined;
}) {
  return (
    <form method="post" action={pathTo('confirmSetUp')}>
      <Token visit={visit} />
      <Next visit={visit} />
      <FormProblem words={refusal?.message} />
      <CodeField />
      <p class="buttons">
        <button type="submit">Switch them on</button>
      </p>
    </form>
  );
}
