import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange, ChainId, Hash, Log } from '@chainstead/core';
import type { Reading } from './reading.ts';
import type { RowTable } from './row-table.ts';
import type { BlockPart, WholeBlock } from './whole-block.ts';

/** What a decoder may know besides the logs. No clock, no I/O. */
export interface DecodeContext {
  readonly chain: Chain;
  /** Unix seconds of a block in this batch. */
  timestampOf(blockNumber: number): number;
}

export type TokenStandard = 'erc20' | 'erc721' | 'erc1155';

/** A contract that rows mention, and as what. A contract may be several: hybrids emit the events of both. */
export interface MentionedContract {
  readonly address: Address;
  readonly standard: TokenStandard;
}

/**
 * State that a dataset's rows add up to (balances, counters). It must not depend on the order in which rows arrive: the
 * engine runs `added` for exactly the rows that a transaction really added, and `removed` for those that it really removed,
 * whether by backfill, follow, rollback, reindex, repair or an on-demand history.
 *
 * `added` and `removed` get relations (expressions that want an alias) and return SQL statements without parameters, run in order, in the
 * transaction of the rows, one transaction of a chain at a time. `rows` and `counted` have the dataset's columns: `rows` are
 * those that were added or removed, `counted` are all that the state counts after the change (the dataset's own table may hold
 * more while the state is built). Statements read nothing else but the state's own tables, and write shared keys in sorted order.
 *
 * A state may be of single subjects (wallets, contracts): it is kept for those subjects only that somebody asked about. What
 * nobody asks for costs nothing, however much of it there is. `kept` is then a relation of the subjects: `subject` (20 bytes) and
 * `built_to`, the last block of which rows are counted for it. A row counts for each of its subjects that is in `kept` with a
 * block that high.
 *
 * @example
 * ```ts
 * import type { DerivedState } from '@chainstead/sync';
 *
 * export const burnTotals: DerivedState = {
 *   name: 'burn-totals',
 *   version: 1,
 *   tables: ['burn_totals'],
 *   added: (rows) => [
 *     `INSERT INTO burn_totals AS kept (chain_id, account, burns)
 *      SELECT chain_id, account, count(*) FROM ${rows} GROUP BY chain_id, account ORDER BY chain_id, account
 *      ON CONFLICT (chain_id, account) DO UPDATE SET burns = kept.burns + excluded.burns`,
 *   ],
 *   removed: (rows) => [
 *     `UPDATE burn_totals AS kept SET burns = kept.burns - gone.burns
 *      FROM (SELECT chain_id, account, count(*) AS burns FROM ${rows} GROUP BY chain_id, account) AS gone
 *      WHERE (kept.chain_id, kept.account) = (gone.chain_id, gone.account)`,
 *   ],
 * };
 * ```
 */
export interface DerivedState {
  /** Stable and unique among all states: `nft-balances`. */
  readonly name: string;
  /** Raised when the same rows come to add up to something else: the state is then built anew from them. From 1. */
  readonly version: number;
  /** Tables that it owns, with `chain_id`: emptied of the chain or of a subject before it is built, and compared by the simulation. */
  readonly tables: readonly string[];
  /** Present where the state is kept of single subjects. */
  readonly subjects?: StateSubjects;
  /**
   * The tables of several datasets whose rows it counts together, as if they lay in one: each of those datasets has it among its
   * `derived`, and their columns are the same. For states of subjects. @default the table of its dataset
   */
  readonly counts?: readonly RowTable[];
  /**
   * @param kept the subjects, each once; of a state without subjects a single row without one
   * @param reading how what is stored is read: correlated subqueries and outer joins go through it. @default IN_PLACE
   */
  added(rows: string, kept: string, reading?: Reading): readonly string[];
  removed(rows: string, kept: string, counted: string, reading?: Reading): readonly string[];
  /**
   * Statements for when a reorganisation takes the blocks above `ancestor` away, after `removed`: what the state has of those blocks from
   * elsewhere than from rows goes with them.
   */
  rolledBack?(chainId: ChainId, ancestor: number): readonly string[];
  /**
   * Statements for when the rows of old blocks go with their partition, which nobody lists: run before and after, under the commit lock.
   * @default what the state says stays true without them
   */
  dropped?(chainId: ChainId, blocks: BlockRange): readonly string[];
}

