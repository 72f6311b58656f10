import { bashScript, zshScript } from '../completion.ts';
import { type Noun, type Nouns, tells, type Verb } from '../verb.ts';

const BASH = 'For ~/.bashrc: source <(malipo completion bash)';
const ZSH = 'For ~/.zshrc: source <(malipo completion zsh)';

/** Returns the noun `completion`. It prints the completion for the given nouns and for itself. */
export function completionOf(nouns: Nouns): Noun {
  const completion: Noun = {
    summary: 'Completion of commands by the Tab key',
    verbs: {
      bash: script('bash', BASH, () => bashScript({ ...nouns, completion })),
      zsh: script('zsh', ZSH, () => zshScript({ ...nouns, completion })),
    },
  };
  return completion;
}

function script(shell: string, notes: string, write: () => string): Verb {
  return tells({
    summary: `Prints the script by which the Tab key completes commands in ${shell}`,
    notes,
    run: async () => {
      const text = write();
      return { data: { shell, script: text }, lines: [text] };
    },
  });
}
