import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { newMember, startTestConsole } from '../support/console.ts';
import { type Doors, nextOtp, openDoors, REASON } from './doors.ts';

describe('A review of the members of staff', () => {
  let doors: Doors;

  beforeEach(async () => {
    doors = await openDoors();
  });

  afterEach(() => doors.close());

  const database = () => doors.test.testDatabase.database;

  it('prints the active members with their roles, and is kept with its reason', async () => {
    const { admin, support } = doors;
    const gone = await newMember(doors.test, 'admin');
    await rows(database(), 'UPDATE staff SET active = false WHERE email = :email', gone);
    await doors.run(['staff', 'new-token', support.email, '--otp', nextOtp(admin)], admin);
    const { stdout, stderr } = await doors.run(['staff', 'review', '--json'], admin);
    expect(stderr).to.equal('');
    const members = Object.fromEntries(
      JSON.parse(stdout).members.map((each: { email: string }) => [each.email, each]),
    );
    expect(members).to.not.have.property(gone.email);
    expect(members[support.email]).to.include({ role: 'support', given_by: admin.email });
    expect(members[admin.email]).to.include({ role: 'admin', given_by: null });
    expect(members[admin.email].last_seen_at).to.be.a('string');
    const [line] = await rows<{ details: { roles: object } }>(
      database(),
      `SELECT actor, reason, details FROM audit_log WHERE action = 'staff.review' AND reason IS NOT NULL`,
    );
    expect(line).to.deep.include({ actor: admin.email, reason: REASON });
    expect(line!.details.roles).to.include({ [support.email]: 'support', [admin.email]: 'admin' });
  });

  it('is for admins', async () => {
    const { stderr } = await doors.run(['staff', 'review'], doors.support);
    expect(stderr).to.include('This needs the role admin');
  });
});

describe('The console, fenced', () => {
  it('is open to the networks that the operator names, and to no other address', async () => {
    for (const [sources, status] of [
      ['127.0.0.0/8', 200],
      ['203.0.113.0/24', 403],
    ] as const) {
      const test = await startTestConsole(undefined, { CONSOLE_SOURCES: sources });
      try {
        const answer = await fetch(`${test.origin}/log-in`);
        expect(answer.status, sources).to.equal(status);
        if (status === 403) expect(await answer.text()).to.include('not open to your address');
      } finally {
        await test.close();
      }
    }
  });
});
