import { expect } from 'chai';
import { seedStaff } from '../../../scripts/sandbox/seed-staff.ts';
import { hasStaff } from '../../../src/domain/staff/staff.ts';
import { logIn, startTestConsole, type TestConsole } from '../../support/console.ts';

describe('The member of staff of the sandbox', () => {
  let test: TestConsole;

  before(async () => {
    test = await startTestConsole();
  });

  after(() => test.close());

  it('logs in to the console, and the command line still asks for no token', async () => {
    const { database, config } = test.service;
    const { email, password, totp_secret } = await seedStaff(database, config.secretsKeys);
    const member = { id: '', token: '', email, password, secret: totp_secret };
    const browser = await logIn(test, member);
    expect((await browser.get('/')).text).to.include(email);
    expect(await hasStaff(database)).to.equal(false);
  });
});
