/** A scripted NFT chain with its node and a database, for tests of backfills. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type Address,
  type BlockRange,
  createMetricsRegistry,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import { type Database, sql, type WorkJournal } from '@chainstead/db';
import { CONSECUTIVE_TRANSFER_TOPIC } from '@chainstead/events/token-events';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { type CallBudget, createKnownContracts, enqueueHistory, type HistoryOutcome } from '@chainstead/sync';
import type { Subject, SubjectKind } from '@chainstead/sync/datasets';
import { backfillRanges, createSyncMetrics, readHistory } from '@chainstead/sync/ingest';
import { listCoverage } from '@chainstead/sync/requests';
import {
  type ChainNode,
  type Closable,
  closeOf,
  createScriptedChain,
  type ExpectedNftMove,
  type FaultSettings,
  type ScriptedChain,
  serveScriptedChain,
} from '@chainstead/testkit';
import { nftTransfers } from '../../dataset.ts';
import { keepAllWallets, storedHoldings } from '../../testing/keep-wallets.ts';

/**
 * Lock timeout for tests that kill workers. Shorter than in production, where it allows for a busy machine's silence.
 * Milliseconds.
 */
export const TEST_LOCK_MS = 3_000;

export interface HistoryStage extends Closable {
  readonly chain: Chain;
  readonly scripted: ScriptedChain;
  readonly node: ChainNode;
  readonly pool: UpstreamPool;
  readonly wallets: readonly Address[];
  /** Contracts that have moved NFTs, by address. */
  readonly collections: readonly Address[];
  subject(kind: SubjectKind, address: Address | undefined): Subject;
  request(
    subject: Subject,
    options?: { requestedBy?: string; perKey?: number; maxCalls?: number },
  ): Promise<string>;
  /** One turn of a worker. */
  read(subject: Subject, options?: ReadOptions): Promise<HistoryOutcome>;
  /** Requests a backfill and works on it until it is done. */
  complete(subject: Subject): Promise<void>;
  backfill(range: BlockRange): Promise<void>;
}

export interface ReadOptions {
  readonly maxCalls?: number;
  readonly sliceMs?: number;
  readonly signal?: AbortSignal;
  readonly budget?: CallBudget;
  readonly pool?: UpstreamPool;
  readonly journal?: Pick<WorkJournal, 'run'>;
}

/** A mined chain and its node. */
export interface HistoryChain {
  readonly scripted: ScriptedChain;
  readonly node: ChainNode;
}

interface MiningOptions {
  readonly chainId: number;
  readonly blocks: number;
  readonly faults?: Partial<FaultSettings>;
  readonly finalityDepth?: number;
}

/** A chain of small wallets. */
export async function serveHistoryChain({
  chainId,
  blocks,
  faults,
  finalityDepth = 0,
}: MiningOptions): Promise<HistoryChain> {
  const transactionsMax = blocks > 1_000 ? 2 : 6;
  const scripted = createScriptedChain({ seed: chainId, chainId, wallets: 12, finalityDepth, transactionsMax });
  scripted.mine(blocks);
  return { scripted, node: await serveScriptedChain(scripted, faults === undefined ? {} : { faults }) };
}

export interface StageOptions extends MiningOptions {
  /** The first followed block; nothing is covered yet. */
  readonly firstFollowed: number;
  /** Maximum blocks of one getLogs. */
  readonly logRangeMax?: number;
  /** An existing chain, which is not closed with the stage. Default: a new one is mined. */
  readonly served?: HistoryChain;
}

