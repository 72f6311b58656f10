import type { Field } from '../operations/field.ts';
import { COMMON_OPTIONS } from './order.ts';
import type { Noun, Nouns, Verb } from './verb.ts';

/** The words to offer if the words before the cursor match a pattern of the shell. */
type Offer = readonly [pattern: string, words: readonly string[]];

/**
 * Writes a completion for bash: nouns, verbs, flags, and the values of closed lists. The script
 * contains them all, so the Tab key starts no program. Bash completes other values as file names.
 */
export function bashScript(nouns: Nouns): string {
  const defaults = Object.entries(nouns).flatMap(([name, { defaultVerb, verbs }]) => {
    const isLeftOut = `"$noun" == ${name} && " ${Object.keys(verbs).join(' ')} " != *" $verb "*`;
    return defaultVerb ? [`  [[ ${isLeftOut} ]] && verb=${defaultVerb}`] : [];
  });
  const offers = offersOf(nouns).map(([pattern, words]) => {
    return `    ${pattern}) words='${words.join(' ')}' ;;`;
  });
  return `_malipo() {
  local noun="\${COMP_WORDS[1]}" verb="\${COMP_WORDS[2]-}" words=
  local previous="\${COMP_WORDS[COMP_CWORD-1]}" current="\${COMP_WORDS[COMP_CWORD]}"
${defaults.join('\n')}
  case "$COMP_CWORD $noun $verb $previous" in
${offers.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _malipo malipo`;
}

/** Writes a completion for zsh. Zsh can read the completion for bash. */
export function zshScript(nouns: Nouns): string {
  return `(( $+functions[compdef] )) || { autoload -U +X compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
${bashScript(nouns)}`;
}

/** Lists the offers. The shell takes the first pattern that fits. */
function offersOf(nouns: Nouns): Offer[] {
  const verbs = Object.entries(nouns).flatMap(([name, noun]) =>
    Object.entries(noun.verbs).flatMap(([verb, spec]) => offersOfVerb(`${name} ${verb}`, spec)),
  );
  return [
    ["'1 '*", [...Object.keys(nouns), '--help']],
    ...Object.entries(nouns).map(([name, noun]): Offer => [`'2 ${name} '*`, verbWords(noun)]),
    ...verbs,
  ];
}

function verbWords({ verbs, defaultVerb }: Noun): string[] {
  const flags = defaultVerb ? flagsOf(verbs[defaultVerb]!) : ['--help'];
  return [...Object.keys(verbs), ...flags];
}

function offersOfVerb(name: string, verb: Verb): Offer[] {
  const options = optionsOf(verb);
  const closed = options.flatMap(({ flag, words }): Offer[] =>
    words ? [[`*' ${name} --${flag}'`, words]] : [],
  );
  const free = options
    .filter(({ placeholder, words }) => placeholder !== null && !words)
    .map(({ flag }) => `*' ${name} --${flag}'`);
  const argument = (verb.argument && verb.options[verb.argument]?.words) ?? [];
  return [
    ...closed,
    ...(free.length > 0 ? [[free.join(' | '), []] as const] : []),
    [`*' ${name} '*`, [...argument, ...flagsOf(verb)]],
  ];
}

function flagsOf(verb: Verb): string[] {
  return [...optionsOf(verb).map(({ flag }) => `--${flag}`), '--help'];
}

function optionsOf({ options }: Verb): Field<unknown>[] {
  return [...Object.values(options), ...COMMON_OPTIONS];
}
