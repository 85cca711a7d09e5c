import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Database, hexBytes, rawSql, sql, type Transaction } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { runProjection } from '@chainstead/sync/ingest';
import { addressOf, coverBlocks, createPartitions, hashOf, seedBuilt, timestampOf } from '@chainstead/testkit';
import { nftTrades } from '../dataset.ts';
import { saleDays } from '../sale-days.ts';
import type { NftTradeRow } from '../schema.ts';

export const COLLECTION = addressOf(0xc011ec);
export const SELLER = addressOf(0x5e11);
export const BUYER = addressOf(0xb1e4);
export const SEAPORT = addressOf(0x5ea);

/** A trade to seed. Default: an ordinary sale of token 1 for one ether. */
export interface SeededTrade {
  readonly token?: Address;
  readonly tokenIds?: readonly string[];
  readonly amounts?: readonly string[];
  readonly marketplace?: string;
  readonly seller?: Address;
  readonly buyer?: Address;
  readonly paymentToken?: Address | null;
  readonly price?: string | null;
  readonly collections?: number;
  readonly blockNumber: number;
  readonly transactionIndex?: number;
  readonly logIndex?: number;
  /** The first row's number. */
  readonly item?: number;
  /** Unix seconds. Default: twelve seconds a block. */
  readonly timestamp?: number;
}

/** The rows of a trade: one per distinct token. */
export function rowsOf(chain: Chain, trade: SeededTrade): NftTradeRow[] {
  const {
    token = COLLECTION,
    tokenIds = ['1'],
    amounts = tokenIds.map(() => '1'),
    blockNumber,
    item = 0,
  } = trade;
  return [...new Set(tokenIds)].map((tokenId, index) => ({
    collectionKey: addressKey(token),
    chainId: chain.id,
    blockNumber,
    transactionIndex: trade.transactionIndex ?? 0,
    logIndex: trade.logIndex ?? 0,
    item: item + index,
    blockTimestamp: new Date((trade.timestamp ?? timestampOf(blockNumber)) * 1000).toISOString(),
    side: 0,
    collections: trade.collections ?? 1,
    leads: index === 0,
    tokenAddress: token,
    tokenId,
    tokenIds: tokenIds.length === 1 ? null : tokenIds,
    amounts: amounts.join() === '1' ? null : amounts,
    marketplace: trade.marketplace ?? 'opensea',
    protocol: trade.marketplace ?? 'seaport-1.5',
    marketplaceAddress: SEAPORT,
    seller: trade.seller ?? SELLER,
    buyer: trade.buyer ?? BUYER,
    paymentToken: trade.paymentToken ?? null,
    price: trade.price === undefined ? '1000000000000000000' : trade.price,
    transactionHash: hashOf(2, blockNumber * 1_000 + (trade.transactionIndex ?? 0)),
  }));
}

/**
 * Writes trades with the rows of their blocks and their derived rows, as the sync engine does, into one partition
 * unless the chain has any. Writes no coverage.
 */
export async function seedTrades(database: Database, chain: Chain, trades: Iterable<SeededTrade>): Promise<void> {
  await database.transaction(async (transaction) => {
    const times = new Map<number, string>();
    await createPartitions(transaction, 'nft_trades', chain.id);
    await transaction.query(sql`CREATE TEMP TABLE added_trades (LIKE nft_trades) ON COMMIT DROP`);
    await transaction.copy('added_trades', nftTrades.table.columns, linesOf(chain, trades, times));
    await transaction.query(sql`INSERT INTO nft_trades SELECT * FROM added_trades`);
    const numbers = [...times.keys()];
    await transaction.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
       SELECT ${chain.id}, * FROM unnest(${numbers}::bigint[], ${numbers.map((number) => hexBytes(hashOf(1, number)))}::bytea[], ${[...times.values()]}::timestamptz[]) ON CONFLICT DO NOTHING`,
    );
    await runProjection(transaction, false, (access) =>
      saleDays.added({ rows: rawSql('added_trades'), subjects: NO_SUBJECT, access }),
    );
  });
}

/** Removes the trades of these blocks, as a rollback does. @param spread as if tables were distributed */
export async function removeTrades(
  transaction: Transaction,
  chain: Chain,
  blocks: readonly number[],
  spread = false,
): Promise<void> {
  await transaction.query(sql`CREATE TEMP TABLE removed_trades (LIKE nft_trades) ON COMMIT DROP`);
  await transaction.query(
    sql`WITH gone AS (DELETE FROM nft_trades WHERE chain_id = ${chain.id} AND block_number = ANY (${blocks}::bigint[]) RETURNING *)
     INSERT INTO removed_trades SELECT * FROM gone`,
  );
  await runProjection(transaction, spread, (access) =>
    saleDays.removed({
      rows: rawSql('removed_trades'),
      subjects: NO_SUBJECT,
      remaining: rawSql('nft_trades'),
      access,
    }),
  );
}

/** Sale days have no subject. */
const NO_SUBJECT = rawSql('');

/** Stores a range as covered by a dataset, with all of its trades counted in sale days. */
export async function seedDatasetCoverage(
  database: Database,
  chain: Chain,
  dataset: string,
  first: number,
  last: number,
): Promise<void> {
  await seedBuilt(database, chain.id, saleDays);
  await coverBlocks(database, chain.id, dataset, first, last);
}

function* linesOf(chain: Chain, trades: Iterable<SeededTrade>, times: Map<number, string>): Generator<string> {
  for (const trade of trades)
    for (const row of rowsOf(chain, trade)) {
      if (!times.has(row.blockNumber)) times.set(row.blockNumber, row.blockTimestamp);
      yield nftTrades.table.copyLine(row);
    }
}
