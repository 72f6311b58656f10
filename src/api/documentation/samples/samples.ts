import type { Endpoint } from '../../endpoints/endpoints.ts';
import { curl } from './curl.ts';
import { java } from './java.ts';
import { node } from './node.ts';
import { php } from './php.ts';
import { python } from './python.ts';
import { sampleRequest } from './request.ts';

/** The languages of the samples, the first one shown first. `lang` is for highlighters. */
const LANGUAGES = [
  { lang: 'shell', label: 'curl', write: curl },
  { lang: 'javascript', label: 'Node', write: node },
  { lang: 'python', label: 'Python', write: python },
  { lang: 'php', label: 'PHP', write: php },
  { lang: 'java', label: 'Java', write: java },
] as const;

/** A sample in the form of the extension `x-codeSamples` of OpenAPI. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

/** Writes the request of an endpoint in each language. */
export function codeSamples(id: string, endpoint: Endpoint, publicUrl: string): CodeSample[] {
  const request = sampleRequest(id, endpoint, publicUrl);
  return LANGUAGES.map(({ lang, label, write }) => ({ lang, label, source: write(request) }));
}