/** Opens a stage whose chain has its row in `sync_chains`, as after a first start. */
export async function openHistoryStage(database: Database, options: StageOptions): Promise<HistoryStage> {
  await using parts = new AsyncDisposableStack();
  const { chainId, firstFollowed, logRangeMax = 100_000, served } = options;
  const { scripted, node } = served ?? (await serveHistoryChain(options));
  if (served === undefined) parts.defer(() => node.close());
  const chain = stageChain(chainId);
  const logger = silentLogger();
  const pool = parts.adopt(stagePool(chain, node.url, logRangeMax), (one) => one.close());
  await pool.start();
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (${chainId}, ${firstFollowed}, ${firstFollowed})`,
  );
  const shared = { chain, pool, database, datasets: [nftTransfers], logger, clock: systemClock };
  const metrics = createSyncMetrics(createMetricsRegistry());
  const knownContracts = createKnownContracts();

  const stage: HistoryStage = {
    chain,
    scripted,
    node,
    pool,
    wallets: scripted.wallets,
    collections: [...new Set(scripted.expectedNftMoves().map(({ token }) => token))].sort(),
    subject(kind, address) {
      if (address === undefined) throw new Error('No such subject');
      return { chainId: chain.id, kind, address };
    },
    request: (subject, { requestedBy = null, perKey = 100, maxCalls = 10_000 } = {}) =>
      enqueueHistory(database, { subject, requestedBy, perKey, maxCalls }),
    read: (
      subject,
      { maxCalls = 10_000, sliceMs = 60_000, signal = new AbortController().signal, ...own } = {},
    ) => readHistory({ ...shared, ...own, knownContracts, maxCalls, sliceMs }, subject, signal),
    async complete(subject) {
      await stage.request(subject);
      const outcome = await stage.read(subject);
      if (outcome !== 'done' && outcome !== 'idle') throw new Error(`The history is ${outcome}`);
    },
    async backfill(range) {
      await backfillRanges(
        { ...shared, metrics, proof: 'strict', backfillProof: 'none' },
        [range],
        new AbortController().signal,
      );
    },
    ...closeOf(parts),
  };
  return stage;
}

/** The chain of a stage, also for another process. */
export function stageChain(chainId: number): Chain {
  return createChainRegistry({
    additional: [
      {
        key: `nft-${chainId}`,
        id: chainId,
        headerHash: true,
        proofPolicy: 'strict',
        reorgDepthMax: 8,
        blockTimeMs: 100,
        pollIntervalMs: 20,
      },
    ],
  }).get(chainId);
}

/** A pool of one upstream with this maximum block range, which gives up soon. */
export function stagePool(chain: Chain, url: string, logRangeMax: number): UpstreamPool {
  return createUpstreamPool({
    chain,
    upstreams: [{ url }],
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    limits: {
      logRangeStartNarrow: logRangeMax,
      logRangeStart: logRangeMax,
      logRangeMax,
      rounds: 2,
      backOffMaxMs: 100,
      breakerOpenMaxMs: 100,
      breakerOpenMs: 50,
    },
  });
}

/** A row of `nft_transfers` with its block as text, in one format for stored and expected rows. */
function rowText(move: {
  readonly token: string;
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly item: number;
  readonly tokenId: bigint | string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint | string;
  readonly blockHash: string;
  readonly seconds: number;
}): string {
  const { token, blockNumber, logIndex, item, tokenId, from, to, amount, blockHash, seconds } = move;
  return [blockNumber, logIndex, item, token, tokenId, from, to, amount, blockHash, seconds].join(' ');
}

export function expectedRows(moves: readonly ExpectedNftMove[]): string[] {
  return moves.map((move) => rowText({ ...move, seconds: move.blockTimestamp })).sort();
}

export async function storedRows(database: Database, chainId: number): Promise<string[]> {
  const rows = await database.query<Parameters<typeof rowText>[0]>(
    sql`SELECT '0x' || encode(token_address, 'hex') AS token, block_number, log_index, item,
       token_id, '0x' || encode(from_address, 'hex') AS from, '0x' || encode(to_address, 'hex') AS to, amount,
       '0x' || encode(block_hash, 'hex') AS "blockHash", extract(epoch FROM block_timestamp)::bigint AS seconds
     FROM nft_transfers JOIN blocks USING (chain_id, block_number) WHERE chain_id = ${chainId}`,
  );
  return rows.map(rowText).sort();
}

interface ConsecutiveLog {
  readonly block: number;
  readonly logIndex: number;
  /** Its contract, and the addresses in its topics. */
  readonly mentions: readonly string[];
}

function consecutiveLogs(scripted: ScriptedChain, range: BlockRange): ConsecutiveLog[] {
  return scripted.blocksIn(range).flatMap(({ number, scripted: transactions }) =>
    transactions
      .flatMap(({ events }) => events)
      .flatMap(({ address, topics }, logIndex) =>
        topics[0] === CONSECUTIVE_TRANSFER_TOPIC
          ? [
              {
                block: number,
                logIndex,
                mentions: [address, ...topics.slice(2).map((topic) => `0x${topic.slice(26)}`)],
              },
            ]
          : [],
      ),
  );
}

/** Blocks in which a subject's filters return a ConsecutiveTransfer: each takes one call more. */
export function consecutiveBlocks({ scripted }: HistoryStage, subject: Address, range: BlockRange): Set<number> {
  const own = consecutiveLogs(scripted, range).filter(({ mentions }) => mentions.includes(subject));
  return new Set(own.map(({ block }) => block));
}

/**
 * Returns the moves that must be stored: of blocks that the chain covers, and of subjects within their backfilled
 * ranges, with the consecutive mints in the same blocks.
 */
export async function expectedMoves(database: Database, stage: HistoryStage): Promise<ExpectedNftMove[]> {
  const { chain, scripted } = stage;
  const covered = (await listCoverage(database, chain.id)).map(({ range }) => range);
  const consecutive = new Set(
    consecutiveLogs(scripted, { from: 0, to: scripted.head }).map(
      ({ block, logIndex }) => `${block} ${logIndex}`,
    ),
  );
  const subjects = await database.query<{ kind: SubjectKind; address: Address; from: number; to: number }>(
    sql`SELECT kind, '0x' || encode(subject, 'hex') AS address, first_block AS from, last_block AS to FROM subject_ranges
      WHERE chain_id = ${chain.id} AND dataset = 'nft-transfers'`,
  );
  const isIn = (block: number, range: BlockRange): boolean => block >= range.from && block <= range.to;
  const completed = new Set(
    subjects.flatMap((subject) => [...consecutiveBlocks(stage, subject.address, subject)]),
  );
  return scripted
    .expectedNftMoves()
    .filter(
      ({ blockNumber, logIndex, token, from, to }) =>
        (completed.has(blockNumber) && consecutive.has(`${blockNumber} ${logIndex}`)) ||
        covered.some((range) => isIn(blockNumber, range)) ||
        subjects.some(
          (subject) =>
            isIn(blockNumber, subject) &&
            (subject.kind === 'contract' ? subject.address === token : [from, to].includes(subject.address)),
        ),
    );
}

/**
 * Returns the stored holdings of all wallets, and those computed from the moves: sums for ERC-1155, the newest receiver
 * for single items.
 */
export async function comparedBalances(
  database: Database,
  { chain, scripted }: Pick<HistoryStage, 'chain' | 'scripted'>,
  moves: readonly ExpectedNftMove[],
): Promise<{ readonly stored: string[]; readonly expected: string[] }> {
  await keepAllWallets(database, chain);
  const several = new Set<string>(
    scripted.tokens.flatMap(({ kind, address }) => (kind === 'erc1155' ? [address] : [])),
  );
  const sums = new Map<string, bigint>();
  const set = (account: string, token: string, id: bigint, change: (before: bigint) => bigint): void => {
    if (/^0x0+$/.test(account)) return;
    const key = `${account} ${token} ${id}`;
    sums.set(key, change(sums.get(key) ?? 0n));
  };
  for (const { token, tokenId, from, to, amount } of moves) {
    set(from, token, tokenId, (before) => (several.has(token) ? before - amount : 0n));
    set(to, token, tokenId, (before) => (several.has(token) ? before + amount : 1n));
  }
  const held = new Map<string, number>();
  for (const [key, amount] of sums) {
    const holder = key.split(' ').slice(0, 2).join(' ');
    if (amount > 0n) held.set(holder, (held.get(holder) ?? 0) + 1);
  }
  const balances = [...sums].filter(([, amount]) => amount !== 0n).map(([key, amount]) => `${key} ${amount}`);
  const holdings = [...held].map(([holder, ids]) => `${holder} holds ${ids}`);
  return { stored: await storedHoldings(database, chain.id), expected: [...balances, ...holdings].sort() };
}
