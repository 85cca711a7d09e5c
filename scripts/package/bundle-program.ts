import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

/** The program as JavaScript. */
export interface Bundle {
  /** Modules whose code is in it, from the repository root. */
  readonly modules: readonly string[];
  /** Names of packages that it imports. */
  readonly imported: readonly string[];
}

const SOURCES = 'apps/chainstead/src';
/** Each is the beginning of a process or thread: of the command line, of a role, of a helper. */
const ENTRIES = [
  ...['main.ts', 'role-process.ts', 'backfill-process.ts', 'signer-process.ts'].map(
    (file) => `${SOURCES}/${file}`,
  ),
  'packages/products/graphql/src/thread/graphql-thread.ts',
].map((file) => join(REPOSITORY_ROOT, file));

const OPTIONS = {
  entryPoints: ENTRIES.map((file) => ({ in: file, out: basename(file, '.ts') })),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'esnext',
  charset: 'ascii',
  logLevel: 'silent',
  absWorkingDir: REPOSITORY_ROOT,
} as const satisfies BuildOptions;

/**
 * Bundles the workspaces into a folder directly below the package's, one file for each process and for what they share; what is imported when a
 * command runs stays apart. Other packages are imported as ever. Files are not minified: traces of errors can be read.
 * @throws {Error} of esbuild, whose warnings count
 */
export async function bundleProgram(folder: string): Promise<Bundle> {
  const { metafile, outputFiles, warnings } = await build({
    ...OPTIONS,
    outdir: folder,
    metafile: true,
    write: false,
    plugins: [workspacesAlone, sources()],
  });
  if (warnings.length > 0) throw new Error(`The bundle has warnings: ${JSON.stringify(warnings, null, 2)}`);
  await mkdir(folder, { recursive: true });
  for (const { path, text } of outputFiles) await writeFile(path, withNames(text));
  return { modules: modulesOf(metafile), imported: importedBy(metafile) };
}

/** They have native code, or look for files next to them. */
const NOT_BUNDLED = [
  ...['pino', 'libpg-query', 'secp256k1', 'keccak', 'msgpackr', 'msgpackr-extract', 'pg-native'],
  ...['bufferutil', 'utf-8-validate', 'testcontainers', 'solc', '@opensea/*'],
];

/**
 * Bundles the workspaces as {@link bundleProgram} does, and most other packages with them: a process begins in a quarter of the processor time.
 * @param onSource called with the absolute path of a TypeScript file, before it is read
 * @returns absolute paths of the files that it wrote
 */
export async function bundleEverything(
  folder: string,
  onSource: (path: string) => Promise<void>,
): Promise<string[]> {
  const { metafile } = await build({
    ...OPTIONS,
    outdir: folder,
    keepNames: true,
    metafile: true,
    external: NOT_BUNDLED,
    plugins: [extendedSchemas, sources(onSource)],
    // CommonJS has these.
    banner: {
      js: `import { createRequire as requireIn } from 'node:module'; const require = requireIn(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`,
    },
  });
  return Object.keys(metafile.outputs).map((path) => join(REPOSITORY_ROOT, path));
}

/** Plugins see few paths: each costs a message to esbuild. */
const workspacesAlone: Plugin = {
  name: 'workspaces alone',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@chainstead/') ? undefined : { path, external: true },
    );
  },
};

/**
 * This package adds methods to zod's `z`. Where only `z` is imported of it, the bundle would take it from zod, without the methods. So a module in
 * between exports its own `z`.
 */
const EXTENDING = '@hono/zod-openapi';
const EXTENDED = 'extended';

const extendedSchemas: Plugin = {
  name: 'extended schemas',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${EXTENDING}$`) }, ({ path, namespace }) =>
      namespace === EXTENDED ? undefined : { path, namespace: EXTENDED },
    );
    builder.onLoad({ filter: /.*/, namespace: EXTENDED }, () => ({
      contents: `export * from '${EXTENDING}'; import { z as extended } from '${EXTENDING}'; export const z = extended;`,
      resolveDir: join(REPOSITORY_ROOT, 'packages/engine/http'),
    }));
  },
};

function sources(onSource: (path: string) => Promise<void> = async () => undefined): Plugin {
  return {
    name: 'sources',
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        await onSource(path);
        return { contents: withPlaces(path, await readFile(path, 'utf8')), loader: 'ts' };
      });
    },
  };
}

/**
 * Bundled code lies elsewhere than its sources, but files that it finds by its path (migrations, contracts, packages) lie in the package as in
 * the checkout. So each module keeps its original path. A process that it starts is a file next to it.
 */
function withPlaces(path: string, text: string): string {
  const place = `new URL('../${relative(REPOSITORY_ROOT, path)}', import.meta.url).href`;
  return text
    .split(/(new URL\('[^']+\.ts', import\.meta\.url\))/)
    .map((part) => {
      const started = /^new URL\('([^']+)\.ts'/.exec(part)?.[1];
      if (started === undefined || !ENTRIES.includes(resolve(dirname(path), `${started}.ts`)))
        return part.replaceAll('import.meta.url', place);
      return `new URL('./${basename(started)}.js', import.meta.url)`;
    })
    .join('');
}

/** A class that speaks of itself is bundled as another one's value: `var Name = class _Name`. Logs show names of errors. */
function withNames(text: string): string {
  const names = new Set([...text.matchAll(/\bvar (\w+) = class _\1\b/g)].map(([, name = '']) => name));
  return names.size === 0
    ? text
    : text.replaceAll(/\b_(\w+)\b/g, (word, name: string) => (names.has(name) ? name : word));
}

function modulesOf({ outputs }: Metafile): string[] {
  const included = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return [...new Set(included)].toSorted();
}

function importedBy({ outputs }: Metafile): string[] {
  const paths = Object.values(outputs).flatMap(({ imports }) =>
    imports.flatMap(({ path, external }) => (external === true && !isBuiltin(path) ? [path] : [])),
  );
  return [...new Set(paths.map(packageOf))].toSorted();
}

/** `@scope/name` of `@scope/name/file`. */
function packageOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}
