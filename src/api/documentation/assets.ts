import { readFileSync } from 'node:fs';

/*
 * Scalar, the reference in the browser, is one file. Its package for Fastify is the one that brings
 * this file without the 270 packages that it is made from. It is a package of development: the
 * build copies the file into `dist`, in the same place from there, and nothing of it runs in Node.
 */
const SCALAR = 'node_modules/@scalar/fastify-api-reference';
const SCALAR_PACKAGE = `${SCALAR}/package.json`;
const SCALAR_LICENSE = `${SCALAR}/LICENSE`;
const SCALAR_SCRIPT = `${SCALAR}/dist/js/standalone.js`;
const GUIDES = 'docs/guides';

/** The folder of the source, or of the build. */
const ROOT = new URL('../../../', import.meta.url);

/** The files that the documentation serves. The build copies them. */
export const ASSETS: readonly string[] = [SCALAR_PACKAGE, SCALAR_LICENSE, SCALAR_SCRIPT, GUIDES];

/** The folder with the guides in Markdown. */
export const GUIDES_FOLDER = new URL(`${GUIDES}/`, ROOT);

/** Returns the version of Scalar. */
export function scalarVersion(): string {
  return JSON.parse(readFileSync(new URL(SCALAR_PACKAGE, ROOT), 'utf8')).version;
}

/** Returns Scalar's script. */
export function scalarScript(): Buffer {
  return readFileSync(new URL(SCALAR_SCRIPT, ROOT));
}
