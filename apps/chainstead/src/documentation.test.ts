import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { rawSql } from '@chainstead/db';
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

/** Pages in the folders of `docs`. */
function pagesInFolders(): readonly string[] {
  return readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes('/') && path.endsWith('.md'))
    .map((path) => `docs/${path}`);
}

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'docs/index.md',
  'docs/migrate.md',
  ...pagesInFolders(),
];
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));
const ci = read('.ci/run');

/** Lines of the `sh` blocks of a document. */
function shellLines(document: string): string[] {
  return [...document.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap((match) =>
    (match[1] ?? '').trim().split('\n'),
  );
}

/** `METHOD /path` of every route in the OpenAPI document of the whole API. */
async function servedRoutes(scratch: ScratchDatabase): Promise<string[]> {
  const { paths } = await readOpenApiDocument(scratch);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** Lists that the documentation imports, in the form in which their authors publish them. */
const LISTS: Readonly<Record<string, unknown>> = {
  'https://tokens.uniswap.org': {
    name: 'A list',
    timestamp: '2026-01-01T00:00:00.000Z',
    version: { major: 1, minor: 0, patch: 0 },
    tokens: [{ chainId: 1, address: `0x${'a1'.repeat(20)}`, name: 'A token', symbol: 'A', decimals: 6 }],
  },
  'https://raw.githubusercontent.com/scamsniffer/scam-database/main/blacklist/address.json': [
    `0x${'b2'.repeat(20)}`,
  ],
};

async function writeAbi(folder: string): Promise<string> {
  const path = join(folder, 'Vault.json');
  const inputs = [
    { name: 'owner', type: 'address', indexed: true },
    { name: 'assets', type: 'uint256' },
  ];
  await writeFile(path, JSON.stringify([{ type: 'event', name: 'Deposit', inputs }]));
  return path;
}

/** Writes the list behind a URL of the documentation, which a test can't fetch. @returns the file's path */
async function writeList(folder: string, url: string): Promise<string> {
  const list = LISTS[url];
  if (list === undefined) throw new Error(`The documentation imports ${url}: add an example of it`);
  const path = join(folder, `list-${Object.keys(LISTS).indexOf(url)}.json`);
  await writeFile(path, JSON.stringify(list));
  return path;
}

/** Pages whose `sh` blocks run here. */
const RUNNABLE = [
  'README.md',
  'docs/start/demo.md',
  'docs/start/first-chain.md',
  'docs/start/first-webhook.md',
  'docs/start/own-contract.md',
  'docs/start/production.md',
  'docs/start/analysts.md',
  'docs/migrate.md',
  'docs/migrate/sdk.md',
];

describe('commands of the documentation', () => {
  const lines = new Map(RUNNABLE.map((path) => [path, shellLines(read(path))]));
  const all = [...lines.values()].flat();
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

  it('begin with those that CI runs from a fresh clone', () => {
    expect(lines.get('README.md')?.slice(0, 3)).toEqual(['npm ci', 'npm run demo', 'npm test']);
    for (const command of ['npm ci', 'npm test', 'npm run test:system'])
      expect(ci).toMatch(new RegExp(`^${command}$`, 'm'));
    expect(read('scripts/test.ts')).toContain("['scripts/try-package.ts']");
    expect(read('scripts/try-package.ts')).toContain("packaged.start(BIN, ['demo']");
    expect(() => accessSync(join(ROOT, '.ci/run'), constants.X_OK)).not.toThrow();
  });

  it('start the program with configurations that are valid', () => {
    const starts = all.filter((line) => line.endsWith('npm start'));
    expect(starts.length).toBeGreaterThan(3);
    for (const start of starts) {
      const variables = Object.fromEntries(
        [...start.matchAll(/([A-Z_]+)=(\S+)/g)].map((match) => [match[1], match[2]]),
      );
      expect(parseConfiguration([environmentSource(variables)]).warnings, start).toEqual([]);
    }
  });

  const commands = [...new Set(all.filter((line) => /^npx chainstead (?!psql)/.test(line)))];
  it.each(commands)('%s works', async (line) => {
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).slice(2).map((word) => word.replaceAll('"', ''));
    const args = await Promise.all(
      words.map((word) =>
        word.startsWith('https:') ? writeList(folder, word) : word === './Vault.json' ? writeAbi(folder) : word,
      ),
    );
    const { exitCode, stderr } = await runCaptured(args, { DATABASE_URL: scratch.url });
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('error')]);
  });

  // After the commands, which create the tables.
  const queries = all.flatMap((line) => {
    const [, query] = /^npx chainstead psql -c '([^']+)'$/.exec(line) ?? [];
    return query === undefined ? [] : [{ line, query }];
  });
  it.each(queries)('$line works', async ({ query }) => {
    expect(await scratch.database.query(rawSql(query))).toEqual([]);
  });

  it('are no others, which nobody runs', () => {
    const requests = all.filter((line) => requestsOf(line).length === 1);
    const known = new Set(['npm ci', 'npm run demo', 'npm test', ...commands, ...requests]);
    for (const { line } of queries) known.add(line);
    expect(all.filter((line) => !known.has(line) && !line.endsWith('npm start'))).toEqual([]);
  });

  it('request endpoints that are served', async () => {
    const served = await servedRoutes(scratch);
    const patterns = served.map((route) => new RegExp(`^${route.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`));
    const requests = DOCUMENTS.flatMap((path) => requestsOf(read(path)));
    expect(requests.length).toBeGreaterThan(15);
    expect(requests.filter((request) => !patterns.some((pattern) => pattern.test(request)))).toEqual([]);
  });

  it('compare two servers as docs/migrate.md prints it', async () => {
    const [, script = ''] = /compare\.mjs`:\n\n```js\n([\s\S]*?)^```/m.exec(read('docs/migrate.md')) ?? [];
    await writeFile(join(folder, 'compare.mjs'), script);
    await writeFile(join(folder, 'paths.txt'), '/same?chain=eth\n/other\n');
    const serve = (amount: string) =>
      createServer((request, response) => {
        const value = request.url?.endsWith('/other') === true ? amount : '1';
        response.end(
          JSON.stringify({ cursor: amount, result: [{ value, chain: request.headers['x-api-key'] }] }),
        );
      }).listen(0, '127.0.0.1');
    const servers = [serve('2'), serve('3')];
    try {
      await Promise.all(servers.map((server) => once(server, 'listening')));
      const [provider, chainstead] = servers.map((server) => `http://127.0.0.1:${portOf(server)}/api/v2.2`);
      const env = { PROVIDER_URL: provider, CHAINSTEAD_URL: chainstead, PROVIDER_KEY: 'k', CHAINSTEAD_KEY: 'k' };
      const { stdout } = await promisify(execFile)(process.execPath, ['compare.mjs'], { cwd: folder, env });
      expect(stdout).toBe('same  /same?chain=eth\ndifferent  /other\n  /body/result/0/value: "2" → "3"\n');
    } finally {
      for (const server of servers) server.close();
    }
  });
});

