/** Contracts of factories on a real node: rows equal the logs of children, from the log on that names them, as viem decodes them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, parseAddress } from '@chainstead/core';
import { type CompiledContract, compileSolidity, startProgram } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { encodeFunctionData, parseAbiItem } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDevnetProgramStage } from './devnet-program.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Pool {
  event Ping(uint256 indexed number, address by);
  function ping(uint256 number) external { emit Ping(number, msg.sender); }
}
contract Hub {
  event PoolCreated(uint256 indexed salt, address pool);
  function create(uint256 salt) external {
    Pool pool = new Pool();
    adopt(pool, salt);
  }
  function adopt(Pool pool, uint256 salt) public {
    pool.ping(salt);
    emit PoolCreated(salt, address(pool));
    pool.ping(salt + 1);
  }
}
contract Root {
  event HubCreated(address indexed hub);
  function open(uint256 salt) external {
    Hub hub = new Hub();
    hub.create(salt);
    emit HubCreated(address(hub));
    hub.create(salt + 100);
  }
  function garbage() external { emit HubCreated(address(0)); }
}`;

const CHAIN_ID = 31_447;
const stage = stageOfFile(() => openDevnetProgramStage(CHAIN_ID));
let folder: string;
let contracts: Record<'Pool' | 'Hub' | 'Root', CompiledContract>;

const HUB_CREATED = parseAbiItem('event HubCreated(address indexed hub)');
const POOL_CREATED = parseAbiItem('event PoolCreated(uint256 indexed salt, address pool)');
const PING = parseAbiItem('event Ping(uint256 indexed number, address by)');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contract-factories-'));
  const compiled = await compileSolidity({ 'Root.sol': SOURCE });
  const of = (name: string) => {
    const found = compiled.get(name);
    if (found === undefined) throw new Error(`${name} was not compiled`);
    return found;
  };
  contracts = { Pool: of('Pool'), Hub: of('Hub'), Root: of('Root') };
  for (const name of ['Pool', 'Hub'] as const)
    await writeFile(join(folder, `${name}.json`), JSON.stringify(contracts[name].abi));
});
afterAll(() => rm(folder, { recursive: true }));

async function run(...args: readonly string[]): Promise<string> {
  const environment = {
    ...{ DATABASE_URL: stage.scratch.url, CHAINS: 'devnet', CHAIN_ID_DEVNET: String(CHAIN_ID) },
    ...{ RPC_URLS_DEVNET: stage.devnet.url, LOG_LEVEL: 'warn' },
  };
  const program = startProgram(['contracts', ...args], { environment });
  expect(await program.exited, program.output()).toBe(0);
  return program.output();
}

const addHubs = (...roots: readonly Address[]) =>
  run(
    ...['add', 'hubs', '--chain', 'devnet', '--abi', join(folder, 'Hub.json'), '--factory', roots.join(',')],
    ...['--event', 'HubCreated(address indexed hub)', '--child', 'hub'],
  );
const addPools = () =>
  run(
    ...['add', 'pools', '--chain', 'devnet', '--abi', join(folder, 'Pool.json'), '--factory', 'hubs'],
    ...['--event', 'PoolCreated(uint256 indexed salt, address pool)', '--child', 'pool'],
  );

const send = (name: 'Pool' | 'Hub' | 'Root', address: Address, functionName: string, ...args: readonly unknown[]) =>
  stage.devnet.send({ address, abi: contracts[name].abi, functionName, args });

/** Rows by table: block, log, emitter and values. */
type Rows = Readonly<Record<string, readonly string[]>>;

/** All logs of the node, decoded by viem, with the children that are known at each log. */
async function rowsOfNode(roots: readonly Address[]): Promise<Rows> {
  const { client } = stage.devnet;
  const logs = await client.getLogs({ events: [HUB_CREATED, POOL_CREATED, PING], fromBlock: 0n, strict: true });
  const [hubs, pools] = [new Set<string>(), new Set<string>()];
  const rows = { hubs_hub_created: [], hubs_pool_created: [], pools_pool_created: [], pools_ping: [] } as Record<
    string,
    string[]
  >;
  for (const log of logs) {
    const emitter = log.address.toLowerCase();
    const row = [log.blockNumber, log.logIndex, emitter, ...Object.values(log.args)]
      .map(String)
      .join(' ')
      .toLowerCase();
    if (log.eventName === 'HubCreated' && roots.some((root) => root === emitter)) {
      rows.hubs_hub_created?.push(row);
      hubs.add(log.args.hub.toLowerCase());
    } else if (log.eventName === 'PoolCreated' && hubs.has(emitter)) {
      rows.hubs_pool_created?.push(row);
      rows.pools_pool_created?.push(row);
      pools.add(log.args.pool.toLowerCase());
    } else if (log.eventName === 'Ping' && pools.has(emitter)) rows.pools_ping?.push(row);
  }
  return rows;
}

