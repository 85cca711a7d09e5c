import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange, Hash, Log } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Projection } from './projection.ts';
import type { RowTable } from './row-table.ts';
import type { BlockPart, WholeBlock } from './whole-block.ts';

/** Input of a decoder next to the logs. No clock, no I/O. */
export interface DecodeContext {
  readonly chain: Chain;
  /** Unix time, in seconds, of a block in this batch. */
  timestampOf(blockNumber: number): number;
}

export type TokenStandard = 'erc20' | 'erc721' | 'erc1155';

/** One contract may have several standards: hybrids emit the events of both. */
export interface MentionedContract {
  readonly address: Address;
  readonly standard: TokenStandard;
}

/** A log filter by topic position; null matches any topic. */
export interface HistoryFilter {
  /** Alternatives for topic0; empty: any topic0, or no topics at all. */
  readonly topics: readonly Hash[];
  /** Alternatives for topics 1 to 3, by position. */
  readonly indexed?: readonly (readonly Hash[] | null)[];
  /** Emitting contracts. @default any */
  readonly addresses?: readonly Address[];
}

/** On-demand backfill of one wallet or contract, ahead of the chain's backfill. */
export interface SubjectHistories {
  /** Filters that together match every log of the dataset that moves assets of the wallet. */
  ofWallet(chain: Chain, wallet: Address): readonly HistoryFilter[];
  /** Filters that match every log of the dataset that the contract emits. */
  ofContract(chain: Chain, contract: Address): readonly HistoryFilter[];
  /** Present if the dataset takes any log. Also runs on chains that the dataset is not indexed for. */
  ofEmitter?(chain: Chain, contract: Address): readonly HistoryFilter[];
  /** Contracts whose logs can only be decoded with all their logs of the block. If a filter matches one, all are read. */
  wholeBlockContracts?(chain: Chain): readonly Address[];
  /**
   * Values of topic0 whose logs can only be decoded with all logs of their block that have one of these. If a filter
   * matches one, all such logs of the block are read from any contract, and their rows are stored too.
   */
  wholeBlockTopics?(chain: Chain): readonly Hash[];
  /** Rows are useful without the oldest ones: on-demand backfills start at the retention window. @default false */
  readonly mayBeCut?: boolean;
}

export interface TransactionHistories<Row = unknown> {
  /** For logs of the account's transactions. Sent transactions that a wallet search has stored are found without a log. */
  filters(chain: Chain, account: Address): readonly HistoryFilter[];
  /** False: transactions with these logs have no rows, and are not read further. */
  mayHaveRows(logs: readonly Log[], chain: Chain): boolean;
  /** Other rows of the account's transactions are not stored. */
  isOf(row: Row, account: Address): boolean;
}

/** Decoding of rows from transactions or traces. */
export interface WholeBlockDecoding<Row = unknown> {
  /**
   * Block parts it reads in addition to logs; empty: it needs only logs with its topics. If no node can trace a block,
   * the dataset's coverage has a gap there.
   */
  reads(chain: Chain): readonly Exclude<BlockPart, 'logs'>[];
  decode(block: WholeBlock, context: DecodeContext): Row[];
}

export interface CommittedBlocks {
  readonly range: BlockRange;
  /** Their coverage of the range is recorded at the end of the commit. */
  readonly datasets: ReadonlySet<string>;
}

/** Rows that depend on rows of other datasets. */
export interface DependentRows {
  /**
   * Returns the lines to store. Runs under the chain's commit lock, after the rows of earlier datasets are written.
   * @throws a retryable error if the other datasets lack blocks that the rows depend on
   */
  select(
    transaction: Transaction,
    chain: Chain,
    blocks: CommittedBlocks,
    lines: readonly string[],
  ): Promise<readonly string[]>;
}

export interface PrecedingRows {
  /**
   * Called before rows of a range are written or replaced, except by the follower.
   * @returns a function called after that, under the commit lock: it removes rows and coverage that depend on the change
   */
  watch(transaction: Transaction, chain: Chain, range: BlockRange): Promise<() => Promise<void>>;
}

