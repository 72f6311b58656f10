import { z } from 'zod';
import { DRIVERS } from '../src/gateways/registry.ts';
import { MAX_TIMER_MS } from '../src/process/setting-types.ts';
import { settingsWith, topicsWith } from '../src/process/settings.ts';
import { withGeneratedPart } from './generated-part.ts';

/** All that the documents say of one environment variable. */
interface Setting {
  name: string;
  description: string;
  /** The values that are accepted, where that is a short list or a range. */
  values: string | null;
  default: string | null;
  example: string;
  isRequired: boolean;
}

/** Returns docs/settings.md with the tables of all settings between its markers. */
export function withSettingsTables(document: string): string {
  const tables = settingsByTopic().map(([topic, listed]) =>
    [
      `### ${topic}\n`,
      '| Name | Default | Values | Meaning |',
      '|---|---|---|---|',
      ...listed.map(tableRow),
    ].join('\n'),
  );
  return withGeneratedPart(document, 'settings', `\n${tables.join('\n\n')}\n\n`);
}

function tableRow(setting: Setting): string {
  const { name, description, values } = setting;
  const shown = setting.default === null ? '–' : `\`${setting.default}\``;
  return `| \`${name}\` | ${setting.isRequired ? 'required' : shown} | ${values ?? '–'} | ${description} |`;
}

const EXAMPLE_HEAD = `# Malipo's environment. Copy this to .env, change what you need, and load it before you start:
#   set -a; . ./.env; set +a
# A line that is commented out shows the default, or an example without a default.
`;

/** Returns the text of `.env.example`. */
export function envExample(): string {
  const topics = settingsByTopic().map(([topic, listed]) =>
    [`# --- ${topic} ---\n`, ...listed.map(exampleEntry)].join('\n'),
  );
  return [EXAMPLE_HEAD, ...topics].join('\n');
}

function exampleEntry(setting: Setting): string {
  const { name, description, values, example, isRequired } = setting;
  const sentences = [isRequired && 'Required', description, values && `Values: ${values}`].filter(
    Boolean,
  );
  const comment = wrapped(`${sentences.join('. ')}.`.replaceAll('`', ''));
  return `${comment}\n${isRequired ? '' : '# '}${name}=${setting.default ?? example}\n`;
}

const COMMENT_WIDTH = 98;

function wrapped(text: string): string {
  const lines = text.match(new RegExp(`.{1,${COMMENT_WIDTH}}(?: |$)`, 'g')) ?? [];
  return lines.map((line) => `# ${line.trimEnd()}`).join('\n');
}

function settingsByTopic(): [topic: string, Setting[]][] {
  const settings = settingsWith(DRIVERS);
  const { properties = {} } = z.toJSONSchema(z.object(settings), { unrepresentable: 'any' });
  const settingOf = (name: string): Setting => {
    const schema = properties[name] as z.core.JSONSchema.JSONSchema;
    return {
      name,
      description: `${schema.description ?? ''}${schema.secret ? fileNote(name) : ''}`,
      values: valuesOf(schema),
      default: schema.default === undefined ? null : String(schema.default),
      example: String(schema.example ?? ''),
      isRequired: !settings[name]!.safeParse(undefined).success,
    };
  };
  return Object.entries(topicsWith(DRIVERS)).map(([topic, shape]) => [
    topic,
    Object.keys(shape).map(settingOf),
  ]);
}

function fileNote(name: string): string {
  return `. May be in a file: \`${name}_FILE\` has its path`;
}

function valuesOf(schema: z.core.JSONSchema.JSONSchema): string | null {
  const { type, minimum, maximum, minLength } = schema;
  const words = type === 'boolean' ? ['true', 'false'] : schema.enum;
  if (words) return words.map((word) => `\`${word}\``).join(', ');
  if (type === 'integer')
    return maximum === MAX_TIMER_MS ? `${minimum} or more` : `${minimum} to ${maximum}`;
  return minLength ? `${minLength} characters or more` : null;
}
