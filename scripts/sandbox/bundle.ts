import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { PROGRAMS, ROOT_FOLDER } from './programs.ts';

/**
 * Bundles all programs into `folder`, each under its own path. Without a loader for TypeScript a process starts
 * in a third of the time.
 */
export async function bundlePrograms(folder: string): Promise<void> {
  await build({
    absWorkingDir: ROOT_FOLDER,
    entryPoints: Object.values(PROGRAMS).map((program) => `${program}.ts`),
    outdir: folder,
    outbase: ROOT_FOLDER,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    logLevel: 'silent',
    plugins: [KEEP_ADDRESSES],
  });
}

/** Each module goes on to find its files where its source is. */
const KEEP_ADDRESSES: Plugin = {
  name: 'keep addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const address = JSON.stringify(pathToFileURL(path).href);
      const loader = path.endsWith('x') ? 'tsx' : 'ts';
      return { contents: source.replaceAll('import.meta.url', address), loader };
    });
  },
};