async function storedRows(): Promise<Rows> {
  const columns = {
    hubs_hub_created: 'hub',
    hubs_pool_created: 'salt, pool',
    pools_pool_created: 'salt, pool',
    pools_ping: 'number, by',
  };
  const tables: [string, readonly string[]][] = [];
  for (const [table, values] of Object.entries(columns)) {
    const rows = await stage.scratch.database.query<{ row: string }>(
      `SELECT concat_ws(' ', block_number, log_index, contract, ${values}) AS row
         FROM analytics.contract_${table} ORDER BY block_number, log_index`,
    );
    tables.push([table, rows.map(({ row }) => row)]);
  }
  return Object.fromEntries(tables);
}

/** Waits for equal rows. @param mined blocks mined before each look, so that earlier ones become final */
async function expectEqual(roots: readonly Address[], mined = 0): Promise<Rows> {
  await vi.waitFor(
    async () => {
      if (mined > 0) await stage.devnet.mine(mined);
      expect(await storedRows()).toEqual(await rowsOfNode(roots));
    },
    { timeout: 120_000, interval: 300 },
  );
  return storedRows();
}

async function childOf(factory: Address): Promise<Address> {
  const logs = await stage.devnet.client.getLogs({ address: factory, fromBlock: 0n });
  const last = logs.at(-1);
  const word = last?.topics.length === 2 && last.data === '0x' ? last.topics[1] : last?.data;
  return parseAddress(`0x${word?.slice(-40)}`);
}

test('have all events of their children, and no other ones, in any order of reading', {
  timeout: 300_000,
}, async () => {
  const { devnet } = stage;
  const [root, otherRoot] = [await devnet.deploy(contracts.Root), await devnet.deploy(contracts.Root)];
  // Neither a child of a factory, nor are its pools.
  const [strangeHub, strangePool] = [await devnet.deploy(contracts.Hub), await devnet.deploy(contracts.Pool)];
  await send('Root', root, 'open', 1n);
  const hub = await childOf(root);
  await send('Root', otherRoot, 'open', 1_000n);
  await send('Root', root, 'garbage');
  await send('Hub', strangeHub, 'create', 5n);
  await send('Hub', hub, 'create', 7n);
  const pool = await childOf(hub);
  await send('Hub', hub, 'adopt', pool, 9n);
  await send('Pool', strangePool, 'ping', 11n);
  await send('Pool', pool, 'ping', 12n);
  await devnet.mine(80);
  const program = stage.start('contract-factories');
  await program.url;
  expect(await addHubs(root)).toMatch(/contracts\.hubs_hub_created +HubCreated\(address\) +1/);
  await addPools();
  const backfilled = await expectEqual([root], 20);
  // The opened hub has its second pool alone, which it created after it was named. Pings count after the first naming.
  expect(Object.entries(backfilled).map(([table, rows]) => [table, rows.length])).toEqual([
    ['hubs_hub_created', 2],
    ['hubs_pool_created', 3],
    ['pools_pool_created', 3],
    ['pools_ping', 5],
  ]);

  await send('Root', root, 'open', 20n);
  await send('Hub', hub, 'create', 30n);
  await send('Hub', strangeHub, 'create', 40n);
  await expectEqual([root]);

  // A reorg removes the log that names a pool; its later events no longer count.
  await send('Hub', hub, 'adopt', strangePool, 50n);
  await send('Pool', strangePool, 'ping', 60n);
  expect((await expectEqual([root])).pools_ping?.filter((row) => row.includes(strangePool))).toHaveLength(2);
  const data = encodeFunctionData({ abi: contracts.Pool.abi, functionName: 'ping', args: [70n] });
  await devnet.reorg(2, [[{ from: devnet.accounts[0], to: strangePool, gas: '0x100000', data }, 1]]);
  await devnet.mine(2);
  expect((await expectEqual([root])).pools_ping?.filter((row) => row.includes(strangePool))).toEqual([]);

  await addHubs(otherRoot);
  await send('Root', otherRoot, 'open', 2_000n);
  await expectEqual([root, otherRoot], 20);

  const statuses: { table: string; undecoded: number }[] = JSON.parse(await run('status', '--json'));
  expect(statuses.map(({ table, undecoded }) => [table, undecoded])).toEqual([
    ...['hubs_hub_created', 'hubs_pool_created', 'pools_pool_created', 'pools_ping'].map((table) => [
      `contracts.${table}`,
      0,
    ]),
  ]);
  expect((await program.stop()).code).toBe(0);
});
