import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@chainstead/core';
import { RESERVED_SEGMENTS } from '@chainstead/gateway';
import { UNSERVED_OPERATIONS } from '@chainstead/http';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createProgram } from './command-line.ts';
import { chainKeys } from './configuration/chain-keys.ts';
import { globalKeys } from './configuration/global-keys.ts';
import { environmentSource, parseConfiguration } from './configuration/index.ts';
import { runCaptured } from './testing/captured-context.ts';
import { readOpenApiDocument } from './testing/openapi-document.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'docs/architecture.md',
  'docs/operating.md',
  'docs/console.md',
  'docs/scaling.md',
  'docs/storage-layout.md',
  'docs/proofs.md',
  'docs/metrics.md',
  'docs/spam.md',
  'docs/collections.md',
  'docs/trades.md',
  'docs/streams.md',
  'docs/stream-matching.md',
  'docs/analytics.md',
  'docs/aptos.md',
  'docs/gateway.md',
  'docs/provider-contract.md',
];
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')));
const ci = read('.ci/run');
/** Of the process itself: docs/operating.md tells of them. */
const SYSTEM_ROUTES = /^GET \/(health|ready|synced|metrics)$/;

/** Lines of the `sh` blocks of a document. */
function shellLines(document: string): string[] {
  return [...document.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap((match) => (match[1] ?? '').trim().split('\n'));
}

/** `METHOD /path` of every route in the OpenAPI document of the whole API. */
async function servedRoutes(scratch: ScratchDatabase): Promise<string[]> {
  const { paths } = await readOpenApiDocument(scratch);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** Lists that README imports, in the form in which their authors publish them. */
const LISTS: Readonly<Record<string, unknown>> = {
  'https://tokens.uniswap.org': {
    name: 'A list',
    timestamp: '2026-01-01T00:00:00.000Z',
    version: { major: 1, minor: 0, patch: 0 },
    tokens: [{ chainId: 1, address: `0x${'a1'.repeat(20)}`, name: 'A token', symbol: 'A', decimals: 6 }],
  },
  'https://raw.githubusercontent.com/scamsniffer/scam-database/main/blacklist/address.json': [`0x${'b2'.repeat(20)}`],
};

/** Writes what a URL of README leads to, which a test can't fetch. @returns the file's path */
async function writeList(folder: string, url: string): Promise<string> {
  const list = LISTS[url];
  if (list === undefined) throw new Error(`README imports ${url}: add what it looks like`);
  const path = join(folder, `list-${Object.keys(LISTS).indexOf(url)}.json`);
  await writeFile(path, JSON.stringify(list));
  return path;
}

describe('README.md', () => {
  const lines = shellLines(read('README.md'));
  let scratch: ScratchDatabase;
  let folder: string;
  beforeAll(async () => {
    scratch = await createScratchDatabase();
    folder = await mkdtemp(join(tmpdir(), 'chainstead-lists-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await scratch.drop();
  });

  it('begins with the commands that CI runs from a fresh clone', () => {
    expect(lines.slice(0, 3)).toEqual(['npm ci', 'npm run demo', 'npm test']);
    for (const command of ['npm ci', 'npm test', 'npm run test:system'])
      expect(ci).toMatch(new RegExp(`^${command}$`, 'm'));
    expect(read('scripts/test.ts')).toContain("chainstead.js', 'demo', '--once'");
    expect(() => accessSync(join(ROOT, '.ci/run'), constants.X_OK)).not.toThrow();
  });

  it('starts the program with configurations that are valid', () => {
    const starts = lines.filter((line) => line.endsWith('npm start'));
    expect(starts.length).toBeGreaterThan(1);
    for (const start of starts) {
      const variables = Object.fromEntries(
        [...start.matchAll(/([A-Z_]+)=(\S+)/g)].map((match) => [match[1], match[2]]),
      );
      expect(parseConfiguration([environmentSource(variables)]).warnings, start).toEqual([]);
    }
  });

  const commands = lines.filter((line) => line.startsWith('npx chainstead '));
  it.each(commands)('%s works', async (line) => {
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).slice(2).map((word) => word.replaceAll('"', ''));
    const args = await Promise.all(words.map((word) => (word.startsWith('https:') ? writeList(folder, word) : word)));
    const { exitCode, stderr } = await runCaptured(args, { DATABASE_URL: scratch.url });
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('error')]);
  });

  it('lists exactly the routes that are served', async () => {
    const served = await servedRoutes(scratch);
    const rows = [...read('README.md').matchAll(/^\| (`[A-Z]+ \/.*?) \|/gm)].map((match) => match[1] ?? '');
    const listed = rows.flatMap((cell) => [...cell.matchAll(/`(\S+ \S+)`/g)].map((match) => match[1] ?? ''));
    const ofApi = served.filter((route) => !SYSTEM_ROUTES.test(route));
    expect(listed.toSorted()).toEqual(ofApi.toSorted());
    const unserved = UNSERVED_OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    const segments = [...served, ...unserved].map((route) => /\/([^/]*)/.exec(route)?.[1]?.toLowerCase() ?? '');
    expect(segments.filter((segment) => /^[a-z0-9-]+$/.test(segment) && !RESERVED_SEGMENTS.has(segment))).toEqual([]);
    const shape = (route: string) => route.replaceAll(/\{[^}]+\}/g, '{}');
    const shapes = new Set(served.map(shape));
    expect(
      unserved.filter((route) => shapes.has(shape(route))),
      'served: to be taken out of packages/http/src/unserved',
    ).toEqual([]);
  });

  it('has no other command that nobody runs', () => {
    const known = new Set(['npm ci', 'npm run demo', 'npm test', ...commands]);
    expect(lines.filter((line) => !known.has(line) && !line.endsWith('npm start'))).toEqual([]);
  });
});

const sources = ['packages', 'apps']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  )
  .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
  .map(read);
const exportedNames = new Set(
  sources.flatMap((text) =>
    [...text.matchAll(/^(?:export (?:async )?(?:const|function|class|interface|type)| {2}readonly) (\w+)/gm)].map(
      ([, name = '']) => name,
    ),
  ),
);

describe('CONTRIBUTING.md', () => {
  it('names what is exported, or a member of that', () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`([a-z]+[A-Z]\w*|[A-Z][a-z]\w+)`/g)].map(
      (match) => match[1] ?? '',
    );
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !exportedNames.has(name))).toEqual([]);
  });
});

describe.each(DOCUMENTS)('%s', (path) => {
  const text = read(path);

  it('links to files that exist', () => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] ?? '');
    expect(targets.filter((target) => !existsSync(join(ROOT, dirname(path), target)))).toEqual([]);
  });

  it('names source files that exist', () => {
    const named = [...text.matchAll(/`((?:apps|packages|scripts|docs|migrations)\/[\w./-]+)`/g)].map(
      (match) => match[1] ?? '',
    );
    expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const named = [...text.matchAll(/\bnpm run ([a-z:-]+)/g)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  it('names commands and options that exist', () => {
    const program = createProgram({
      environment: {},
      stdout: { write: () => true },
      stderr: { write: () => true },
      clock: systemClock,
      stopSignal: new AbortController().signal,
    });
    const named = [...text.matchAll(/(?:`|\$ |npx )(?:npx )?chainstead ((?!run)[a-z-][^`\n|]*)/g)].map(
      (match) => match[1] ?? '',
    );
    for (const line of named) {
      const words = line.replace(/^--config \S+ /, '').split(/\s+/);
      const command = findCommand(program, words);
      expect(command, line).not.toBeNull();
      const flags = words.map((word) => word.replaceAll(/[[\]]/g, '')).filter((word) => /^--[a-z]/.test(word));
      expect(flags.filter((flag) => command?.options.every(({ long }) => long !== flag))).toEqual([]);
    }
  });

  it('names configuration keys that exist', () => {
    const named = [...text.matchAll(/`([A-Z][A-Z_]+(?:_<CHAIN>|_<NAME>)?)(?:=[^`]*)?`/g)].map(
      (match) => match[1] ?? '',
    );
    const perChain = named.filter((key) => /<(CHAIN|NAME)>$/.test(key)).map((key) => key.replace(/_<\w+>$/, ''));
    expect(perChain.filter((key) => !Object.hasOwn(chainKeys.shape, key))).toEqual([]);
    const known = new Set([...Object.keys(globalKeys.shape), ...OTHER_WORDS, ...errorCodes(), ...exportedNames]);
    expect(named.filter((key) => !key.includes('<') && !known.has(key))).toEqual([]);
  });
});

/** Words in capitals that are no configuration keys. */
const OTHER_WORDS = [
  'PROPERTY_DEPTH',
  'CHAINSTEAD_CONFIG',
  'POSTGRES_PASSWORD',
  'POSTGRES_SUPERUSER_PASSWORD',
  'GRAFANA_PASSWORD',
  'EXPLAIN',
  'START_BLOCK',
  'END_BLOCK',
  'RPC_URLS',
  'LICENSE',
  'SELECT',
  'STOPPED',
  'SPAM_PATTERNS',
  'SO_REUSEPORT',
  'CREATEROLE',
  'LISTEN',
  'NOTIFY',
];

function errorCodes(): string[] {
  return [...read('docs/errors.md').matchAll(/^\| `([A-Z_0-9]+)`/gm)].map((match) => match[1] ?? '');
}

function findCommand(program: Command, words: readonly string[]): Command | null {
  const [verb, subverb] = words;
  const command = program.commands.find((candidate) => candidate.name() === verb);
  if (command === undefined) return null;
  return command.commands.find((candidate) => candidate.name() === subverb) ?? command;
}
