/** Contracts of factories on a real node: rows equal the logs of children, from the log on that names them, as viem decodes them. */
import { type Address, parseAddress } from '@chainstead/core';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { encodeFunctionData, parseAbiItem } from 'viem';
import { expect, test, vi } from 'vitest';
import { openContractsStage } from './contracts-stage.ts';

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
  function createMany(uint256 salt, uint256 count) external {
    for (uint256 i; i < count; i++) adopt(new Pool(), salt + 2 * i);
  }
  function pingMany(Pool[] calldata pools, uint256 number) external {
    for (uint256 i; i < pools.length; i++) pools[i].ping(number + i);
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
const stage = stageOfFile(() => openContractsStage(CHAIN_ID, SOURCE));

const HUB_CREATED = parseAbiItem('event HubCreated(address indexed hub)');
const POOL_CREATED = parseAbiItem('event PoolCreated(uint256 indexed salt, address pool)');
const PING = parseAbiItem('event Ping(uint256 indexed number, address by)');

const addHubs = (...roots: readonly Address[]) =>
  stage.runContracts(
    ...['add', 'hubs', '--chain', 'devnet', '--abi', stage.abiOf('Hub'), '--factory', roots.join(',')],
    ...['--event', 'HubCreated(address indexed hub)', '--child', 'hub'],
  );
const addPools = () =>
  stage.runContracts(
    ...['add', 'pools', '--chain', 'devnet', '--abi', stage.abiOf('Pool'), '--factory', 'hubs'],
    ...['--event', 'PoolCreated(uint256 indexed salt, address pool)', '--child', 'pool'],
  );

/** Rows by table: block, log, emitter and values. */
type Rows = Readonly<Record<string, readonly string[]>>;

/** All logs of the node, decoded by viem, with the children that are known at each log. */
async function rowsOfNode(roots: readonly Address[]): Promise<Rows> {
  const logs = await readLogs();
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

/** In ranges, whose responses stay below viem's limit. */
async function readLogs() {
  const { client } = stage.devnet;
  const ranges = Array.from({ length: Number(await client.getBlockNumber()) / LOGS_RANGE + 1 }, (_, index) => {
    const fromBlock = BigInt(index * LOGS_RANGE);
    const toBlock = fromBlock + BigInt(LOGS_RANGE - 1);
    return client.getLogs({ events: [HUB_CREATED, POOL_CREATED, PING], fromBlock, toBlock, strict: true });
  });
  return (await Promise.all(ranges)).flat();
}

const LOGS_RANGE = 20;

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

/** Waits for equal rows. @param mined empty blocks mined before each look, so that earlier ones become final */
async function expectEqual(roots: readonly Address[], mined = 0): Promise<Rows> {
  const expected = await rowsOfNode(roots);
  await vi.waitFor(
    async () => {
      if (mined > 0) await stage.devnet.mine(mined);
      const stored = await storedRows();
      expect(countRows(stored)).toEqual(countRows(expected));
      expect(stored).toEqual(expected);
    },
    { timeout: 120_000, interval: 300 },
  );
  return expected;
}

function countRows(rows: Rows): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(rows).map(([table, ofTable]) => [table, ofTable.length]));
}

async function childOf(factory: Address): Promise<Address> {
  const logs = await stage.devnet.client.getLogs({ address: factory, fromBlock: 0n });
  const last = logs.at(-1);
  const word = last?.topics.length === 2 && last.data === '0x' ? last.topics[1] : last?.data;
  return addressIn(word);
}

/** Children of a factory of factories, created while blocks are followed. Each emits an event when it is created, and one later. */
const [HUBS, POOLS_PER_HUB] = [5, 1_000];
/** Within the gas of a transaction. */
const [CREATED_AT_ONCE, PINGED_AT_ONCE] = [100, 250];

async function createThousands(root: Address): Promise<void> {
  for (let number = 0; number < HUBS; number++) {
    await stage.send('Root', root, 'open', BigInt(10_000 * (number + 1)));
    const hub = await childOf(root);
    const pools: Address[] = [];
    for (let done = 0; done < POOLS_PER_HUB; done += CREATED_AT_ONCE) {
      const salt = 100_000 * (number + 1) + 2 * done;
      const { logs } = await stage.send('Hub', hub, 'createMany', BigInt(salt), BigInt(CREATED_AT_ONCE));
      // A pool's ping, its naming, and another ping.
      pools.push(...logs.filter(({ address }) => parseAddress(address) === hub).map(({ data }) => addressIn(data)));
    }
    for (let done = 0; done < POOLS_PER_HUB; done += PINGED_AT_ONCE)
      await stage.send('Hub', hub, 'pingMany', pools.slice(done, done + PINGED_AT_ONCE), BigInt(900_000 + done));
  }
}

