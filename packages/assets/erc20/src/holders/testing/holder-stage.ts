import { type Address, type Log, parseAddress, parseHash } from '@chainstead/core';
import { hexBytes, rawSql, runStatements, sql } from '@chainstead/db';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import type { RequestWait } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { accountCodesReader } from '@chainstead/node-reads';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { createSubjectProjections, LOCAL_ACCESS } from '@chainstead/sync/ingest';
import {
  type Closable,
  type CompiledContract,
  closeOf,
  compileDemoContracts,
  compileSolidity,
  coverBlocks,
  createPartitions,
  seedBuilt,
} from '@chainstead/testkit';
import { tokenFactsReader } from '@chainstead/tokens';
import { erc20Transfers } from '../../transfers/dataset.ts';
import { erc20TokenHolders } from '../../transfers/token-holders.ts';
import { holdersCounted, ownersNow } from '../count-holders.ts';
import { tokenHolderRoutes } from '../token-holder-routes.ts';

const SPAM = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Spam {
  event Transfer(address indexed from, address indexed to, uint256 value);
  function shout(uint160 first, uint160 count) external {
    for (uint160 i = 0; i < count; i++) emit Transfer(address(0), address(first + i), 1000);
  }
  function balanceOf(address) external pure returns (uint256) { return 0; }
  function totalSupply() external pure returns (uint256) { return 1000000; }
  function decimals() external pure returns (uint8) { return 18; }
  function symbol() external pure returns (string memory) { return "FREE"; }
  function name() external pure returns (string memory) { return "Free money"; }
}
`;

/** A contract on the devnet. */
export interface StagedToken {
  readonly address: Address;
  call(functionName: string, ...args: readonly unknown[]): Promise<void>;
}

/** A devnet whose transfers are indexed up to the last `follow` call, the API over it, and a worker. */
export interface HolderStage
  extends Pick<StateStage, 'scratch' | 'devnet' | 'node' | 'chain' | 'pool' | 'waits'>,
    Closable {
  readonly gold: StagedToken;
  readonly spam: StagedToken;
  /** Indexes the devnet's new blocks and rolls back reorganized ones. */
  follow(): Promise<void>;
  ask(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Resets to a state in which nothing below a block is indexed, and no token was requested. */
  forgetBelow(block: number): Promise<void>;
  /** Returns the contract's current balance. */
  balanceOf(token: StagedToken, account: Address): Promise<bigint>;
}

export async function openHolderStage(onDemand: RequestWait = { waitMs: 10_000 }): Promise<HolderStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(await openStateStage(), (one) => one.close());
  const { scratch, devnet, nodeReads } = stage;
  const { database } = scratch;
  const [gold, spam] = [
    await deploy(stage, (await compileDemoContracts()).DemoToken, ['Gold', 'GLD', 6]),
    await deploy(stage, await compiledSpam(), []),
  ];
  await createPartitions(database, 'erc20_transfer_sides', stage.chain.id);
  await seedBuilt(database, stage.chain.id, erc20TokenHolders);
  await stage.startWorker([ownersNow, holdersCounted, accountCodesReader, tokenFactsReader]);
  const routes = tokenHolderRoutes({
    nodeReads,
    projections: createSubjectProjections(database),
    onDemandBackfill: { requestContract: async () => 'unserved' },
    liveMaxAgeMs: 60_000,
    readPrices: async () => new Map(),
  });
  const api = await exampleApi(database, routes, { onDemand });
  return {
    ...stage,
    gold,
    spam,
    follow: () => followDevnet(stage),
    async forgetBelow(block) {
      await database.query(sql`DELETE FROM erc20_transfer_sides WHERE block_number < ${block}`);
      await database.query(sql`UPDATE sync_ranges SET first_block = ${block}`);
      await database.query(
        sql`TRUNCATE erc20_holders, erc20_holder_counts, erc20_holder_minutes, erc20_token_classes, subject_projections, state_questions`,
      );
    },
    async ask(path) {
      const response = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
      return { status: response.status, body: await response.json() };
    },
    async balanceOf({ address }, account) {
      const data = `0x70a08231${account.slice(2).padStart(64, '0')}` as const;
      const { data: said = '0x0' } = await devnet.client.call({ to: address, data });
      return BigInt(said);
    },
    ...closeOf(parts),
  };
}

async function compiledSpam(): Promise<CompiledContract> {
  const code = (await compileSolidity({ 'Spam.sol': SPAM })).get('Spam');
  if (code === undefined) throw new Error('Spam was not compiled');
  return code;
}

async function deploy(
  { devnet }: StateStage,
  code: CompiledContract,
  args: readonly unknown[],
): Promise<StagedToken> {
  const address = await devnet.deploy(code, args);
  return {
    address,
    async call(functionName, ...given) {
      await devnet.send({ address, abi: code.abi, functionName, args: given });
    },
  };
}

async function followDevnet({ scratch: { database }, chain, devnet }: StateStage): Promise<void> {
  const head = Number(await devnet.client.getBlockNumber());
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, (_, number) => devnet.client.getBlock({ blockNumber: BigInt(number) })),
  );
  const stored = await database.query<{ number: number; hash: string }>(
    sql`SELECT block_number AS number, '0x' || encode(block_hash, 'hex') AS hash FROM blocks WHERE chain_id = ${chain.id} ORDER BY block_number`,
  );
  const same = stored.filter(({ number, hash }) => blocks[number]?.hash === hash);
  const ancestor = same.at(-1)?.number ?? -1;
  if (ancestor === head) return;
  const logs = await devnet.client.request({
    method: 'eth_getLogs',
    params: [{ fromBlock: `0x${(ancestor + 1).toString(16)}`, toBlock: 'latest', topics: [TRANSFER_TOPIC] }],
  });
  const timestampOf = (number: number): number => Number(blocks[number]?.timestamp ?? 0);
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    const subjects = sql`(SELECT subject, coalesce(built_to, 1000000000) AS built_to FROM subject_projections
      WHERE chain_id = ${chain.id} AND state = ${erc20TokenHolders.name} AND NOT is_stale)`;
    const change = { rows: rawSql('moved'), subjects, access: LOCAL_ACCESS };
    await transaction.query(sql`CREATE TEMP TABLE moved (LIKE erc20_transfer_sides) ON COMMIT DROP`);
    await transaction.query(
      sql`WITH gone AS (DELETE FROM erc20_transfer_sides WHERE chain_id = ${chain.id} AND block_number > ${ancestor} RETURNING *) INSERT INTO moved SELECT * FROM gone`,
    );
    await runStatements(
      transaction,
      erc20TokenHolders.removed({ ...change, remaining: rawSql('erc20_transfer_sides') }),
    );
    await runStatements(transaction, erc20TokenHolders.rolledBack?.(chain.id, ancestor) ?? []);
    await transaction.query(sql`DELETE FROM blocks WHERE chain_id = ${chain.id} AND block_number > ${ancestor}`);
    for (const { number, hash, timestamp } of blocks.slice(ancestor + 1))
      await transaction.query(
        sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, ${Number(number)}, ${hexBytes(hash)}, to_timestamp(${Number(timestamp)}::float8))`,
      );
    await transaction.query(sql`TRUNCATE moved`);
    const rows = erc20Transfers.decode(logs.map(toLog), { chain, timestampOf });
    await transaction.copy(
      'moved',
      erc20Transfers.table.columns,
      rows.map((row) => erc20Transfers.table.copyLine(row)),
    );
    await transaction.query(sql`INSERT INTO erc20_transfer_sides SELECT * FROM moved`);
    await runStatements(transaction, erc20TokenHolders.added(change));
    const covered = await transaction.query(
      sql`UPDATE sync_ranges SET last_block = ${head} WHERE chain_id = ${chain.id} RETURNING 1`,
    );
    if (covered.length === 0) await coverBlocks(transaction, chain.id, erc20Transfers.name, 0, head);
    await transaction.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (${chain.id}, 0, 0, ${head})
       ON CONFLICT (chain_id) DO UPDATE SET checkpoint = excluded.checkpoint`,
    );
  });
}

interface NodeLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string | null;
  readonly blockHash: string | null;
  readonly transactionHash: string | null;
  readonly transactionIndex: string | null;
  readonly logIndex: string | null;
}

function toLog(log: NodeLog): Log {
  return {
    address: parseAddress(log.address),
    topics: log.topics.map(parseHash),
    data: log.data as Log['data'],
    blockNumber: Number(log.blockNumber),
    blockHash: parseHash(log.blockHash),
    transactionHash: parseHash(log.transactionHash),
    transactionIndex: Number(log.transactionIndex),
    logIndex: Number(log.logIndex),
    blockTimestamp: null,
  };
}
