import { expect } from 'chai';
import { passwordProblem } from '../../../src/domain/credentials/password-problem.ts';
import { generatePassword } from '../../../src/domain/credentials/passwords.ts';

const ABOUT = ['amina.otieno@duka-bora.example', 'Amina Otieno'];

describe('A new password', () => {
  it('is refused when it is easy to guess', () => {
    for (const password of [
      ...['aaaaaaaaaaaa', 'abcabcabcabc', 'abababababab1', 'abcdefghijkl', 'cba987654321'],
      ...['qwertyuiop12', 'asdfghjklzxcvbnm', '123456789012', 'Password1234', 'Malipo Malipo 1'],
      ...['Amina.Otieno.2026', 'dukabora', 'duka-bora-12345', 'MPesaKenya2026'],
    ]) {
      expect(passwordProblem(password, ABOUT), password).to.include('easy to guess');
    }
  });

  it('is good with several words or random characters', () => {
    for (const password of [
      ...['correct horse battery', 'staple battery horse correct', 'mango river tractor'],
      ...[
        'Amina keeps nine goats',
        'x7#Lq9!vTz2m',
        ...Array.from({ length: 200 }, generatePassword),
      ],
    ]) {
      expect(passwordProblem(password, ABOUT), password).to.equal(null);
    }
  });

  it('is judged at once, however long', () => {
    expect(passwordProblem('ab'.repeat(64), ABOUT)).to.include('easy to guess');
  });
});
