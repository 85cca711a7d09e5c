/** Contracts of factories on a real node: rows equal logs and calls of children, from the log on that names them, as viem decodes them. */
import type { Address, Hex } from '@chainstead/core';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { encodeFunctionData } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import {
  countRows,
  expectManyChildren,
  FACTORIES_SOURCE,
  factoriesOn,
  WITH_TRANSACTIONS,
} from './contract-factories.ts';
import { openContractsStage } from './contracts-stage.ts';

const stage = stageOfFile(() => openContractsStage(31_447, FACTORIES_SOURCE, WITH_TRANSACTIONS));
const { add, addHubs, childOf, expectEqual } = factoriesOn(stage);

/** Children that are created while blocks are followed. The nightly test has ten times as many. */
const [HUBS, POOLS_PER_HUB] = [5, 100];

const dataOf = (name: 'Hub' | 'Pool', functionName: string, ...args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: stage.contractOf(name).abi, functionName, args });

/** Calls a pool before and after the transaction that names it, in one block. */
async function nameWithinBlock(hub: Address, pool: Address, number: bigint): Promise<void> {
  await sendInOneBlock([
    { to: pool, data: dataOf('Pool', 'ping', number) },
    { to: hub, data: dataOf('Hub', 'adopt', pool, number + 1n) },
    { to: pool, data: dataOf('Pool', 'ping', number + 2n) },
  ]);
}

/** Sends transactions, in order, into one block. */
async function sendInOneBlock(calls: readonly { readonly to: Address; readonly data: Hex }[]): Promise<void> {
  const { client, accounts } = stage.devnet;
  const [account] = accounts;
  if (account === undefined) throw new Error('The devnet has no accounts');
  await client.setAutomine(false);
  for (const call of calls) await client.sendTransaction({ ...call, account, gas: 1_000_000n, chain: null });
  await client.mine({ blocks: 1 });
  await client.setAutomine(true);
}

let root: Address;
let otherRoot: Address;
let hub: Address;
/** Neither a child of a factory, nor are its pools. */
let strangeHub: Address;
let strangePool: Address;
let program: ReturnType<typeof stage.start>;

beforeAll(async () => {
  const { devnet } = stage;
  root = await devnet.deploy(stage.contractOf('Root'));
  otherRoot = await devnet.deploy(stage.contractOf('Root'));
  strangeHub = await devnet.deploy(stage.contractOf('Hub'));
  strangePool = await devnet.deploy(stage.contractOf('Pool'));
  await stage.send('Root', root, 'open', 1n);
  hub = await childOf(root);
  await stage.send('Root', otherRoot, 'open', 1_000n);
  await stage.send('Root', root, 'garbage');
  await stage.send('Hub', strangeHub, 'create', 5n);
  await stage.send('Hub', hub, 'create', 7n);
  const pool = await childOf(hub);
  await stage.send('Hub', hub, 'adopt', pool, 9n);
  await stage.send('Pool', strangePool, 'ping', 11n);
  await stage.send('Pool', pool, 'ping', 12n);
  await nameWithinBlock(hub, await devnet.deploy(stage.contractOf('Pool')), 13n);
  await devnet.mine(80);
  program = stage.start('contract-factories', WITH_TRANSACTIONS);
  await program.url;
});

test('have all events and calls of their children, and no other ones, if they were created earlier', async () => {
  expect(await add(root)).toMatch(/contracts\.hubs_hub_created +HubCreated\(address\) +1/);
  const backfilled = await expectEqual([root], 20);
  // The opened hub has its second pool alone, which it created after it was named. Pings count after the first naming.
  expect(countRows(backfilled)).toEqual({
    hubs_hub_created: 2,
    hubs_pool_created: 4,
    pools_pool_created: 4,
    pools_ping: 5 + 2,
    pools_ping_call: 1 + 1,
  });
});

test('have those of children that are created later, until a reorg removes the log that names a child', async () => {
  const { devnet } = stage;
  await stage.send('Root', root, 'open', 20n);
  await stage.send('Hub', hub, 'create', 30n);
  await stage.send('Hub', strangeHub, 'create', 40n);
  await nameWithinBlock(hub, await devnet.deploy(stage.contractOf('Pool')), 43n);
  expect((await expectEqual([root])).pools_ping_call?.map((row) => row.split(' ').at(-1))).toEqual([
    '12',
    '15',
    '45',
  ]);

  await stage.send('Hub', hub, 'adopt', strangePool, 50n);
  await stage.send('Pool', strangePool, 'ping', 60n);
  expect((await expectEqual([root])).pools_ping?.filter((row) => row.includes(strangePool))).toHaveLength(2);
  const ping = dataOf('Pool', 'ping', 70n);
  await devnet.reorg(2, [[{ from: devnet.accounts[0], to: strangePool, gas: '0x100000', data: ping }, 1]]);
  await devnet.mine(2);
  const reorged = await expectEqual([root]);
  expect(reorged.pools_ping?.filter((row) => row.includes(strangePool))).toEqual([]);
  expect(reorged.pools_ping_call).toHaveLength(3);
});

test('have those of further factories', async () => {
  await addHubs(otherRoot);
  await stage.send('Root', otherRoot, 'open', 2_000n);
  await expectEqual([root, otherRoot], 20);
  expect((await program.stop()).code).toBe(0);
});

test('have hundreds of children, created while blocks are followed', async () => {
  await expectManyChildren(stage, HUBS, POOLS_PER_HUB);
});