const addressIn = (word: string | undefined) => parseAddress(`0x${word?.slice(-40)}`);

test('have all events of their children, and no other ones, in any order of reading', {
  timeout: 300_000,
}, async () => {
  const { devnet } = stage;
  const [root, otherRoot] = [
    await devnet.deploy(stage.contractOf('Root')),
    await devnet.deploy(stage.contractOf('Root')),
  ];
  // Neither a child of a factory, nor are its pools.
  const strangeHub = await devnet.deploy(stage.contractOf('Hub'));
  const strangePool = await devnet.deploy(stage.contractOf('Pool'));
  await stage.send('Root', root, 'open', 1n);
  const hub = await childOf(root);
  await stage.send('Root', otherRoot, 'open', 1_000n);
  await stage.send('Root', root, 'garbage');
  await stage.send('Hub', strangeHub, 'create', 5n);
  await stage.send('Hub', hub, 'create', 7n);
  const pool = await childOf(hub);
  await stage.send('Hub', hub, 'adopt', pool, 9n);
  await stage.send('Pool', strangePool, 'ping', 11n);
  await stage.send('Pool', pool, 'ping', 12n);
  await devnet.mine(80);
  const program = stage.start('contract-factories');
  await program.url;
  expect(await addHubs(root)).toMatch(/contracts\.hubs_hub_created +HubCreated\(address\) +1/);
  await addPools();
  const backfilled = await expectEqual([root], 20);
  // The opened hub has its second pool alone, which it created after it was named. Pings count after the first naming.
  expect(countRows(backfilled)).toEqual({
    hubs_hub_created: 2,
    hubs_pool_created: 3,
    pools_pool_created: 3,
    pools_ping: 5,
  });

  await stage.send('Root', root, 'open', 20n);
  await stage.send('Hub', hub, 'create', 30n);
  await stage.send('Hub', strangeHub, 'create', 40n);
  await expectEqual([root]);

  // A reorg removes the log that names a pool; its later events no longer count.
  await stage.send('Hub', hub, 'adopt', strangePool, 50n);
  await stage.send('Pool', strangePool, 'ping', 60n);
  expect((await expectEqual([root])).pools_ping?.filter((row) => row.includes(strangePool))).toHaveLength(2);
  const data = encodeFunctionData({ abi: stage.contractOf('Pool').abi, functionName: 'ping', args: [70n] });
  await devnet.reorg(2, [[{ from: devnet.accounts[0], to: strangePool, gas: '0x100000', data }, 1]]);
  await devnet.mine(2);
  expect((await expectEqual([root])).pools_ping?.filter((row) => row.includes(strangePool))).toEqual([]);

  await addHubs(otherRoot);
  await stage.send('Root', otherRoot, 'open', 2_000n);
  const known = await expectEqual([root, otherRoot], 20);

  await createThousands(root);
  const thousands = await expectEqual([root, otherRoot]);
  // Each hub has the pools of two openings too. The first one is created before the hub is named.
  const added = Object.entries(countRows(thousands)).map(([table, rows]) => [
    table,
    rows - (known[table]?.length ?? 0),
  ]);
  expect(Object.fromEntries(added)).toEqual({
    hubs_hub_created: HUBS,
    hubs_pool_created: HUBS * (POOLS_PER_HUB + 1),
    pools_pool_created: HUBS * (POOLS_PER_HUB + 1),
    pools_ping: HUBS * (2 * POOLS_PER_HUB + 1),
  });

  const statuses: { table: string; undecoded: number }[] = JSON.parse(await stage.runContracts('status', '--json'));
  expect(statuses.map(({ table, undecoded }) => [table, undecoded])).toEqual([
    ...['hubs_hub_created', 'hubs_pool_created', 'pools_pool_created', 'pools_ping'].map((table) => [
      `contracts.${table}`,
      0,
    ]),
  ]);
  expect((await program.stop()).code).toBe(0);
});