/** The subjects of a state. */
export interface StateSubjects {
  /** The column in which each of the state's tables has the subject. */
  readonly column: string;
  /**
   * Conditions over the dataset's columns that together give each row of a subject once; an index range each. No row meets the same condition
   * for two subjects.
   * @param subject SQL of its 20 bytes: a literal, or a column of another relation
   */
  rowsOf(subject: string): readonly string[];
  /** Names of the indexes that `rowsOf` needs: without them no subject is built. */
  readonly indexes: readonly string[];
}

/** A state of single subjects. */
export type SubjectState = DerivedState & { readonly subjects: StateSubjects };

/** Logs by topic position; null stands for anything. */
export interface HistoryFilter {
  /** Alternatives for topic0; none: any, or none at all. */
  readonly topics: readonly Hash[];
  /** Alternatives for topic 1 to 3, by position. */
  readonly indexed?: readonly (readonly Hash[] | null)[];
  /** Contracts that emit them; absent: any. */
  readonly addresses?: readonly Address[];
}

/** How the history of one wallet or one contract is read ahead of the backfill. */
export interface SubjectHistories {
  /** Filters that together give every log of the dataset that moves something of the wallet. */
  ofWallet(chain: Chain, wallet: Address): readonly HistoryFilter[];
  /** Filters that give every log of the dataset that the contract emits. */
  ofContract(chain: Chain, contract: Address): readonly HistoryFilter[];
  /** Present where the dataset takes any log; such histories are read of chains too of which it is not kept otherwise. */
  ofEmitter?(chain: Chain, contract: Address): readonly HistoryFilter[];
  /**
   * Contracts whose logs can only be decoded beside others of their block: where a filter gave one of theirs, all their
   * logs of that block are read as well.
   */
  wholeBlockContracts?(chain: Chain): readonly Address[];
  /**
   * topic0 values whose logs can only be decoded beside all others of their block with one of these: where a filter gave
   * such a log, all of that block are read as well, whatever contract emits them, and their rows are kept too.
   */
  wholeBlockTopics?(chain: Chain): readonly Hash[];
  /** Whether rows are of use without the oldest ones: where an operator drops those, histories begin where rows are kept from. Default: no. */
  readonly mayBeCut?: boolean;
}

/** How rows follow from transactions or traces. */
export interface WholeBlockDecoding<Row = unknown> {
  /**
   * What it reads of each block besides its logs; none: it is decoded from the logs of its topics alone. Traces come from nodes that
   * have them: blocks that no node can trace are missing in the dataset's coverage, and other datasets go on.
   */
  reads(chain: Chain): readonly Exclude<BlockPart, 'logs'>[];
  /** Rows of one block. Pure. */
  decode(block: WholeBlock, context: DecodeContext): Row[];
}

/**
 * One kind of rows that blocks cause. Everything about it is pure and declarative; the sync engine reads, proves and
 * writes. To add a dataset: one folder that exports one of these, and one line in the registry.
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
  /** Stable name, used in coverage rows and `--dataset`: `erc20-transfers`. */
  readonly name: string;
  /**
   * topic0 values that it decodes on this chain; the engine asks upstreams for the union. None, and nothing else that it
   * reads (`wholeBlocks`): the dataset is not kept for this chain. `decode` must look at no other logs: whole blocks bring them all, filtered reads only these.
   */
  topics(chain: Chain): readonly Hash[];
  /** The contracts whose logs alone it decodes; absent: anybody's. History that only such datasets lack is asked for by them. */
  emitters?(chain: Chain): readonly Address[];
  /** Its rows' table: {@link defineTable} of the one in its `schema.ts`. */
  readonly table: RowTable<Row>;
  /** Rows for these logs (of one or more whole blocks, in chain order). Ignores what is not its own. */
  decode(logs: readonly Log[], context: DecodeContext): Row[];
  /**
   * The rows of `decode` one at a time, each made when it is asked for. For datasets of which one log can cause many: where
   * there are very many, the engine holds only some of them at a time.
   */
  eachRow?(logs: readonly Log[], context: DecodeContext): Iterable<Row>;
  /**
   * Present where rows follow from transactions or traces. Blocks are then read whole, at the head as in the backfill, and `decode`
   * and `eachRow` are not asked; `topics` may be none. Transactions are proven by the header's transactions root, traces checked against them.
   */
  readonly wholeBlocks?: WholeBlockDecoding<Row>;
  /** Token contracts that the rows mention, for the token facts queue. */
  contracts?(rows: readonly Row[]): Iterable<MentionedContract>;
  readonly derived?: readonly DerivedState[];
  /** Present where histories of single wallets and contracts can be read on demand. */
  readonly histories?: SubjectHistories;
}
