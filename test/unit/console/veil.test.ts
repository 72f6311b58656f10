import { expect } from 'chai';
import fc from 'fast-check';
import { storableText } from '../../../src/domain/text.ts';
import { LIFTED, VEILED } from '../../../src/domain/veil.ts';

describe('The veil over personal data', () => {
  it('leaves so much of a phone that two can be told apart', () => {
    expect(VEILED.account('+254712345678')).to.equal('+2547•••••678');
    expect(VEILED.account('254712345678')).to.equal('2547•••••678');
  });

  it('leaves the end of a bank account, and nothing of a short one', () => {
    expect(VEILED.account('01109876543')).to.equal('•••••543');
    expect(VEILED.account('123456')).to.equal('•••••');
  });

  it('leaves the first letter of a name', () => {
    expect(VEILED.name('Amina Otieno')).to.equal('A•••••');
  });

  it('hides phones and accounts within a text, and leaves ids as they are', () => {
    const id = '01a20769-9084-7134-a489-370a41390123';
    const text = `Sent 250.00 to 254712345678 and 0712345678, see ${id}`;
    expect(VEILED.text(text)).to.equal(`Sent 250.00 to 2547•••••678 and •••••678, see ${id}`);
    expect(LIFTED.text(text)).to.equal(text);
  });

  it('knows a phone within a text however it is written', () => {
    for (const phone of ['0712 345 678', '0712-345-678', '(0712) 345.678', '0110 345678']) {
      expect(VEILED.text(`He called from ${phone}.`)).to.equal('He called from •••••678.');
    }
    for (const phone of ['+254 712 345 678', '+254-712-345678', '+(254) 712 345 678']) {
      expect(VEILED.text(`${phone} called`), phone).to.match(/^\+?2547•••••678 called$/);
    }
  });

  it('hides e-mail addresses in what somebody wrote, and not in our own words', () => {
    expect(VEILED.text('Asha (asha.w@mail.example) called')).to.equal('Asha (a•••••) called');
    expect(VEILED.numbers('user asha@duka.example')).to.equal('user asha@duka.example');
  });

  it('takes no amount, time or receipt for an account', () => {
    const text = 'KES 1234567.50 on 2026-11-23 10:15:00, receipt SJK3ABCDE1, 01-11-2026 10:15';
    expect(VEILED.text(text)).to.equal(text);
  });

  it('takes no id, address of a server, hash or small number for an account', () => {
    for (const text of [
      'connect ECONNREFUSED 127.0.0.1:8070, then http://192.168.10.20:443/x',
      'merchant 1001, app 5001, channel 63902, code 1032',
      `phone_hash ${'0a1b2c3d'.repeat(8)}`,
      '1,250.00 of KES 1,234,567.50 at 2026-11-23T10:15:00.123Z',
      'a text with “quotes”… and a no-break\u00A0space',
    ]) {
      expect(VEILED.text(text)).to.equal(text);
    }
  });

  it('hides all of a text that somebody outside chose', () => {
    expect(VEILED.foreign('For Amina, 0712')).to.equal('••••• (hidden)');
    expect(VEILED.foreign('')).to.equal('');
    expect(LIFTED.foreign('For Amina')).to.equal('For Amina');
  });

  const ZEROS = [0x30, 0x660, 0x6f0, 0x966, 0xff10, 0x1d7ce];
  const written = (digits: string, zero: number) =>
    [...digits].map((digit) => String.fromCodePoint(zero + Number(digit))).join('');
  const digitsOf = (text: string) => text.replace(/\D/g, '');

  it('hides a phone in every script, with every separator and beside every word', () => {
    const phone = fc.record({
      prefix: fc.constantFrom('+254', '254', '00254', '0', ''),
      number: fc.stringMatching(/^[17]\d{8}$/),
      cuts: fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 4 }),
      separator: fc.constantFrom(
        '',
        ' ',
        '\u00A0',
        '\u2009',
        '-',
        '\u2013',
        '.',
        ' - ',
        '\u200B',
        '\t',
      ),
      zero: fc.constantFrom(...ZEROS),
      before: fc.constantFrom('', 'JANE-', 'Jane', 'ref_', '(', 'KES ', 'x:', '#', '/'),
      behind: fc.constantFrom('', '-JANE', 'Jane', '.50', '_x', ')', ',', '/2', ' JANE', '-1'),
    });
    fc.assert(
      fc.property(phone, ({ prefix, number, cuts, separator, zero, before, behind }) => {
        const parts = [...number].map(
          (digit, index) => (cuts.includes(index) ? separator : '') + digit,
        );
        // Text that is exactly an amount is one.
        fc.pre(!(before === 'KES ' && prefix === '' && separator === '.' && String(cuts) === '7'));
        const spelt = (prefix + parts.join('')).replace(/\d+/g, (run) => written(run, zero));
        const shown = VEILED.text(`He is ${before}${spelt}${behind} today`);
        expect(shown).to.include('•••••');
        expect(digitsOf(shown.normalize('NFKC')).length).to.be.at.most(10);
        expect(shown).to.not.include(number.slice(1, 6));
        expect(shown).to.not.include(written(number.slice(1, 6), zero));
        // Our own texts have addresses of servers.
        if (separator === '.' && cuts.length > 2) return;
        const numbers = VEILED.numbers(`He is ${before}${spelt}${behind} today`);
        expect(numbers).to.not.include(number.slice(1, 6));
      }),
      { numRuns: 2_000 },
    );
  });

  it('hides an account number that has letters, and leaves receipts', () => {
    const letters = fc.stringMatching(/^[A-Z]{1,6}$/);
    const account = fc.tuple(letters, fc.stringMatching(/^\d{7,14}$/), fc.option(letters));
    fc.assert(
      fc.property(account, ([before, digits, behind]) => {
        const number = `${before}${digits}${behind ?? ''}`;
        expect(VEILED.text(`Paid to ${number} today`)).to.not.include(digits);
      }),
    );
    expect(VEILED.text('Sent to KCB00123A4567.')).to.equal('Sent to •••••567.');
    expect(VEILED.text('Sent to AC-00123-B4567.')).to.equal('Sent to •••••567.');
    expect(VEILED.text('receipts SKL4X1Y2Z3, SJK3ABCDE1')).to.equal(
      'receipts SKL4X1Y2Z3, SJK3ABCDE1',
    );
  });

  it('masks the proof of a callback address, also for who reveals the rest', () => {
    const proof = 'a1b2'.repeat(16);
    const id = '01a22e2f-c8a8-7135-ae2e-624f0cb35740';
    for (const part of [proof, proof.slice(0, 20)]) {
      const text = `CallBackURL https://pay.example/gateway/x/result~collection~1001~${id}~dev~${part} is not valid`;
      for (const veil of [VEILED, LIFTED]) {
        expect(storableText(text, 500)).to.not.include(part);
        expect(veil.text(text)).to.not.include(part);
        expect(veil.numbers(text)).to.not.include(part);
        expect(veil.text(`https://pay.example/gateway/x/f~dev~${part}`)).to.not.include(part);
      }
    }
  });
});
