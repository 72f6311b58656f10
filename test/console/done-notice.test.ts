import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { channelPauses } from '../../src/domain/channels/channel-store.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';

const AIRTEL = 63903;
const SAID = 'Channel 63903 (Airtel Money) is paused now.';

describe('What the console says that it has done', () => {
  let test: TestConsole;
  let admin: ConsoleClient;

  before(async () => {
    test = await startTestConsole();
    admin = await logIn(test, await newMember(test, 'admin'));
  });

  after(() => test.close());

  beforeEach(() => rows(test.service.database, 'DELETE FROM paused_channels'));

  async function pause() {
    await admin.get(`/channels/${AIRTEL}/pause`);
    const answer = await admin.post(`/channels/${AIRTEL}/pause`, { reason: 'It is late' });
    expect(answer.status).to.equal(303);
    return answer.location!;
  }

  it('is said on the next page, once', async () => {
    const next = await pause();
    expect((await admin.get(next)).text).to.include(SAID);
    expect((await admin.get(next)).text).to.not.include(SAID);
  });

  it('is not said on a page that is opened much later', async () => {
    const next = await pause();
    await rows(
      test.service.database,
      `UPDATE console_sessions SET sess = jsonb_set(sess, '{done,at}', '0') WHERE sess ? 'done'`,
    );
    expect((await admin.get(next)).text).to.not.include(SAID);
  });

  it('is done all the same when only the words cannot be kept', async () => {
    const { owner } = test.testDatabase;
    await rows(
      owner,
      `CREATE FUNCTION keep_no_words() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
           IF NEW.sess ? 'done' THEN RAISE EXCEPTION 'gone' USING ERRCODE = '57P01'; END IF;
           RETURN NEW;
         END $$`,
    );
    await rows(
      owner,
      `CREATE TRIGGER keep_no_words BEFORE UPDATE ON console_sessions
       FOR EACH ROW EXECUTE FUNCTION keep_no_words()`,
    );
    const next = await pause();
    expect((await channelPauses(test.service.database)).has(AIRTEL)).to.equal(true);
    expect((await admin.get(next)).text).to.not.include(SAID);
    await rows(owner, 'DROP TRIGGER keep_no_words ON console_sessions');
  });
});
