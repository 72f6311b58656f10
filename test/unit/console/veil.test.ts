import { expect } from 'chai';
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
});
