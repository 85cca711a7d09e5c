/** Mistyped options of `contracts add`: each is refused by its name before anything is stored. */

import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

const scratch = scratchOfFile();
const ADDRESS = '0x83f20f44975d03b1b09e64809b757c47f942beea';
const ABI = [
  { type: 'event', name: 'Deposit', inputs: [{ name: 'owner', type: 'address', indexed: true }] },
  { type: 'event', name: 'Quiet', inputs: [], anonymous: true },
  {
    type: 'function',
    name: 'deposit',
    inputs: [{ name: 'assets', type: 'uint256' }],
    stateMutability: 'payable',
  },
  { type: 'function', name: 'total', inputs: [], stateMutability: 'view' },
];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contracts-command-'));
  await writeFile(join(folder, 'abi.json'), JSON.stringify(ABI));
  await writeFile(join(folder, 'text.json'), '[{]');
  await writeFile(join(folder, 'large.json'), '[]');
  await truncate(join(folder, 'large.json'), 10 * 1024 * 1024 + 1);
});
afterAll(() => rm(folder, { recursive: true }));

const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  runCaptured(['contracts', ...args], { DATABASE_URL: scratch.url, ...environment });
const add = (options: readonly string[], environment?: Readonly<Record<string, string>>) =>
  run(['add', 'vault', '--chain', 'eth', ...options], environment);
const file = (name = 'abi.json') => ['--abi', join(folder, name)];
const address = ['--address', ADDRESS];
const factory = ['--factory', ADDRESS, '--event', 'Made(address pair)', '--child', 'pair'];

describe('options are refused', () => {
  test.each<readonly [string, readonly string[]]>([
    ['--address is missing', []],
    ['--address 0x12 is not an address', ['--address', '0x12']],
    [`--address ${ADDRESS}0 is not an address`, ['--address', `${ADDRESS},${ADDRESS}0`]],
    ['--address vitalik.eth is not an address', ['--address', 'vitalik.eth']],
    ['--child needs --factory', [...address, '--child', 'pair']],
    ['--address and --factory exclude each other', [...address, ...factory]],
    ['--factory needs --event and --child', ['--factory', ADDRESS, '--child', 'pair']],
    ['--factory needs --event and --child', ['--factory', ADDRESS, '--event', 'Made(address pair)']],
    ['--factory needs --event and --child', [...factory, '--event', 'Gone(address pair)']],
    ['--factory 0xfa is not an address', ['--factory', '0xfa', ...factory.slice(2)]],
    ['--from 0x10 is not a block number', [...address, '--from', '0x10']],
    ['--from -1 is not a block number', [...address, '--from=-1']],
    ['--from 1e6 is not a block number', [...address, '--from', '1e6']],
    ['--upgrade 100 is not the place of a log', [...address, '--upgrade', '100']],
    ['--upgrade 100:-1 is not the place of a log', [...address, '--upgrade', '100:-1']],
    ['--implementation 0x12 is not an address', [...address, '--implementation', '0x12']],
    ['--upgrade 0x64:1 is not the place of a log', [...address, '--upgrade', '0x64:1']],
  ])('%s %j', async (message, options) => {
    const outcome = await add([...file(), ...options]);
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('for a file of 10 MB, one that is no JSON, and one that does not exist', async () => {
    const refusals = await Promise.all(
      ['large.json', 'text.json', 'none.json'].map((name) => add([...file(name), ...address])),
    );
    expect(
      refusals.map(({ exitCode, stderr }) => [exitCode, stderr.replaceAll(folder, '').split('\n')[0]]),
    ).toEqual([
      [2, expect.stringContaining('--abi /large.json has 10485761 bytes')],
      [2, expect.stringContaining('--abi /text.json is not JSON: ')],
      [2, expect.stringContaining("--abi /none.json can't be read: ENOENT")],
    ]);
  });

  test('for an unknown chain, calls without transactions, and implementations of children or with a place', async () => {
    const moon = await run(['add', 'vault', '--chain', 'moon', ...file(), ...address]);
    expect(moon.stderr).toContain('--chain moon is not a known chain');
    const calls = await add([...file(), ...address, '--calls'], { CHAINS: 'eth' });
    const implementation = ['--implementation', ADDRESS];
    const both = await add([...file(), ...address, ...implementation, '--upgrade', '100:1']);
    expect([both.exitCode, both.stderr]).toEqual([
      ...[1, expect.stringContaining('--implementation and --upgrade exclude each other. Leave one of them out')],
    ]);
    const children = await add([...file(), ...factory, ...implementation]);
    expect([children.exitCode, children.stderr]).toEqual([
      1,
      expect.stringContaining(
        'vault has a factory, and implementations of its children are not known. Leave --implementation out, or add the children by their addresses',
      ),
    ]);
    expect([moon.exitCode, calls.exitCode]).toEqual([2, 1]);
    expect(calls.stderr).toContain('Set TRANSACTIONS_ETH=all, or leave --calls out');
    expect(await scratch.database.query(sql`SELECT FROM contract_definitions`)).toEqual([]);
  });
});

test('a chain that is not in CHAINS is a warning, and refused with --strict', async () => {
  const strict = await add([...file(), ...address, '--strict']);
  expect([strict.exitCode, strict.stderr]).toEqual([2, expect.stringContaining('eth is not in CHAINS')]);
  expect(await scratch.database.query(sql`SELECT FROM contract_definitions`)).toEqual([]);
  const added = await run(['add', 'doubted', '--chain', 'eth', ...file(), ...address]);
  expect([added.exitCode, added.stderr]).toEqual([0, expect.stringContaining('Warning: eth is not in CHAINS')]);
  expect((await run(['remove', 'doubted', '--chain', 'eth'])).exitCode).toBe(0);
});

test('events, anonymous ones and calls get tables', async () => {
  const added = await add([...file(), ...address, '--calls'], { CHAINS: 'eth', TRANSACTIONS_ETH: 'all' });
  expect(added).toMatchObject({ exitCode: 0 });
  expect(added.stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['table', 'signature', 'parameters'],
    ['contracts.vault_deposit', 'Deposit(address)', '1'],
    ['contracts.vault_quiet', 'Quiet()', '0'],
    ['contracts.vault_deposit_call', 'deposit(uint256)', '1'],
    ['Running servers index it within seconds. "chainstead contracts status" shows the progress.'],
    [''],
  ]);
  const listed: { events: unknown }[] = JSON.parse((await run(['list', '--json'])).stdout);
  expect(listed[0]?.events).toMatchObject([
    { event: 'deposit', kind: 'event' },
    { event: 'quiet', kind: 'event', columns: [] },
    {
      event: 'deposit_call',
      kind: 'call',
      columns: [{ name: 'sender' }, {}, {}, { name: 'assets', type: 'numeric' }],
    },
  ]);
});

test('an implementation gets a table of the logs that name it', async () => {
  const added = await run(['add', 'proxy', '--chain', 'eth', ...file(), ...address, '--implementation', ADDRESS]);
  expect(added).toMatchObject({ exitCode: 0 });
  expect(added.stdout).toMatch(/contracts\.proxy_upgraded +Upgraded\(address\) +1/);
});
