import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, it, test } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { runCaptured } from '../testing/captured-context.ts';
import { withStoredChains } from './chain-session.ts';

const scratch = scratchOfFile();

beforeAll(async () => {
  await scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, updated_at)
     VALUES (31337, 'devnet', 0, 0, now() - interval '1 hour'), (31338, 'devnet', 0, 0, now()), (777777, 'ours', 0, 0, now()),
       (1, 'eth', 0, 0, now()), (888888, NULL, 0, 0, now()), (1337, 'base', 0, 0, now())`,
  );
});

const registryOf = async (environment: Readonly<Record<string, string>>) => {
  const { configuration } = parseConfiguration([environmentSource(environment)], { needsUpstreams: false });
  return (await withStoredChains(scratch.database, configuration)).chainRegistry;
};

it.each<[string | number, readonly [string, number] | null]>([
  ['ours', ['ours', 777_777]],
  ['OURS', ['ours', 777_777]],
  ['777777', ['ours', 777_777]],
  ['0xbde31', ['ours', 777_777]],
  [31_337, ['devnet', 31_337]],
  // The newer one of two with the same name.
  ['devnet', ['devnet', 31_338]],
  ['eth', ['eth', 1]],
  // A known name under another ID: known chains come first, and the ID finds the stored one.
  ['base', ['base', 8_453]],
  [1_337, ['base', 1_337]],
  // Never ingested, and without a name.
  ['polygon', ['polygon', 137]],
  [888_888, null],
  ['nowhere', null],
])('%s is the chain %j, without CHAINS', async (given, expected) => {
  const chain = (await registryOf({})).find(given);
  expect(chain === null ? null : [chain.key, chain.id]).toEqual(expected);
});

it('prefers configured chains', async () => {
  const registry = await registryOf({ CHAINS: 'mine', CHAIN_ID_MINE: '31337', REORG_DEPTH_MAX_MINE: '99' });
  expect(registry.get(31_337)).toMatchObject({ key: 'mine', reorgDepthMax: 99 });
  expect(registry.find('devnet')?.id).toBe(31_338);
  expect(() => registry.get('nowhere')).toThrow('There is no chain "nowhere"');
  const ids: readonly number[] = registry.all().map(({ id }) => id);
  expect([1, 31_337, 31_338, 777_777, 1_337].filter((id) => !ids.includes(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('contracts are added to a chain of the database, without CHAINS', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stored-chains-'));
  const abi = join(folder, 'Vault.json');
  await writeFile(abi, JSON.stringify([{ type: 'event', name: 'Used', inputs: [] }]));
  const address = `0x${'c0'.repeat(20)}`;
  const run = (...args: readonly string[]) => runCaptured(['contracts', ...args], { DATABASE_URL: scratch.url });
  try {
    const added = await run('add', 'vault', '--chain', 'ours', '--abi', abi, '--address', address);
    expect([added.exitCode, added.stdout]).toEqual([0, expect.stringContaining('contracts.vault_used')]);
    const [listed] = JSON.parse((await run('list', '--json')).stdout);
    expect(listed).toMatchObject({ name: 'vault', chain: 'ours', chain_id: 777_777 });
    const unknown = await run('remove', 'vault', '--chain', 'nowhere');
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('--chain nowhere is not a known'),
    ]);
    expect((await run('remove', 'vault', '--chain', '777777')).exitCode).toBe(0);
  } finally {
    await rm(folder, { recursive: true });
  }
});
