/** Token facts that the logs of followed blocks make due. */
import { type Address, type Hash, type Log, parseAddress } from '@chainstead/core';
import { addressBytes, hexText, sql } from '@chainstead/db';
import type { WatchedBlock } from '@chainstead/sync';
import { addressOf, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { createProxiesWatcher } from './create-proxies-watcher.ts';

const scratch = scratchOfFile();
const chain = exampleChain();
const watcher = createProxiesWatcher();
const [TOKEN, BEACON, BEHIND_BEACON, OTHER] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)];
const UPGRADED = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';
const BEACON_UPGRADED = '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e';
const INITIALIZED_8 = '0x7f26b83ff96e1f2b6a682f133852f6798a09c465da95921460cefb3847402498';
const INITIALIZED_64 = '0xc7f505b2f371ae2175ee4913f4499e1f2633a7b5936321eed1cdaeb6115181d2';

beforeEach(async () => {
  const { database } = scratch;
  await database.query(sql`TRUNCATE tokens, contract_implementations`);
  await database.query(
    sql`INSERT INTO tokens (address, chain_id, facts_status, facts_due_at, decimals)
     SELECT address, chain, 'known', NULL, 0 FROM unnest(${[TOKEN, BEHIND_BEACON, OTHER].map(addressBytes)}::bytea[]) AS address, unnest(${[chain.id, chain.id + 1]}::bigint[]) AS chain`,
  );
  await database.query(
    sql`INSERT INTO contract_implementations (proxy, chain_id, selector, from_block, implementation, beacon, known_by) VALUES (${addressBytes(BEHIND_BEACON)}, ${chain.id}, '', 1, ${addressBytes(OTHER)}, ${addressBytes(BEACON)}, 'eip-1967-beacon')`,
  );
});

/** Commits blocks in which contracts emit logs. */
async function commit(...blocks: readonly (readonly [number, Address, string])[]): Promise<void> {
  const watched = blocks.map(([number, address, topic]) => ({
    header: { number },
    logs: [{ address, topics: [topic as Hash] } as unknown as Log],
  }));
  await scratch.database.transaction((transaction) =>
    watcher.committed(transaction, chain, watched as unknown as readonly WatchedBlock[]),
  );
}

const rollBack = (ancestor: number) =>
  scratch.database.transaction((transaction) => watcher.rolledBack(transaction, chain, ancestor));

/** Returns the due tokens of the chain with the block from which on their facts are read. */
async function due(): Promise<readonly (readonly [Address, number | null])[]> {
  const rows = await scratch.database.query<{ address: Address; block: number | null; chainId: number }>(
    sql`SELECT ${hexText('address')} AS address, facts_from_block AS block, chain_id FROM tokens WHERE facts_due_at <= now() ORDER BY address`,
  );
  expect(rows.every(({ chainId: id }) => id === chain.id)).toBe(true);
  return rows.map(({ address, block }) => [parseAddress(address), block]);
}

test.each([UPGRADED, BEACON_UPGRADED, INITIALIZED_8, INITIALIZED_64])(
  'log %s makes the facts of its contract due',
  async (topic) => {
    await commit([10, TOKEN, topic], [11, addressOf(99), topic]);
    expect(await due()).toEqual([[TOKEN, 10]]);
  },
);

test('an upgrade of a beacon makes the facts of its proxies due', async () => {
  await commit([10, BEACON, UPGRADED]);
  expect(await due()).toEqual([[BEHIND_BEACON, 10]]);
});

test('a reorg makes the facts due again that abandoned blocks changed', async () => {
  await commit([10, OTHER, UPGRADED], [12, TOKEN, INITIALIZED_64], [13, TOKEN, UPGRADED]);
  expect(await due()).toEqual([
    [TOKEN, 13],
    [OTHER, 10],
  ]);
  await scratch.database.query(sql`UPDATE tokens SET facts_due_at = NULL`);
  await rollBack(13);
  expect(await due()).toEqual([]);
  await rollBack(12);
  expect(await due()).toEqual([[TOKEN, 12]]);
});
