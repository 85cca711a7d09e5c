/** A devnet on which two accounts trade in several ways, before the blocks that are indexed. For tests. */
import type { Chain } from '@chainstead/chains';
import {
  type Address,
  type BlockRange,
  createMetricsRegistry,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import { addressBytes, type Database, sql, type WorkJournal } from '@chainstead/db';
import { swaps } from '@chainstead/markets/datasets';
import { type AlteredNode, alterNode, openPool } from '@chainstead/node-reads/testing';
import { createKnownContracts, enqueueHistory, type HistoryOutcome } from '@chainstead/sync';
import type { Dataset, Subject } from '@chainstead/sync/datasets';
import { backfillRanges, createSyncMetrics, readHistory } from '@chainstead/sync/ingest';
import {
  type Closable,
  closeOf,
  compileSolidity,
  coverBlocks,
  type Devnet,
  deployExchanges,
  type ExchangePool,
  exampleChain,
  startDevnet,
} from '@chainstead/testkit';
import { readSender, sentTransactions } from '@chainstead/transactions';
import { maxUint256, parseAbi } from 'viem';

const DATASETS: readonly Dataset[] = [swaps as Dataset];
export const REORG_DEPTH = 8;

const RELAY = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
interface IToken { function transferFrom(address from, address to, uint256 value) external returns (bool); }
interface IPair { function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external; }
contract Relay {
  function trade(IPair pair, IToken token, address owner, uint256 amount, uint256 out0, uint256 out1) external {
    token.transferFrom(owner, address(pair), amount);
    pair.swap(out0, out1, owner, "");
  }
}`;

export interface TradedChain extends Closable {
  readonly chain: Chain;
  readonly devnet: Devnet;
  readonly node: AlteredNode;
  readonly pool: Awaited<ReturnType<typeof openPool>>;
  /** Trades itself, sends trades of `bob`, and trades without moving a token. */
  readonly ann: Address;
  /** Trades itself, and is the beneficiary of trades that `ann` sends. */
  readonly bob: Address;
  readonly pair: ExchangePool;
  /** Mines trades of every kind. */
  act(rounds: number): Promise<void>;
  /** Number of blocks. */
  head(): Promise<number>;
}

interface TradedChainOptions {
  readonly chainId: number;
  /** Trades of every kind, before it returns: an even number. */
  readonly rounds: number;
  /** Transfers of `ann` between the trades. */
  readonly transfers: number;
}

export async function openTradedChain({ chainId, rounds, transfers }: TradedChainOptions): Promise<TradedChain> {
  await using parts = new AsyncDisposableStack();
  const devnet = parts.adopt(await startDevnet({ chainId }), (one) => one.stop());
  const node = parts.adopt(await alterNode(devnet.url), (one) => one.close());
  const chain = exampleChain({
    ...{ id: chainId, swaps: 'all', reorgDepthMax: REORG_DEPTH, finalizedTag: false, confirmations: 1 },
    transactions: { mode: 'wallets', input: 'full', verifiesSenders: true },
  });
  const pool = parts.adopt(await openPool(chain, node.url), (one) => one.close());
  const { accounts } = devnet;
  const [owner, ann, bob] = accounts as readonly [Address, Address, Address];
  const exchanges = await deployExchanges(devnet);
  const tokens = [await exchanges.deployToken('ONE'), await exchanges.deployToken('TWO')] as const;
  const pair = await exchanges.createPool({ version: 'v2', tokens });
  const concentrated = await exchanges.createPool({ version: 'v3', tokens });
  const fake = await exchanges.deployFakePair(tokens);
  const compiled = (await compileSolidity({ 'Relay.sol': RELAY })).get('Relay');
  if (compiled === undefined) throw new Error('The relay was not compiled');
  const relay = { address: await devnet.deploy(compiled), abi: compiled.abi };
  const erc20 = parseAbi([
    'function approve(address spender, uint256 value) returns (bool)',
    'function transfer(address to, uint256 value) returns (bool)',
  ]);
  for (const one of [pair, concentrated]) await exchanges.addLiquidity(one, [10n ** 24n, 10n ** 24n], owner);
  for (const address of tokens)
    await devnet.send({
      address,
      abi: erc20,
      functionName: 'approve',
      args: [relay.address, maxUint256],
      from: bob,
    });
  const [token0, token1] = pair.tokens;
  async function act(times: number): Promise<void> {
    for (let round = 0; round < times; round += 1) {
      const amount = 1_000n + BigInt(round);
      await exchanges.swap(pair, { token: token0, amount }, ann);
      await exchanges.swap(concentrated, { token: token1, amount }, bob);
      // Sent by ann, who moves none of her tokens: the trade is bob's.
      const relayed = [pair.pool, token0, bob, 1_000_000n, 0n, 900_000n];
      await devnet.send({ ...relay, functionName: 'trade', args: relayed, from: ann, gas: 500_000n });
      // Without a transfer at all.
      await devnet.send({ ...fake, functionName: 'trade', args: [amount, amount], from: ann });
      await devnet.send({ address: token0, abi: erc20, functionName: 'transfer', args: [bob, 5n], from: ann });
      await exchanges.addLiquidity(pair, [10n ** 18n, 10n ** 18n], bob);
    }
  }
  // More transactions than one piece of a backfill, between the trades.
  await act(rounds / 2);
  const move = { address: token0, abi: erc20, functionName: 'transfer', args: [bob, 1n], from: ann };
  for (let count = 0; count < transfers; count += 1) await devnet.send(move);
  await act(rounds / 2);
  return {
    ...{ chain, devnet, node, pool, ann, bob, pair, act },
    head: async () => Number((await devnet.client.getBlock()).number),
    ...closeOf(parts),
  };
}

/** A database that indexes the chain from a block on. */
export interface IndexOfTrades {
  backfill(range: BlockRange): Promise<void>;
  request(account: Address, maxCalls?: number): Promise<string>;
  /** One turn of a worker. */
  read(
    account: Address,
    options?: { maxCalls?: number; signal?: AbortSignal; journal?: Pick<WorkJournal, 'run'> },
  ): Promise<HistoryOutcome>;
  /** Searches the transactions that the account sent. */
  searchSent(account: Address): Promise<HistoryOutcome>;
}

/** @param followed blocks that count as followed: they have no swaps */
export async function indexFrom(
  { chain, pool }: TradedChain,
  database: Database,
  followed: BlockRange,
): Promise<IndexOfTrades> {
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (${chain.id}, ${followed.from}, ${followed.from})`,
  );
  await coverBlocks(database, chain.id, 'swaps', followed.from, followed.to, 'none');
  const shared = { chain, pool, database, datasets: DATASETS, logger: silentLogger(), clock: systemClock };
  const knownContracts = createKnownContracts();
  const metrics = createSyncMetrics(createMetricsRegistry());
  const subjectOf = (kind: Subject['kind'], address: Address): Subject => ({ chainId: chain.id, kind, address });
  const { signal: never } = new AbortController();
  return {
    async backfill(range) {
      const options = { ...shared, metrics, proof: 'strict', backfillProof: 'none' } as const;
      await backfillRanges(options, [range], never);
    },
    request: (account, maxCalls = 10_000) =>
      enqueueHistory(database, {
        subject: subjectOf('trader', account),
        requestedBy: null,
        perKey: 10,
        maxCalls,
      }),
    read(account, { maxCalls = 10_000, signal = never, ...own } = {}) {
      const options = { ...shared, ...own, knownContracts, maxCalls, sliceMs: 60_000, sentTransactions };
      return readHistory(options, subjectOf('trader', account), signal);
    },
    searchSent(account) {
      const reading = { ...shared, maxCalls: 10_000, sliceMs: 60_000 };
      return readSender(reading, subjectOf('sender', account), never);
    },
  };
}

/** All rows as text, with the hash of their block. @param account sender or beneficiary of swaps; null: all rows of all kinds */
export async function storedSwaps(
  database: Database,
  chain: Chain,
  account: Address | null,
): Promise<readonly string[]> {
  const trader = sql`${account === null ? null : addressBytes(account)}::bytea`;
  const rows = await database.query<{ readonly row: string }>(
    sql`SELECT swaps::text || ' ' || encode(block_hash, 'hex') || ' ' || block_timestamp AS row FROM swaps JOIN blocks USING (chain_id, block_number)
      WHERE chain_id = ${chain.id} AND (${trader} IS NULL OR kind = 0 AND (wallet = ${trader} OR beneficiary = ${trader}))
      ORDER BY block_number, transaction_index, log_index`,
  );
  return rows.map(({ row }) => row);
}
