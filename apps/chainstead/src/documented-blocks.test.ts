/** Code blocks of all pages: SQL runs against a migrated database, settings are parsed, commands run here or in the test that is named. */

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@chainstead/core';
import { rawSql } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createProgram } from './command-line.ts';
import { environmentSource, parseConfiguration } from './configuration/index.ts';
import { runCaptured } from './testing/captured-context.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Block {
  readonly page: string;
  readonly language: string;
  readonly code: string;
}

/** All fenced blocks with a language. */
const BLOCKS: readonly Block[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
].flatMap((page) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```/gm)].map(
    ([, indent = '', language = '', code = '']) => ({
      page,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  ),
);

function blocksOf(language: string): readonly Block[] {
  return BLOCKS.filter((block) => block.language === language);
}

/** Pages whose SQL needs other roles, servers or data than one migrated database, with the test that runs it. */
const SQL_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/api/sql-examples.md': 'apps/chainstead/src/datasets/analytics/analytics.test.ts',
  'docs/concepts/contracts.md': 'packages/assets/contracts/src/definitions/add-contract.test.ts',
  'docs/operate/citus.md': 'tests/acceptance/src/distribute-command.nightly.test.ts',
  'docs/operate/export.md': 'packages/products/lake/src/export/export-table.test.ts',
  'docs/operate/replicate.md': 'tests/acceptance/src/replication.system.test.ts',
  'docs/operate/upgrade.md': `tests/acceptance/src/pages/operate.system.test.ts`,
};

const FOLLOWED = 'tests/acceptance/src/pages';
/** Pages that a test follows in a new shell, step by step: it fails if it leaves one out without a reason. */
const FOLLOWED_PAGES: Readonly<Record<string, string>> = {
  'docs/start/first-chain.md': `${FOLLOWED}/start.system.test.ts`,
  'docs/start/analysts.md': `${FOLLOWED}/start.system.test.ts`,
  'docs/start/first-webhook.md': `${FOLLOWED}/first-webhook.system.test.ts`,
  'docs/start/own-contract.md': `${FOLLOWED}/own-contract.system.test.ts`,
  'docs/start/production.md': `${FOLLOWED}/production.system.test.ts`,
  'docs/start/demo.md': `tests/acceptance/src/demo.system.test.ts`,
  'docs/operate/install.md': `${FOLLOWED}/operate.system.test.ts`,
  'docs/operate/backup.md': `${FOLLOWED}/operate.system.test.ts`,
  'docs/operate/upgrade.md': `${FOLLOWED}/operate.system.test.ts`,
};

/** Beginnings of commands that need more than a database, with the file that runs them or the nearest thing that a test can run. */
const COMMANDS_ELSEWHERE: Readonly<Record<string, string>> = {
  'git clone': '.ci/run',
  'cd chainstead': '.ci/run',
  'npm ci': '.ci/run',
  'npm test': '.ci/run',
  'npm run demo': 'tests/acceptance/src/demo.system.test.ts',
  'npm run bench': 'bench/src/run.ts',
  'npm run simulate': 'tests/simulation/src/main.ts',
  'npx chainstead contracts add': 'tests/acceptance/src/contracts-devnet.system.test.ts',
  'npx chainstead export parquet': 'apps/chainstead/src/commands/export-parquet.system.test.ts',
  'npx chainstead psql': 'apps/chainstead/src/commands/psql.system.test.ts',
  'npx chainstead doctor --plan': 'apps/chainstead/src/commands/doctor-plan.system.test.ts',
  'npx chainstead backfill': 'tests/acceptance/src/backfill-command.system.test.ts',
  'npx chainstead verify': 'tests/acceptance/src/verify-command.system.test.ts',
  'npx chainstead reindex': 'tests/acceptance/src/reindex-command.system.test.ts',
  'npx chainstead chains remove': 'apps/chainstead/src/commands/chains.system.test.ts',
  'npx chainstead doctor': 'apps/chainstead/src/commands/doctor.system.test.ts',
  'npx chainstead distribute': 'tests/acceptance/src/distribute-command.nightly.test.ts',
  'npx chainstead provision': 'tests/acceptance/src/pages/production.system.test.ts',
  'npx chainstead import abi': 'apps/chainstead/src/lists/import-abis.system.test.ts',
  'npx chainstead import signatures': 'apps/chainstead/src/lists/import-abis.system.test.ts',
  'npx chainstead import': 'apps/chainstead/src/documentation.test.ts',
  'docker compose': 'apps/chainstead/src/docker.test.ts',
  // Its endpoints are served; those of tutorials are requested by their tests.
  curl: 'apps/chainstead/src/documentation.test.ts',
  'PROVIDER_KEY=… CHAINSTEAD_KEY=… node compare.mjs': 'apps/chainstead/src/documentation.test.ts',
  'npm install moralis': 'packages/products/streams/src/routes/official-sdk.test.ts',
  'CHAINSTEAD_KEY=… node streams.mjs': 'packages/products/streams/src/routes/official-sdk.test.ts',
  psql: 'tests/acceptance/src/documented-psql.system.test.ts',
  'systemctl reload': 'tests/acceptance/src/several-processes.nightly.test.ts',
};

/** Commands of `sh` and `bash` blocks, with lines that end in `\` or within quotes joined and comments removed. */
const COMMANDS = [
  ...new Set(
    [...blocksOf('sh'), ...blocksOf('bash')]
      .filter(({ page }) => !(page in FOLLOWED_PAGES))
      .flatMap(({ code }) =>
        code
          .replaceAll(/\\\n\s*/g, '')
          .replaceAll(/'[^']*'/g, (quoted) => quoted.replaceAll('\n', ' '))
          .split('\n')
          .map((line) => line.replace(/ +# .*$/, ''))
          .filter((line) => line !== ''),
      ),
  ),
];
/** Settings that a documented one may depend on. */
const NEEDED = { CHAINS: 'eth', DATABASE_URL: 'postgres://127.0.0.1/chainstead' };
const SETTINGS = /^(?:export )?([A-Z_]+=\S+ ?)+(?:npm start)?$/;

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

describe('code blocks of the documentation', () => {
  const statements = blocksOf('sql').filter(({ page }) => !(page in SQL_ELSEWHERE));
  it.each(statements)('$page: the SQL $code runs', async ({ code }) => {
    await expect(scratch.database.query(rawSql(code))).resolves.toBeDefined();
  });

  const json = blocksOf('json');
  it.each(json)('$page: the JSON $code is valid without its ellipses', ({ code }) => {
    expect(() => JSON.parse(code.replaceAll(/, …/g, ''))).not.toThrow();
  });

  it('have only settings that are valid', () => {
    const lines = COMMANDS.filter((line) => SETTINGS.test(line));
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      const variables = Object.fromEntries(
        [...line.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, key, value]) => [key, value]),
      );
      // Keys of an administrator's shell are not the program's.
      delete variables.DATABASE_SUPERUSER_URL;
      expect(() => parseConfiguration([environmentSource({ ...NEEDED, ...variables })]), line).not.toThrow();
    }
  });

  const commands = COMMANDS.filter((line) => !SETTINGS.test(line));
  const here = commands.filter((line) =>
    Object.keys(COMMANDS_ELSEWHERE).every((start) => !line.startsWith(start)),
  );
  it.each(here)('%s works', async (line) => {
    expect(line).toMatch(/^npx chainstead /);
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).slice(2).map((word) => word.replaceAll('"', ''));
    const { exitCode, stderr } = await runCaptured(words, { DATABASE_URL: scratch.url });
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('error')]);
  });

  it.each(blocksOf('ini'))('$page: the unit of systemd starts the program and reloads it', async ({ code }) => {
    const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(code)?.[1] ?? '';
    const [program = '', ...words] = setting('ExecStart').split(' ');
    expect(program.startsWith(`${setting('WorkingDirectory')}/node_modules/.bin/`)).toBe(true);
    const installed = join(ROOT, 'node_modules/.bin', program.slice(program.lastIndexOf('/') + 1));
    accessSync(installed, constants.X_OK);
    expect(words.slice(0, -1)).toEqual(['--config', expect.stringMatching(/^\/etc\/\S+$/)]);
    const silent = { write: () => true };
    const { commands, options } = createProgram({
      ...{ environment: {}, stdout: silent, stderr: silent, clock: systemClock },
      stopSignal: new AbortController().signal,
    });
    expect(options.map(({ long }) => long)).toContain('--config');
    expect(commands.map((command) => command.name())).toContain(words.at(-1));
    expect([setting('ExecReload'), setting('WantedBy')]).toEqual([
      '/bin/kill -HUP $MAINPID',
      'multi-user.target',
    ]);

    const folder = await mkdtemp(join(tmpdir(), 'chainstead-unit-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const unit = join(folder, 'chainstead.service');
    await writeFile(unit, code.replace(program, installed));
    const { error, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    if (error === undefined) expect(stderr).not.toContain(unit);
    else
      process.stdout.write(
        "NOT RUN: systemd-analyze on the documented unit (Debian's systemd is not on this machine)\n",
      );
  });

  it('of tutorials are followed by a test', () => {
    const tutorials = readdirSync(join(ROOT, 'docs/start')).map((name) => `docs/start/${name}`);
    expect(tutorials.filter((page) => !(page in FOLLOWED_PAGES))).toEqual([]);
  });

  it('that run elsewhere are still there, with the files that run them', () => {
    const unused = Object.keys(COMMANDS_ELSEWHERE).filter((start) =>
      commands.every((line) => !line.startsWith(start)),
    );
    const pages = Object.keys(SQL_ELSEWHERE).filter((page) =>
      blocksOf('sql').every((block) => block.page !== page),
    );
    const files = [COMMANDS_ELSEWHERE, SQL_ELSEWHERE, FOLLOWED_PAGES].flatMap((named) => Object.values(named));
    expect([unused, pages, files.filter((path) => !existsSync(join(ROOT, path)))]).toEqual([[], [], []]);
  });
});
