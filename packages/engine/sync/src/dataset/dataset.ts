import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange, Hash, Log } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Projection } from './projection.ts';
import type { RowTable } from './row-table.ts';
import type { WholeBlock, WholeBlockReading } from './whole-block.ts';

/** No clock, no I/O. */
export interface DecodeContext {
  readonly chain: Chain;
  /** Unix seconds, of a block in this batch. */
  timestampOf(blockNumber: number): number;
}

export type TokenStandard = 'erc20' | 'erc721' | 'erc1155';

export interface MentionedContract {
  readonly address: Address;
  readonly standard: TokenStandard;
}

/** Each address once. @example contractsIn('erc20', ({ token }) => token) */
export function contractsIn<Row>(
  standard: TokenStandard,
  addressesOf: (row: Row) => Address | null | readonly (Address | null)[],
) {
  return function* (rows: readonly Row[]): Generator<MentionedContract> {
    const addresses = rows.flatMap((row) => addressesOf(row));
    for (const address of new Set(addresses)) if (address !== null) yield { address, standard };
  };
}

/** A log filter by topic position; null matches any topic. */
export interface HistoryFilter {
  /** Alternatives for topic0; empty: any, or none at all. */
  readonly topics: readonly Hash[];
  /** Alternatives for topics 1 to 3. */
  readonly indexed?: readonly (readonly Hash[] | null)[];
  /** @default any */
  readonly addresses?: readonly Address[];
}

/** On-demand backfill of one wallet or contract, ahead of the chain's backfill. */
export interface SubjectHistories {
  /** Together, they match every log that moves assets of the wallet. */
  ofWallet(chain: Chain, wallet: Address): readonly HistoryFilter[];
  /** They match every log that the contract emits. */
  ofContract(chain: Chain, contract: Address): readonly HistoryFilter[];
  /** Present if the dataset takes any log. Also runs on chains it is not indexed for. */
  ofEmitter?(chain: Chain, contract: Address): readonly HistoryFilter[];
  /** Logs of these contracts can only be decoded with all their logs of the block. */
  wholeBlockContracts?(chain: Chain): readonly Address[];
  /** Values of topic0 that need all such logs of the block, from any contract. All are stored. */
  wholeBlockTopics?(chain: Chain): readonly Hash[];
  /** On-demand backfills start at the retention window. @default false */
  readonly mayBeCut?: boolean;
}

export interface TransactionHistories<Row = unknown> {
  /** For logs of the account's transactions. Those in stored sent transactions need no log. */
  filters(chain: Chain, account: Address): readonly HistoryFilter[];
  /** False: transactions with these logs are not read further. */
  mayHaveRows(logs: readonly Log[], chain: Chain): boolean;
  /** Other rows of the account's transactions are not stored. */
  isOf(row: Row, account: Address): boolean;
}

export interface WholeBlockDecoding<Row = unknown> extends WholeBlockReading {
  decode(block: WholeBlock, context: DecodeContext): Row[];
}

export interface CommittedBlocks {
  readonly range: BlockRange;
  readonly datasets: ReadonlySet<string>;
}

export interface DependentRows {
  /** Under the commit lock. @throws a retryable error if earlier datasets lack blocks */
  select(
    transaction: Transaction,
    chain: Chain,
    blocks: CommittedBlocks,
    lines: readonly string[],
  ): Promise<readonly string[]>;
}

export interface PrecedingRows {
  /** Runs before rows change. The result removes dependent rows later, under the commit lock. */
  watch(transaction: Transaction, chain: Chain, range: BlockRange): Promise<() => Promise<void>>;
}

/**
 * One kind of rows decoded from blocks. All members are pure and declarative: the engine reads,
 * proves and writes. A new dataset is a folder that exports a `Dataset`, and a line in the
 * registry.
 *
 * @example
 * ```ts
 * import { parseAddress, parseHash } from '@chainstead/core';
 * import { address, logPlace, uint256 } from '@chainstead/db/column-types';
 * import { LOCAL, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
 * import { type Dataset, defineTable } from '@chainstead/sync/datasets';
 *
 * const table = storedTable(
 *   'burns',
 *   { account: address('account').notNull(), ...logPlace(), amount: uint256('amount').notNull() },
 *   { writes: 'append', placement: LOCAL, key: ['account', ...LOG_PLACE] },
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
 *     logs.flatMap(({ topics: [topic, account], data, blockNumber, transactionIndex, logIndex }) => {
 *       if (topic !== BURN_TOPIC || account === undefined || data.length !== 66) return [];
 *       const place = { chainId: chain.id, blockNumber, transactionIndex, logIndex };
 *       return [{ account: parseAddress(`0x${account.slice(-40)}`), ...place, amount: BigInt(data).toString() }];
 *     }),
 * };
 * ```
 */
export interface Dataset<Row = unknown> {
  /** Stable name in coverage records and `--dataset`: `erc20-transfers`. */
  readonly name: string;
  /** Values of topic0: `decode` gets only their logs. Empty: blocks are not read for logs, except with `anyTopic`. */
  topics(chain: Chain): readonly Hash[];
  /** Only their logs are decoded: some reads filter by contract. @default any */
  emitters?(chain: Chain): readonly Address[] | null;
  /** `emitters`' logs with any topics, or none; `topics` is empty. @default false */
  anyTopic?(chain: Chain): boolean;
  /** Even below the chain's own history. Blocks below are no gaps. @default null: all of it */
  firstBlock?(chain: Pick<Chain, 'id'>): number | null;
  /** Rejects if its definition has changed: decoded rows may be missing. Under the commit lock. */
  requireCurrent?(transaction: Transaction): Promise<void>;
  /** Rows depend on those of datasets before it in the list. It has no projections. */
  readonly dependent?: DependentRows;
  readonly preceding?: PrecedingRows;
  readonly table: RowTable<Row>;
  /** For the logs of whole blocks, in chain order. Ignores logs of other datasets. */
  decode(logs: readonly Log[], context: DecodeContext): Row[];
  /** The rows of `decode` one at a time: saves memory if there are many per log. */
  eachRow?(logs: readonly Log[], context: DecodeContext): Iterable<Row>;
  /** Blocks are then read whole; `decode` and `eachRow` are not called. */
  readonly wholeBlocks?: WholeBlockDecoding<Row>;
  contracts?(rows: readonly Row[]): Iterable<MentionedContract>;
  readonly projections?: readonly Projection[];
  /** Retention settings keep its old rows. @default false */
  readonly isKeptWhole?: boolean;
  /** Retention deletes old rows of a table keyed by chain and block. @default false */
  readonly deletesOldRows?: boolean;
  readonly histories?: SubjectHistories;
  /** For single accounts, by whole transactions; needs `wholeBlocks`. */
  readonly transactionHistories?: TransactionHistories<Row>;
}