/**
 * One kind of rows decoded from blocks. All members are pure and declarative: the sync engine reads, proves and writes.
 * A new dataset is one folder that exports a `Dataset`, and one line in the registry.
 *
 * @example
 * ```ts
 * import { parseAddress, parseHash } from '@chainstead/core';
 * import { blockRangeIndex } from '@chainstead/db/block-range-index';
 * import { address, uint256 } from '@chainstead/db/column-types';
 * import { type Dataset, defineTable } from '@chainstead/sync';
 * import { bigint, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';
 *
 * const table = pgTable(
 *   'burns',
 *   {
 *     account: address('account').notNull(),
 *     chainId: bigint('chain_id', { mode: 'number' }).notNull(),
 *     blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
 *     logIndex: integer('log_index').notNull(),
 *     amount: uint256('amount').notNull(),
 *   },
 *   (burns) => [
 *     primaryKey({ columns: [burns.account, burns.chainId, burns.blockNumber, burns.logIndex] }),
 *     blockRangeIndex('burns', burns),
 *   ],
 * );
 *
 * // keccak256 of Burn(address,uint256)
 * const BURN_TOPIC = parseHash('0xcc16f5dbb4873280815c1ee09dbd06736cffcc184412cf7a71a0fdb75d397ca5');
 *
 * export const burns: Dataset<typeof table.$inferSelect> = {
 *   name: 'burns',
 *   topics: () => [BURN_TOPIC],
 *   table: defineTable(table),
 *   decode: (logs, { chain }) =>
 *     logs.flatMap(({ topics: [topic, account], data, blockNumber, logIndex }) => {
 *       if (topic !== BURN_TOPIC || account === undefined || data.length !== 66) return [];
 *       const amount = BigInt(data).toString();
 *       return [{ account: parseAddress(`0x${account.slice(-40)}`), chainId: chain.id, blockNumber, logIndex, amount }];
 *     }),
 * };
 * ```
 */
export interface Dataset<Row = unknown> {
  /** Stable name in coverage records and in `--dataset`: `erc20-transfers`. */
  readonly name: string;
  /**
   * Values of topic0 it decodes on this chain. `decode` must ignore other logs: whole blocks contain all logs. If there
   * are none, no `anyTopic` and no `wholeBlocks`, the dataset is not indexed for this chain.
   */
  topics(chain: Chain): readonly Hash[];
  /** The only contracts whose logs it decodes. Blocks that only such datasets lack are filtered by contract. @default any */
  emitters?(chain: Chain): readonly Address[] | null;
  /** Decodes logs of its `emitters` with any topics, or none; `topics` is then empty. @default false */
  anyTopic?(chain: Chain): boolean;
  /** The first block it needs, even below the chain's own history. Blocks below are no gaps. @default null: all of it */
  firstBlock?(chain: Pick<Chain, 'id'>): number | null;
  /** Rejects if its definition has changed, so that decoded rows may lack some. Runs under the chain's commit lock. */
  requireCurrent?(transaction: Transaction): Promise<void>;
  /** Present if rows depend on those of datasets before it in the list. It has no projections. */
  readonly dependent?: DependentRows;
  /** Present if rows of datasets after it in the list depend on its own. */
  readonly preceding?: PrecedingRows;
  /** Table of the rows: {@link defineTable} of the table in the dataset's `schema.ts`. */
  readonly table: RowTable<Row>;
  /** Rows for the logs of one or more whole blocks, in chain order. Ignores logs of other datasets. */
  decode(logs: readonly Log[], context: DecodeContext): Row[];
  /** Yields the rows of `decode` one at a time, for datasets with many rows per log: saves memory. */
  eachRow?(logs: readonly Log[], context: DecodeContext): Iterable<Row>;
  /**
   * Present if rows are decoded from transactions or traces. Blocks are then read whole; `decode` and `eachRow` are not
   * called. Transactions are proven by the header's transactions root; traces are checked against them.
   */
  readonly wholeBlocks?: WholeBlockDecoding<Row>;
  contracts?(rows: readonly Row[]): Iterable<MentionedContract>;
  readonly projections?: readonly Projection[];
  /** Old rows stay when the retention settings drop those of other datasets. @default false */
  readonly isKeptWhole?: boolean;
  /** The retention settings delete old rows of a table without partitions, keyed by chain and block. @default false */
  readonly deletesOldRows?: boolean;
  readonly histories?: SubjectHistories;
  /** For single accounts, by whole transactions; needs `wholeBlocks`. */
  readonly transactionHistories?: TransactionHistories<Row>;
}
