import { type Given, readSecret } from './read-secret.ts';
import { type Settings, settings } from './settings.ts';

/** Tells whether a setting is a secret, which `NAME_FILE` may give as the path of a file. */
export function isSecret(name: string): boolean {
  return settings.shape[name as keyof Settings].meta()?.secret === true;
}

/** Returns the text of a setting. An empty variable counts as an absent one, as in a .env file. */
export function givenText(name: string, environment: NodeJS.ProcessEnv): Given {
  return isSecret(name) ? readSecret(name, environment) : { text: environment[name] || undefined };
}