/** `METHOD /path` of the `curl` lines of a document that ask a server at 127.0.0.1. */
function requestsOf(document: string): string[] {
  return [...document.matchAll(/^(?:\+ | +)?curl .*?http:\/\/127\.0\.0\.1:8080(\/[^\s?"']*).*$/gm)].map(
    ([line, path = '']) => `${/ -X (\w+)/.exec(line)?.[1] ?? 'GET'} ${path}`,
  );
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('docs/api/endpoints.md', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());

  it('lists exactly the endpoints that are served', async () => {
    const served = await servedRoutes(scratch);
    const listed = [...read('docs/api/endpoints.md').matchAll(/^\| `([A-Z]+ \/\S*)` \|/gm)].map(
      (match) => match[1] ?? '',
    );
    expect(listed.toSorted()).toEqual(served.toSorted());
    const unserved = UNSERVED_OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    const segments = [...served, ...unserved].map((route) => /\/([^/]*)/.exec(route)?.[1]?.toLowerCase() ?? '');
    expect(segments.filter((segment) => /^[a-z0-9-]+$/.test(segment) && !RESERVED_SEGMENTS.has(segment))).toEqual(
      [],
    );
    const shape = (route: string) => route.replaceAll(/\{[^}]+\}/g, '{}');
    const shapes = new Set(served.map(shape));
    expect(
      unserved.filter((route) => shapes.has(shape(route))),
      'served: to be taken out of packages/engine/http/src/unserved',
    ).toEqual([]);
  });
});

const sources = ['packages', 'apps', 'tests']
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

describe.each(['CONTRIBUTING.md', 'docs/internals/recipes.md'])('%s', (path) => {
  it('names what is exported, or a member of that', () => {
    const named = [...read(path).matchAll(/`([a-z]+[A-Z]\w*|[A-Z][a-z]\w+)`/g)].map((match) => match[1] ?? '');
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((name) => !exportedNames.has(name))).toEqual([]);
  });
});

describe('docs/api/json-rpc.md', () => {
  it('names the path segment of every known chain', () => {
    const page = read('docs/api/json-rpc.md');
    const [, list = ''] = /^The path segment is the chain's name:\n\n([\s\S]*?)\n\n/m.exec(page) ?? [];
    const named = [...list.matchAll(/`([^`]+)`/g)].map((match) => match[1]);
    const known = createChainRegistry().all();
    expect(named.toSorted()).toEqual(known.flatMap(({ gatewaySlug }) => gatewaySlug ?? []).toSorted());
  });
});

describe.each(DOCUMENTS)('%s', (path) => {
  const text = read(path);

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
      const flags = words
        .map((word) => word.replaceAll(/[[\])"]/g, ''))
        .filter((word) => /^--(?!help$)[a-z]/.test(word));
      expect(flags.filter((flag) => command?.options.every(({ long }) => long !== flag))).toEqual([]);
    }
  });

  it('names configuration keys that exist', () => {
    const named = [...text.matchAll(/`([A-Z][A-Z_]+(?:_<CHAIN>|_<NAME>)?)(?:=[^`]*)?`/g)].map(
      (match) => match[1] ?? '',
    );
    const perChain = named.filter((key) => /<(CHAIN|NAME)>$/.test(key)).map((key) => key.replace(/_<\w+>$/, ''));
    const knownPerChain = new Set(Object.keys(chainKeys.shape));
    expect(perChain.filter((key) => !knownPerChain.has(key))).toEqual([]);
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
  'INTERSECT',
  'EXCEPT',
  'STOPPED',
  'SPAM_PATTERNS',
  'SO_REUSEPORT',
  'CREATEROLE',
  'LISTEN',
  'NOTIFY',
];

function errorCodes(): string[] {
  return [...read('docs/reference/errors.md').matchAll(/^### ([A-Z_0-9]+)$/gm)].map((match) => match[1] ?? '');
}

function findCommand(program: Command, words: readonly string[]): Command | null {
  const [verb, subverb] = words;
  const command = program.commands.find((candidate) => candidate.name() === verb);
  if (command === undefined) return null;
  return command.commands.find((candidate) => candidate.name() === subverb) ?? command;
}
