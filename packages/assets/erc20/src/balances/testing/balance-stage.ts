import type { Chain } from '@chainstead/chains';
import {
  type Address,
  ChainsteadError,
  createMetricsRegistry,
  silentLogger,
  systemClock,
  waitingAtMost,
} from '@chainstead/core';
import { addressBytes, type Database, rawSql, sql } from '@chainstead/db';
import { nativeBalancesReader, type StateReader, type StateReadingContext } from '@chainstead/node-reads';
import {
  type NodeReadQueue,
  StateNotArchivedError,
  StateUnavailableError,
} from '@chainstead/node-reads/requests';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import {
  addressOf,
  type Closable,
  closeOf,
  createScratchDatabase,
  dyingDatabase,
  exampleChain,
  KilledError,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { BALANCES_NOW, BALANCES_THEN } from '../balance-questions.ts';
import { tokenCodes } from '../check-token-codes.ts';
import { balancesNow, balancesThen } from '../read-balances.ts';
import { type ResolvedBalances, resolveWalletBalances } from '../resolve-wallet-balances.ts';
import { beginStoredChain, movedDatasets, storeCoin, storeFollowed, storeHistory } from './stored-chain.ts';
import { type Change, createTokenChain, type Move, type TokenBlock, type TokenChain } from './token-chain.ts';
import { serveTokenChain, type TokenNode } from './token-node.ts';

export const ALICE = addressOf(0xa11ce);
export const BOB = addressOf(0xb0b);
export const [GOLD, SILVER, TIN] = [addressOf(0x601d), addressOf(0x51), addressOf(0x717)];

const MINTER = addressOf(0x111);
/** Alice receives this amount. */
export const gives = (token: Address, value: bigint): Move => ({ token, from: MINTER, to: ALICE, value });
/** Alice sends Bob this amount. */
export const sends = (token: Address, value: bigint): Move => ({ token, from: ALICE, to: BOB, value });

type Request = Parameters<typeof resolveWalletBalances>[2];

/** A token chain that is indexed from one of its blocks on, with two nodes, and a worker that responds immediately. */
export interface BalanceStage extends Closable {
  readonly chain: Chain;
  readonly tokens: TokenChain;
  /** The node with precedence, and the other one. */
  readonly nodes: readonly [TokenNode, TokenNode];
  readonly nodeReads: NodeReadQueue;
  readonly context: StateReadingContext;
  /** Number of statements after which the worker, or the block writer, is killed; the writer restarts. Null: never. */
  dieAfter: number | null;
  /** Whether deposits and withdrawals of the wrapped native token are indexed: moves from and to the zero address. */
  isCoinIndexed: boolean;
  mine(moves?: readonly Move[], changes?: readonly Change[]): Promise<TokenBlock>;
  /** Replaces the blocks above this one. */
  reorg(ancestor: number, blocks: readonly (readonly Move[])[]): Promise<void>;
  /** Indexes the earlier blocks. */
  backfill(): Promise<void>;
  /** Indexes the missing deposits and withdrawals of the wrapped native token in indexed blocks. */
  backfillCoin(): Promise<void>;
  report(request?: Partial<Request>): Promise<ResolvedBalances>;
  /** As text: token, balance, block; in response order. */
  shown(request?: Partial<Request>): Promise<string[]>;
  /** Makes contract reads older by this many hours. */
  age(hours: number): Promise<void>;
  classes(): Promise<Readonly<Record<string, string>>>;
}

export interface BalanceStageOptions {
  /** Its own chain in the shared database. */
  readonly chainId: number;
  /** Unindexed blocks from 1 on. */
  readonly history?: readonly (readonly Move[])[];
  readonly facts?: Partial<Omit<Chain, 'id'>>;
  /** Default 2. */
  readonly upstreams?: 1 | 2;
  /** Default true. */
  readonly isCoinIndexed?: boolean;
  /** Whether the contracts of shown balances are checked. Default false. */
  readonly checksCodes?: boolean;
}

export async function openBalanceStage(database: Database, options: BalanceStageOptions): Promise<BalanceStage> {
  await using parts = new AsyncDisposableStack();
  const { chainId, history = [], facts = {}, upstreams = 2, isCoinIndexed = true, checksCodes = false } = options;
  const chain = exampleChain({ id: chainId, key: `stage-${chainId}`, ...facts });
  const tokens = createTokenChain();
  for (const moves of history) tokens.mine(moves);
  const firstFollowed = history.length === 0 ? 0 : tokens.head.number + 1;
  await beginStoredChain(database, chain, firstFollowed);
  const datasets = () => movedDatasets(chain, stage.isCoinIndexed);
  const serve = async () => parts.adopt(await serveTokenChain(tokens, chainId), (one) => one.close());
  const nodes = [await serve(), await serve()] as const;
  const pool = parts.adopt(
    createUpstreamPool({
      chain,
      upstreams: nodes.slice(0, upstreams).map(({ url }) => ({ url })),
      logger: silentLogger(),
      metrics: createMetricsRegistry(),
      limits: { rounds: 1, deadlineMs: 20_000, backOffMaxMs: 50 },
    }),
    (one) => one.close(),
  );
  await pool.start();
  const context: StateReadingContext = { chain, pool, database, clock: systemClock, logger: silentLogger() };
  const contextNow = () => {
    const { dieAfter } = stage;
    return dieAfter === null ? context : { ...context, database: dyingDatabase(database, dieAfter) };
  };
  const nodeReads = answeringAtOnce(contextNow, checksCodes ? [tokenCodes] : []);
  const blocksBelow = (end: number): readonly TokenBlock[] =>
    Array.from({ length: end }, (_, number) => tokens.block(number)).flatMap((block) => block ?? []);
  const write = (work: (on: Database) => Promise<void>): Promise<void> =>
    beginAgain(database, stage.dieAfter, work);
  const projections = createSubjectProjections(database);
  const report: BalanceStage['report'] = (request = {}) =>
    waitingAtMost(15_000, () =>
      resolveWalletBalances({ database, nodeReads, projections, logger: silentLogger() }, chain, {
        wallet: ALICE,
        tokens: null,
        excludeSpam: false,
        verifiedOnly: false,
        toBlock: null,
        limit: 2_000,
        order: null,
        liveMaxAgeMs: 60_000,
        ...request,
      }),
    );
  if (history.length === 0)
    await storeFollowed(database, chain, {
      blocks: [tokens.head],
      datasets: movedDatasets(chain, isCoinIndexed),
    });
  const stage: BalanceStage = {
    chain,
    tokens,
    nodes,
    nodeReads,
    context,
    dieAfter: null,
    isCoinIndexed,
    report,
    async mine(moves, changes) {
      const block = tokens.mine(moves, changes);
      await write((on) => storeFollowed(on, chain, { blocks: [block], datasets: datasets() }));
      return block;
    },
    async reorg(ancestor, blocks) {
      tokens.dropAbove(ancestor);
      const added = blocks.map((moves) => tokens.mine(moves));
      await write((on) => storeFollowed(on, chain, { blocks: added, datasets: datasets(), ancestor }));
    },
    async backfill() {
      await write((on) => storeHistory(on, chain, blocksBelow(firstFollowed), datasets()));
    },
    async backfillCoin() {
      await write((on) => storeCoin(on, chain, blocksBelow(tokens.head.number + 1)));
    },
    async shown(request) {
      const { balances } = await report(request);
      return balances.map(({ token, balance, balanceBlock }) => `${token} ${balance} ${balanceBlock}`);
    },
    async age(hours) {
      const earlier = `- make_interval(hours => ${hours})`;
      await database.query(
        sql`UPDATE erc20_wallet_tokens SET anchored_at = anchored_at ${rawSql(earlier)} WHERE chain_id = ${chainId}`,
      );
      await database.query(
        sql`UPDATE erc20_token_classes SET told_at = told_at ${rawSql(earlier)} WHERE chain_id = ${chainId}`,
      );
    },
    async classes() {
      const rows = await database.query<{ token: string; class: string }>(
        sql`SELECT '0x' || encode(token, 'hex') AS token, class FROM erc20_token_classes WHERE chain_id = ${chainId}`,
      );
      return Object.fromEntries(rows.map((row) => [row.token, row.class]));
    },
    ...closeOf(parts),
  };
  return stage;
}

/** A process killed in the middle repeats all of the work after its restart. */
async function beginAgain(
  database: Database,
  dieAfter: number | null,
  work: (on: Database) => Promise<void>,
): Promise<void> {
  try {
    await work(dieAfter === null ? database : dyingDatabase(database, dieAfter));
  } catch (error) {
    if (!(error instanceof KilledError)) throw error;
    await work(database);
  }
}

/** A worker for these state reads only. It does not read token metadata; once killed, it returns nothing. */
function answeringAtOnce(contextNow: () => StateReadingContext, more: readonly StateReader[]): NodeReadQueue {
  const readers = new Map<string, StateReader>([
    [BALANCES_NOW.name, balancesNow],
    [BALANCES_THEN.name, balancesThen],
    [nativeBalancesReader.kind.name, nativeBalancesReader],
    ...more.map((reader) => [reader.kind.name, reader] as const),
  ]);
  return {
    async request(_chain, kind, question) {
      const reader = readers.get(kind.name);
      if (reader === undefined) return null;
      const requested = reader.kind.question.parse(JSON.parse(JSON.stringify(question)));
      try {
        return kind.answer.parse(await reader.read(contextNow(), requested, new AbortController().signal));
      } catch (error) {
        if (error instanceof KilledError) return null;
        if (!(error instanceof ChainsteadError) || error instanceof StateNotArchivedError) throw error;
        throw new StateUnavailableError('The nodes gave no answer', error);
      }
    },
  };
}

/** Adds the token to a token list. */
export async function nameInList(database: Database, chainId: number, token: Address): Promise<void> {
  await database.query(
    sql`INSERT INTO tokens (address, chain_id, verified, seen_as) VALUES (${addressBytes(token)}, ${chainId}, true, 1)
     ON CONFLICT (address, chain_id) DO UPDATE SET verified = true`,
  );
  await database.query(
    sql`INSERT INTO token_list_entries (address, chain_id, source) VALUES (${addressBytes(token)}, ${chainId}, 'example') ON CONFLICT DO NOTHING`,
  );
}

/** Stages for the tests of one file, in one database with a chain each; closed after their test. */
export interface BalanceStages {
  readonly database: Database;
  open(options?: Omit<BalanceStageOptions, 'chainId'>): Promise<BalanceStage>;
}

/** @param firstChain the id of the first chain */
export function balanceStages(firstChain: number): BalanceStages {
  let scratch: ScratchDatabase;
  let nextChain = firstChain;
  const opened: BalanceStage[] = [];
  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((stage) => stage.close()));
  });
  return {
    get database() {
      return scratch.database;
    },
    async open(options = {}) {
      const stage = await openBalanceStage(scratch.database, { chainId: nextChain++, ...options });
      opened.push(stage);
      return stage;
    },
  };
}
