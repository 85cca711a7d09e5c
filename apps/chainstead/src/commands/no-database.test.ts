/** In a folder without settings and database: only start, demo and migrate create one. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@chainstead/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createProgram } from '../command-line.ts';
import { runCaptured } from '../testing/captured-context.ts';

const TOKEN = `0x${'11'.repeat(20)}`;
const BLOCKS = '--chain eth --from 1 --to 2';
/** Commands that need a database, with arguments that are valid. */
const REFUSED: readonly string[] = [
  'doctor --upgrade',
  'status',
  'psql --url',
  'gaps',
  'chains list',
  'chains remove eth --yes',
  `contracts add shop --chain eth --address ${TOKEN} --abi {abi} --from 1`,
  'contracts apply {contracts}',
  'contracts list',
  'contracts status',
  'contracts resume shop --chain eth',
  'contracts remove shop --chain eth',
  `backfill ${BLOCKS}`,
  `reindex ${BLOCKS}`,
  `verify ${BLOCKS}`,
  'jobs list',
  'jobs cancel 00000000-0000-4000-8000-000000000000',
  'jobs retry work',
  `verify-balances --chain eth --wallet ${TOKEN}`,
  `explain-price --chain eth --token ${TOKEN}`,
  'indexes',
  'distribute',
  'import abi {abi}',
  'import signatures {lists}',
  'export parquet --table transfers --chain eth --from 1 --out {out}',
  'export aptos-coins {out}',
  'reviews list',
  'reviews apply',
  `tokens refresh ${TOKEN} --chain eth`,
  'keys create --name app',
  'keys list',
  'keys scope 1f0c2ab9 --scope data',
  'keys revoke 1f0c2ab9',
  'keys usage',
];
/** Commands that work without one, or never open one. */
const OTHERS = ['provision', 'config validate', 'config print', 'doctor', 'verify-price', 'record', 'mcp'];
const CREATING = ['start', 'demo', 'migrate'];

let folder: string;
const place = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-none-'));
  // No demo of this machine is found.
  vi.stubEnv('TMPDIR', folder);
  await writeFile(place('abi'), '[{"type":"event","name":"Sold","inputs":[]}]');
  await writeFile(place('lists'), '[]');
  await writeFile(place('contracts'), '[]');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const run = (line: string) =>
  runCaptured(
    line.split(' ').map((part) => part.replace(/^\{(\w+)\}$/, (_all, name: string) => place(name))),
    { CHAINS: 'eth', RPC_URLS_ETH: 'http://127.0.0.1:1', DATA_DIR: place('data') },
    folder,
  );

describe('a folder without a database', () => {
  it.each(REFUSED)('is refused by %s', async (line) => {
    const { exitCode, stderr } = await run(line);
    expect(stderr).toContain(`There is no database in ${place('data')} yet`);
    expect(stderr).toMatch(/Only "chainstead start" and "chainstead migrate" create one/);
    expect(exitCode).toBe(2);
    expect(existsSync(place('data'))).toBe(false);
  });

  it('is tried with every command', () => {
    const quiet = { write: () => true };
    const stopSignal = new AbortController().signal;
    const program = createProgram({
      environment: {},
      stdout: quiet,
      stderr: quiet,
      clock: systemClock,
      stopSignal,
    });
    const all = program.commands.flatMap((command) =>
      command.commands.length === 0
        ? [command.name()]
        : command.commands.map((subcommand) => `${command.name()} ${subcommand.name()}`),
    );
    const known = (name: string): boolean =>
      [...OTHERS, ...CREATING].includes(name) || REFUSED.some((line) => `${line} `.startsWith(`${name} `));
    expect(all.filter((name) => !known(name))).toEqual([]);
  });

  it.each(['provision', 'config validate', 'config print', 'doctor'])(
    'stays without one after %s',
    async (line) => {
      await run(line);
      expect(existsSync(place('data'))).toBe(false);
    },
  );
});
