import { expect } from 'chai';
import { LIFTED, VEILED } from '../../../src/console/shell/veil.ts';

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
});
