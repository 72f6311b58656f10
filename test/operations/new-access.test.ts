import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { hasSecondAdmin, requireTwoPeople } from '../../src/domain/staff/given-access.ts';
import { countApprovalsFor, markTold, takeUntold } from '../../src/domain/staff/open-approvals.ts';
import type { TestMember } from '../support/console.ts';
import { rejection } from '../support/payments.ts';
import { otpOf } from '../support/totp.ts';
import { type Doors, nextOtp, openDoors } from './doors.ts';

describe('New access for another member of staff', () => {
  let doors: Doors;

  beforeEach(async () => {
    doors = await openDoors();
  });

  afterEach(() => doors.close());

  const database = () => doors.test.testDatabase.database;
  const withToken = (member: TestMember, token: string) => ({ ...member, token });

  async function ask(args: string[], member: TestMember): Promise<Record<string, string>> {
    const { status, stdout, stderr } = await doors.run(
      [...args, '--otp', nextOtp(member), '--json'],
      member,
    );
    expect([status, stderr]).to.deep.equal([0, '']);
    return JSON.parse(stdout);
  }

  const agree = (approval: string, member: TestMember) =>
    doors.run(['approval', 'approve', approval, '--otp', nextOtp(member)], member);

  it('waits for another admin: the token that was shown works from then on', async () => {
    const { admin: first, support } = doors;
    const second = await doors.newAdmin();
    const { approval, token } = await ask(['staff', 'new-token', support.email], first);
    const waiting = await rows<{ payload: object }>(database(), 'SELECT payload FROM approvals');
    expect(JSON.stringify(waiting)).to.not.include(token);
    expect(await runsWith(support, token!)).to.equal(false);
    expect(await runsWith(support, support.token)).to.equal(true);
    expect((await agree(approval!, second)).stderr).to.equal('');
    expect(await runsWith(support, token!)).to.equal(true);
    expect(await runsWith(support, support.token)).to.equal(false);
  });

  const wanted = (email: string) => [
    ...['staff', 'create', 'Zawadi', '--email', email, '--role', 'admin'],
  ];

  it('waits for another admin when it is for a new member: nobody agrees with a member of own making', async () => {
    const { admin: first } = doors;
    const second = await doors.newAdmin();
    const email = 'zawadi@x.example';
    const { approval, token } = await ask(wanted(email), first);
    const { preview } = (
      await rows<{ preview: string }>(database(), 'SELECT * FROM approvals')
    )[0]!;
    expect(preview).to.include(
      'zawadi@x.example becomes a member with the role admin, under the name "Zawadi".',
    );
    const member = { ...second, email };
    expect(await runsWith(member, token!)).to.equal(false);
    expect((await agree(approval!, second)).stderr).to.equal('');
    expect(await runsWith(member, token!)).to.equal(true);
    for (const giver of [first, second]) {
      const check = inTransaction(database(), (trx) => requireTwoPeople(trx, email, giver.email));
      expect((await rejection(check)).message).to.include('are not two people');
    }
  });

  it('needs no other admin for a new member where all others have it from the one who asks', async () => {
    const { admin: first, support } = doors;
    const helper = await doors.newAdmin();
    const { approval } = await ask(wanted('zawadi@x.example'), first);
    expect((await agree(approval!, helper)).stderr).to.equal('');
    await rows(database(), 'UPDATE staff SET active = false WHERE email = :email', helper);
    const args = [...wanted('juma@x.example'), '--otp', otpOf(first.secret!, 1), '--json'];
    const { stdout, stderr } = await doors.run(args, first);
    expect(stderr).to.equal('');
    expect(await runsWith(support, JSON.parse(stdout).token)).to.equal(true);
  });

  it('waits for another admin when it is a higher role, and for nobody when it is a lower one', async () => {
    const { admin: first, viewer } = doors;
    const second = await doors.newAdmin();
    const roles = async () => {
      const [row] = await rows(database(), 'SELECT role FROM staff WHERE email = :email', viewer);
      return row;
    };
    const raise = ['staff', 'update', viewer.email, '--role', 'support'];
    const { approval } = await ask(raise, first);
    expect(await roles()).to.deep.equal({ role: 'viewer' });
    expect((await agree(approval!, second)).stderr).to.equal('');
    expect(await roles()).to.deep.equal({ role: 'support' });
    const lower = ['staff', 'update', viewer.email, '--role', 'viewer'];
    const otp = ['--otp', otpOf(first.secret!, 1), '--json'];
    expect((await doors.run([...lower, ...otp], first)).stderr).to.equal('');
    expect(await roles()).to.deep.equal({ role: 'viewer' });
  });

  it('makes neither the one who asked nor the one who agreed a second person beside the member', async () => {
    const { admin: first } = doors;
    const [second, member] = [await doors.newAdmin(), await doors.newAdmin()];
    const { approval } = await ask(['staff', 'reset-totp', member.email], first);
    expect((await agree(approval!, second)).stderr).to.equal('');
    for (const giver of [first, second]) {
      const check = inTransaction(database(), (trx) =>
        requireTwoPeople(trx, member.email, giver.email),
      );
      const { message } = await rejection(check);
      expect(message).to.include(`${member.email} and ${giver.email} are not two people`);
    }
    const { email } = await doors.newAdmin();
    await inTransaction(database(), (trx) => requireTwoPeople(trx, member.email, email));
  });

  it('needs no other admin where there is none, and for the own token', async () => {
    const { admin, support } = doors;
    const { token } = await ask(['staff', 'new-token', support.email], admin);
    expect(await runsWith(support, token!)).to.equal(true);
    const other = await doors.newAdmin();
    const own = await ask(['staff', 'new-token'], other);
    expect(await runsWith(other, own.token!)).to.equal(true);
  });

  const ageStaff = () =>
    rows(
      doors.test.testDatabase.owner,
      `UPDATE staff SET created_at = created_at - interval '2 days'`,
    );

  /** A member whose token the one who asks has seen, and whose one-time passwords are set up by it. */
  async function puppetOf(asker: TestMember, email: string): Promise<TestMember> {
    const second = await doors.newAdmin();
    const args = ['staff', 'create', 'Mtu', '--email', email, '--role', 'admin'];
    await rows(doors.test.testDatabase.owner, 'UPDATE staff_totp_secrets SET last_step = 0');
    const { approval, token } = await ask(args, asker);
    expect((await agree(approval!, second)).stderr).to.equal('');
    const puppet: TestMember = { id: '', email, password: '', token: token!, secret: null };
    const begun = await doors.run(['staff', 'begin-totp', '--json'], puppet);
    const { secret } = JSON.parse(begun.stdout);
    await doors.run(['staff', 'confirm-totp', otpOf(secret)], puppet);
    return { ...puppet, secret };
  }

  const refuseTwo = async (one: string, other: string) => {
    const check = inTransaction(database(), (trx) => requireTwoPeople(trx, one, other));
    expect((await rejection(check)).message).to.include('are not two people');
  };

  it('makes no two people of members whose tokens one admin has seen, whoever agreed', async () => {
    await ageStaff();
    await puppetOf(doors.admin, 'one@x.example');
    await puppetOf(doors.admin, 'two@x.example');
    await refuseTwo('one@x.example', 'two@x.example');
  });

  it('makes no second person of a member whose token a member of own making has seen', async () => {
    await ageStaff();
    const { email } = await puppetOf(await puppetOf(doors.admin, 'one@x.example'), 'two@x.example');
    await refuseTwo(doors.admin.email, email);
  });

  it('is the same person’s in two hands: who has both from one admin alone is no second person', async () => {
    const { admin: first } = doors;
    const emails = ['one@x.example', 'two@x.example'];
    for (const [index, email] of emails.entries()) {
      const otp = ['--otp', otpOf(first.secret!, index)];
      const args = ['staff', 'create', 'Mtu', '--email', email, '--role', 'support', ...otp];
      expect((await doors.run(args, first)).stderr).to.equal('');
    }
    const check = () =>
      inTransaction(database(), (trx) => requireTwoPeople(trx, emails[0]!, emails[1]!));
    // On the first day nobody is there who could agree.
    await check();
    await ageStaff();
    expect((await rejection(check())).message).to.include('are not two people');
  });

  for (const args of [['update', '--role', 'viewer'], ['deactivate']] as const) {
    it(`waits for another admin before an admin loses the role (${args[0]})`, async () => {
      const { admin: first } = doors;
      const [second, member] = [await doors.newAdmin(), await doors.newAdmin()];
      const [verb, ...options] = args;
      const { approval } = await ask(['staff', verb, member.email, ...options], first);
      const stateOf = async () =>
        (await rows(database(), 'SELECT role, active FROM staff WHERE email = :email', member))[0];
      expect(await stateOf()).to.deep.equal({ role: 'admin', active: true });
      expect((await agree(approval!, second)).stderr).to.equal('');
      expect(await stateOf()).to.not.deep.equal({ role: 'admin', active: true });
    });
  }

  it('that is taken away is not told to the member, who cannot reject the request', async () => {
    const { admin: first } = doors;
    const [second, member] = [await doors.newAdmin(), await doors.newAdmin()];
    const { approval } = await ask(['staff', 'deactivate', member.email], first);
    const untold = await takeUntold(database());
    expect(untold!.tell).to.deep.equal([first.email, second.email]);
    const countOf = ({ email }: TestMember) =>
      countApprovalsFor(database(), { email, role: 'admin' });
    expect([await countOf(member), await countOf(second)]).to.deep.equal([0, 1]);
    const rejected = await doors.run(['approval', 'reject', approval!], member);
    for (const { stderr } of [rejected, await agree(approval!, member)]) {
      expect(stderr).to.include('This is about you');
    }
    expect((await agree(approval!, second)).stderr).to.equal('');
  });

  it('is told to the one in whose name it was asked, also when it is approved at once', async () => {
    const { admin: first, support } = doors;
    const second = await doors.newAdmin();
    const { approval } = await ask(['staff', 'new-token', support.email], first);
    expect((await agree(approval!, second)).stderr).to.equal('');
    const told = [await takeUntold(database()), await takeUntold(database())].find(
      (each) => each?.id === approval,
    );
    expect(told!.tell).to.include.members([first.email, second.email]);
    expect(told!.decided_by).to.equal(second.email);
    await markTold(database(), told!);
    await rows(database(), 'UPDATE approvals SET tell_at = now() WHERE decision IS NULL');
    expect((await takeUntold(database()))?.id).to.not.equal(approval);
  });

  it('makes two people of nobody as long as its token lives that somebody else has seen', async () => {
    const { admin: first, support } = doors;
    const second = await doors.newAdmin();
    const { approval, token } = await ask(['staff', 'new-token', support.email], first);
    expect((await agree(approval!, second)).stderr).to.equal('');
    await doors.test.testDatabase.owner.transaction(async (trx) => {
      await trx.raw("SET LOCAL session_replication_role = 'replica'");
      await trx.raw("UPDATE audit_log SET happened_at = happened_at - interval '31 days'");
    });
    const check = () =>
      inTransaction(database(), (trx) => requireTwoPeople(trx, first.email, support.email));
    expect((await rejection(check())).message).to.include('are not two people');
    await ask(['staff', 'new-token'], withToken(support, token!));
    await check();
  });

  it('is not given by what somebody only asked for, or types', async () => {
    const { admin: first } = doors;
    const second = await doors.newAdmin();
    const create = ['staff', 'create', `member ${second.email}`, '--email', 'z@x.example'];
    const { approval } = await ask([...create, '--role', 'viewer'], first);
    await doors.run(['approval', 'withdraw', approval!], first);
    const typed = ['staff', 'create', `member ${second.email}`, '--email', first.email];
    await doors.run([...typed, '--role', 'viewer'], first);
    expect(await hasSecondAdmin(database(), first.email)).to.equal(true);
    await inTransaction(database(), (trx) => requireTwoPeople(trx, first.email, second.email));
    const lines = await rows(
      database(),
      "SELECT reason FROM audit_log WHERE action = 'staff.create'",
    );
    expect(lines, 'the refusal alone, as a read').to.deep.equal([{ reason: null }]);
  });

  it('needs no other admin to shut out the only other one', async () => {
    const { admin: first } = doors;
    const member = await doors.newAdmin();
    const answer = await ask(['staff', 'deactivate', member.email], first);
    expect(answer).to.not.have.property('approval');
  });

  async function runsWith(member: TestMember, token: string): Promise<boolean> {
    const { stderr } = await doors.run(['staff', 'begin-totp'], withToken(member, token));
    return !stderr.includes('The staff token is not valid');
  }
});
