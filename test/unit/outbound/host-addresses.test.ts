import { expect } from 'chai';
import { addressesInDns, addressesOfSystem } from '../../../src/outbound/addresses.ts';
import { postWebhook } from '../../../src/outbound/webhook-client.ts';
import { bodyOf, startLocalServer } from '../../support/gateway-fixtures.ts';
import { type Answers, type NameServer, startNameServer } from '../../support/name-server.ts';
import { rejection } from '../../support/payments.ts';

const IPV4 = [196, 201, 214, 200];
const IPV6 = [0x26, 0x06, 0x47, 0, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];
const ADDRESSES = { A: '196.201.214.200', AAAA: '2606:4700:4700::1111' };
const SLOW_HOSTS = 12;

describe('The addresses of a webhook’s host', () => {
  let server: NameServer;
  let answers: Answers;

  before(async () => {
    server = await startNameServer((name, type) => answers(name, type));
  });

  after(() => server.close());

  beforeEach(() => {
    server.questions.length = 0;
    answers = (_name, type) => (type === 'A' ? IPV4 : IPV6);
  });

  const forever = () => new AbortController().signal;
  const find = (name: string, signal = forever()) => addressesInDns(name, signal, [server.address]);
  const textsOf = async (name: string) => (await find(name)).map(({ address }) => address);

  it('are those of both families', async () => {
    expect(await find('shop.example')).to.deep.equal([
      { address: ADDRESSES.A, family: 4 },
      { address: ADDRESSES.AAAA, family: 6 },
    ]);
    expect(server.questions.toSorted()).to.deep.equal(['A shop.example', 'AAAA shop.example']);
  });

  it('are those of one family when the other has none', async () => {
    for (const missing of ['A', 'AAAA'] as const) {
      answers = (_name, type) => (type === missing ? 'none' : type === 'A' ? IPV4 : IPV6);
      const other = missing === 'A' ? 'AAAA' : 'A';
      expect(await textsOf('shop.example')).to.deep.equal([ADDRESSES[other]]);
    }
  });

  it('are none of a name that does not exist', async () => {
    answers = () => 'none';
    expect((await rejection(find('nobody.example')))?.message).to.include('ENOTFOUND');
  });

  it('of localhost are this machine, without a question', async () => {
    for (const name of ['localhost', 'LOCALHOST.', 'shop.localhost']) {
      expect(await textsOf(name), name).to.deep.equal(['127.0.0.1', '::1']);
    }
    expect(server.questions).to.deep.equal([]);
    expect(await textsOf('notlocalhost')).to.have.length(2);
  });

  it('are not waited for longer than the attempt', async () => {
    answers = () => null;
    const controller = new AbortController();
    const waiting = find('slow.example', controller.signal);
    controller.abort();
    expect((await rejection(waiting))?.message).to.include('ECANCELLED');
  });

  it('hold up no other lookup while name servers are silent', async () => {
    answers = () => null;
    const receiver = await startLocalServer(async (request, response) => {
      await bodyOf(request);
      response.end();
    });
    const fence = { allowPrivate: true, blocked: [], ports: null };
    const ended: string[] = [];
    const slow = Array.from({ length: SLOW_HOSTS }, async (_, n) => {
      const options = { ...fence, timeoutMs: 2_000, find };
      const { timedOut } = await postWebhook(`http://slow-${n}.example/`, '{}', {}, options);
      ended.push(timedOut ? 'slow' : 'odd');
    });
    await addressesOfSystem('localhost');
    const url = receiver.url.replace('127.0.0.1', 'localhost');
    const good = await postWebhook(url, '{}', {}, { ...fence, timeoutMs: 2_000 });
    ended.push('good');
    await Promise.all(slow);
    expect(good).to.include({ status: 200, timedOut: false });
    expect(ended).to.deep.equal(['good', ...Array(SLOW_HOSTS).fill('slow')]);
    await receiver.close();
  });
});
