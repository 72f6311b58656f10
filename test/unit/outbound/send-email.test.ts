import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { type Email, sendEmail } from '../../../src/outbound/send-email.ts';
import { type SmtpAddress, smtpAddressFromText } from '../../../src/process/smtp-address.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { rejection } from '../../support/payments.ts';

const EMAIL: Email = {
  from: 'malipo@pay.example',
  to: 'duka@shop.example',
  subject: 'Hello',
  text: 'Habari\n',
  id: '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e',
};
const QUICKLY = { timeoutMs: 5_000, requireTls: true };

describe('An e-mail', () => {
  let server: MailServer;

  before(async () => {
    server = await startMailServer();
  });

  after(() => server.close());

  beforeEach(() => {
    server.received.length = 0;
  });

  /** The server as if it ran on another machine. */
  const elsewhere = (url = server.url): SmtpAddress => ({
    ...smtpAddressFromText(url),
    isLocal: false,
  });

  it('goes to a mail server on this machine without TLS', async () => {
    await sendEmail(smtpAddressFromText(server.url), EMAIL, QUICKLY);
    const [{ from, to, text }] = server.received as [(typeof server.received)[0]];
    expect({ from, to: to.join(), text }).to.include({ from: EMAIL.from, to: EMAIL.to });
    expect(text.trim()).to.equal('Habari');
  });

  it('goes nowhere else without TLS where that is required', async () => {
    const error = await rejection(sendEmail(elsewhere(), EMAIL, QUICKLY));
    expect(error.message).to.match(/STARTTLS/i);
    expect(server.received).to.deep.equal([]);
    await sendEmail(elsewhere(), EMAIL, { ...QUICKLY, requireTls: false });
    expect(server.received).to.have.length(1);
  });

  it('has one recipient, though the text of its address looks like several', async () => {
    const to = 'duka@shop.example, eve@evil.example';
    await rejection(sendEmail(smtpAddressFromText(server.url), { ...EMAIL, to }, QUICKLY));
    expect(server.received).to.deep.equal([]);
  });

  it('keeps its header fields, whatever its subject says', async () => {
    const subject = 'Hello\r\nBcc: eve@evil.example\r\n\r\nBye';
    await sendEmail(smtpAddressFromText(server.url), { ...EMAIL, subject }, QUICKLY);
    const [{ to, headers }] = server.received as [(typeof server.received)[0]];
    expect(to).to.deep.equal([EMAIL.to]);
    expect(headers).to.not.have.any.keys('bcc');
  });

  it('is given up when the server says nothing in time, or refuses it', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const address = smtpAddressFromText(`smtp://127.0.0.1:${port}`);
    const error = await rejection(sendEmail(address, EMAIL, { ...QUICKLY, timeoutMs: 100 }));
    expect(error.message).to.match(/timeout|greeting/i);
    silent.close();
    server.answerWith('no room');
    const refused = await rejection(sendEmail(smtpAddressFromText(server.url), EMAIL, QUICKLY));
    expect(refused.message).to.include('no room');
    server.answerWith(null);
  });
});
