/** Factories of factories on a devnet: rows of their children, and the same rows as viem reads them from the node. */

import { type Address, parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { parseAbiItem, toFunctionSelector } from 'viem';
import { expect, vi } from 'vitest';
import type { ContractsStage } from './contracts-stage.ts';

/** Calls are read from whole blocks. */
export const WITH_TRANSACTIONS = { TRANSACTIONS_DEVNET: 'all' };

/** Solidity of a pool, its hub and the root of hubs. */
export const FACTORIES_SOURCE = `// SPDX-License-Identifier: Apache-2.0
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

const HUB_CREATED = parseAbiItem('event HubCreated(address indexed hub)');
const POOL_CREATED = parseAbiItem('event PoolCreated(uint256 indexed salt, address pool)');
const PING = parseAbiItem('event Ping(uint256 indexed number, address by)');
const PING_SELECTOR = toFunctionSelector('ping(uint256)');

/** Rows by table: block, log, emitter and values; of calls: block, transaction, contract and values. */
type Rows = Readonly<Record<string, readonly string[]>>;

/** Place of a transaction on the chain. */
interface Place {
  readonly block: number;
  readonly transaction: number;
}

export interface Factories {
  /** Adds the contracts `hubs` and `pools` by commands. @returns the output of the first one */
  add(...roots: readonly Address[]): Promise<string>;
  addHubs(...roots: readonly Address[]): Promise<string>;
  /** Returns the child in the last log of a factory. */
  childOf(factory: Address): Promise<Address>;
  /** Waits for rows that equal those of the node. @param mined empty blocks mined before each look, so that earlier ones become final */
  expectEqual(roots: readonly Address[], mined?: number): Promise<Rows>;
  /** Creates children of a factory of factories. Each emits an event when it is created, and one later. */
  createMany(root: Address, hubs: number, poolsPerHub: number): Promise<void>;
}

export function factoriesOn(stage: ContractsStage): Factories {
  const addHubs = (...roots: readonly Address[]) =>
    stage.runContracts(
      ...['add', 'hubs', '--chain', 'devnet', '--abi', stage.abiOf('Hub'), '--factory', roots.join(',')],
      ...['--event', 'HubCreated(address indexed hub)', '--child', 'hub', '--child-from', 'log'],
    );
  const childOf = async (factory: Address): Promise<Address> => {
    const logs = await stage.devnet.client.getLogs({ address: factory, fromBlock: 0n });
    const last = logs.at(-1);
    const word = last?.topics.length === 2 && last.data === '0x' ? last.topics[1] : last?.data;
    return addressIn(word);
  };
  return {
    addHubs,
    childOf,
    async add(...roots) {
      const output = await addHubs(...roots);
      await stage.runContracts(
        ...['add', 'pools', '--chain', 'devnet', '--abi', stage.abiOf('Pool'), '--factory', 'hubs', '--calls'],
        ...[
          '--event',
          'PoolCreated(uint256 indexed salt, address pool)',
          '--child',
          'pool',
          '--child-from',
          'log',
        ],
      );
      return output;
    },
    async expectEqual(roots, mined = 0) {
      const expected = await rowsOfNode(stage, roots);
      await vi.waitFor(
        async () => {
          if (mined > 0) await stage.devnet.mine(mined);
          const stored = await storedRows(stage);
          expect(countRows(stored)).toEqual(countRows(expected));
          expect(stored).toEqual(expected);
        },
        // Blocks are followed more slowly than they are mined.
        { timeout: 60_000, interval: mined > 0 ? 1_000 : 300 },
      );
      return expected;
    },
    async createMany(root, hubs, poolsPerHub) {
      for (let number = 0; number < hubs; number++) {
        await stage.send('Root', root, 'open', BigInt(10_000 * (number + 1)));
        await createPools(stage, await childOf(root), { firstSalt: 100_000 * (number + 1), count: poolsPerHub });
      }
    },
  };
}

/** Returns the number of rows by table. */
export function countRows(rows: Rows): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(rows).map(([table, ofTable]) => [table, ofTable.length]));
}

/** Adds a root, creates its children while blocks are followed, and expects all rows. The contracts may be known already. */
export async function expectManyChildren(
  stage: ContractsStage,
  hubs: number,
  poolsPerHub: number,
): Promise<void> {
  const { add, createMany, expectEqual } = factoriesOn(stage);
  const root = await stage.devnet.deploy(stage.contractOf('Root'));
  const program = stage.start('contract-factories', WITH_TRANSACTIONS);
  await program.url;
  await add(root);
  // Its rows appear once events of children are followed again.
  await stage.send('Root', root, 'open', 5n);
  const roots = await knownRoots(stage);
  const known = countRows(await expectEqual(roots, 20));
  await createMany(root, hubs, poolsPerHub);
  const many = countRows(await expectEqual(roots));
  // Each hub has the pools of two openings too. The first one is created before the hub is named.
  const added = Object.entries(many).map(([table, rows]) => [table, rows - (known[table] ?? 0)]);
  expect(Object.fromEntries(added)).toEqual({
    hubs_hub_created: hubs,
    hubs_pool_created: hubs * (poolsPerHub + 1),
    pools_pool_created: hubs * (poolsPerHub + 1),
    pools_ping: hubs * (2 * poolsPerHub + 1),
    // Hubs call pools inside their transactions.
    pools_ping_call: 0,
  });
  const statuses: { table: string; undecoded: number }[] = JSON.parse(
    await stage.runContracts('status', '--json'),
  );
  expect(statuses.map(({ table, undecoded }) => [table, undecoded])).toEqual(
    Object.keys(many).map((table) => [`contracts.${table}`, 0]),
  );
  expect((await program.stop()).code).toBe(0);
}

async function knownRoots({ scratch }: ContractsStage): Promise<readonly Address[]> {
  const rows = await scratch.database.query<{ root: string }>(
    sql`SELECT unnest(addresses) AS root FROM contract_definitions WHERE name = 'hubs'`,
  );
  return rows.map(({ root }) => parseAddress(root));
}

/** Within the gas of a transaction. */
const [CREATED_AT_ONCE, PINGED_AT_ONCE] = [100, 250];

async function createPools(
  stage: ContractsStage,
  hub: Address,
  { firstSalt, count }: { readonly firstSalt: number; readonly count: number },
): Promise<void> {
  const pools: Address[] = [];
  for (let done = 0; done < count; done += CREATED_AT_ONCE) {
    const { logs } = await stage.send(
      'Hub',
      hub,
      'createMany',
      BigInt(firstSalt + 2 * done),
      BigInt(CREATED_AT_ONCE),
    );
    // A pool's ping, its naming, and another ping.
    pools.push(...logs.filter(({ address }) => parseAddress(address) === hub).map(({ data }) => addressIn(data)));
  }
  for (let done = 0; done < count; done += PINGED_AT_ONCE)
    await stage.send('Hub', hub, 'pingMany', pools.slice(done, done + PINGED_AT_ONCE), BigInt(900_000 + done));
}

function addressIn(word: string | undefined): Address {
  return parseAddress(`0x${word?.slice(-40)}`);
}

/** All logs and calls of the node, decoded by viem, with the children that are known at each of them. */
async function rowsOfNode(stage: ContractsStage, roots: readonly Address[]): Promise<Rows> {
  const hubs = new Set<string>();
  const pools = new Map<string, Place>();
  const rows = { hubs_hub_created: [], hubs_pool_created: [], pools_pool_created: [], pools_ping: [] } as Record<
    string,
    string[]
  >;
  for (const log of await readLogs(stage)) {
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
      const pool = log.args.pool.toLowerCase();
      if (!pools.has(pool))
        pools.set(pool, { block: Number(log.blockNumber), transaction: log.transactionIndex });
    } else if (log.eventName === 'Ping' && pools.has(emitter)) rows.pools_ping?.push(row);
  }
  return { ...rows, pools_ping_call: await callsOfNode(stage, pools) };
}

/** Transactions to pools after the one that names them first. */
async function callsOfNode(
  { devnet: { client } }: ContractsStage,
  pools: ReadonlyMap<string, Place>,
): Promise<readonly string[]> {
  const head = Number(await client.getBlockNumber());
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, (_, number) =>
      client.getBlock({ blockNumber: BigInt(number), includeTransactions: true }),
    ),
  );
  return blocks
    .flatMap(({ transactions }) => transactions)
    .flatMap(({ to, from, input, blockNumber, transactionIndex }) => {
      const created = pools.get(to ?? '');
      const place = { block: Number(blockNumber), transaction: transactionIndex };
      if (created === undefined || !isAfter(place, created) || !input.startsWith(PING_SELECTOR)) return [];
      return [[place.block, place.transaction, to, from, BigInt(`0x${input.slice(10)}`)].map(String).join(' ')];
    });
}

function isAfter(one: Place, other: Place): boolean {
  return one.block > other.block || (one.block === other.block && one.transaction > other.transaction);
}

/** In ranges, whose responses stay below viem's limit. */
async function readLogs({ devnet: { client } }: ContractsStage) {
  const ranges = Array.from({ length: Number(await client.getBlockNumber()) / LOGS_RANGE + 1 }, (_, index) => {
    const fromBlock = BigInt(index * LOGS_RANGE);
    const toBlock = fromBlock + BigInt(LOGS_RANGE - 1);
    return client.getLogs({ events: [HUB_CREATED, POOL_CREATED, PING], fromBlock, toBlock, strict: true });
  });
  return (await Promise.all(ranges)).flat();
}

const LOGS_RANGE = 20;

async function storedRows({ scratch }: ContractsStage): Promise<Rows> {
  const columns = {
    hubs_hub_created: 'log_index, contract, hub',
    hubs_pool_created: 'log_index, contract, salt, pool',
    pools_pool_created: 'log_index, contract, salt, pool',
    pools_ping: 'log_index, contract, number, by',
    pools_ping_call: 'transaction_index, contract, sender, number',
  };
  const tables: [string, readonly string[]][] = [];
  for (const [table, values] of Object.entries(columns)) {
    const rows = await scratch.database.query<{ row: string }>(
      sql`SELECT concat_ws(' ', block_number, ${rawSql(values)}) AS row FROM analytics.contract_${rawSql(table)}
        ORDER BY block_number, ${rawSql(table.endsWith('_call') ? 'transaction_index' : 'log_index')}`,
    );
    tables.push([table, rows.map(({ row }) => row)]);
  }
  return Object.fromEntries(tables);
}
