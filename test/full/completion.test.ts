import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { runAdmin } from '../support/admin-runs.ts';

/** Asks a real bash what it offers for the last word of a command line. */
function offered(script: string, line: string): string[] {
  const words = ['malipo', ...line.split(' ')].map((word) => `'${word}'`);
  const program = `${script}
COMP_WORDS=(${words.join(' ')}) COMP_CWORD=${words.length - 1}
_malipo
printf '%s\\n' "\${COMPREPLY[@]-}"`;
  const output = execFileSync('bash', ['--norc', '-uc', program], { encoding: 'utf8' });
  return output.split('\n').filter((word) => word !== '');
}

describe('Completion in bash', () => {
  let script: string;

  before(async () => {
    // Neither a configuration nor a database is needed.
    const { status, stdout, stderr } = await runAdmin(['completion', 'bash'], {});
    expect([status, stderr]).to.deep.equal([0, '']);
    script = stdout;
  });

  const CASES: Readonly<Record<string, string[]>> = {
    re: ['reconcile', 'restore', 'retention'],
    'channel ': ['list', 'show', 'pause', 'resume', '--help'],
    'channel p': ['pause'],
    'discrepancy resolve --as a': ['accept-amount'],
    'discrepancy resolve --as accept-amount --': [
      ...['--discrepancy', '--as', '--trans-id', '--actor', '--reason', '--utc', '--json'],
      '--help',
    ],
    'user create --role ': ['Admin', 'Finance', 'Operator'],
    'channel pause 6390': ['63902', '63903', '63907'],
    'channel pause --channel 63903 --j': ['--json'],
    'reconcile --ch': ['--channel'],
    'reconcile --channel 63907 --kind p': ['payout'],
    'reconcile run --kind p': ['payout'],
    'reconcile 63907 --kind p': ['payout'],
    'completion ': ['bash', 'zsh', '--help'],
    'merchant show --merchant ': [],
    'merchant approve --reason ': [],
    'nothing ': [],
    'payment list --ki': ['--kind'],
  };
  for (const [line, words] of Object.entries(CASES)) {
    it(`offers for "${line}": ${words.join(' ') || 'nothing'}`, () => {
      expect(offered(script, line)).to.deep.equal(words);
    });
  }

  it('is bound to the program, under whichever path', () => {
    const program = `${script}\ncomplete -p malipo`;
    const output = execFileSync('bash', ['--norc', '-euc', program], { encoding: 'utf8' });
    expect(output).to.equal('complete -o default -F _malipo malipo\n');
  });

  it('is what zsh reads too', async () => {
    const { stdout } = await runAdmin(['completion', 'zsh'], {});
    expect(stdout).to.include('bashcompinit\n').and.include(script.trimEnd());
  });
});
