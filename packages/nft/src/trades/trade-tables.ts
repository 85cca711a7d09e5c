import { createTablesInUse, type TablesInUse } from '@chainstead/answers';
import { type Address, systemClock } from '@chainstead/core';
import { addressBytes, type Bind, expectedTrue, type ReadDatabase } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { FORMER_TABLE } from './schema.ts';

/** A table of trades, and how its rows are found: conditions over its columns. */
export interface TradeTable {
  readonly name: string;
  ofCollection(collection: BoundAddress): readonly string[];
  /** Beside those of its collection. @param tokenId SQL of a numeric */
  ofToken(tokenId: string): readonly string[];
  ofWallet(side: 'seller' | 'buyer', wallet: BoundAddress): readonly string[];
}

/** An address as values of a statement. */
export interface BoundAddress {
  readonly bytes: string;
  readonly key: string;
}

export function bindAddress(address: Address, bind: Bind): BoundAddress {
  return { bytes: `${bind(addressBytes(address))}::bytea`, key: `${bind(addressKey(address))}::bigint` };
}

/**
 * Whole addresses and ids are compared beside their keys as what is expected to be true: else the planner multiplies both
 * selectivities, expects next to no rows, and reads and sorts all there are.
 */
const PARTITIONED: TradeTable = {
  name: 'nft_trades',
  ofCollection: ({ bytes, key }) => [`collection_key = ${key}`, expectedTrue(`token_address = ${bytes}`)],
  ofToken: (tokenId) => [`token_id_key(token_id) = token_id_key(${tokenId})`, expectedTrue(`token_id = ${tokenId}`)],
  ofWallet: (side, { bytes, key }) => [`address_key(${side}) = ${key}`, expectedTrue(`${side} = ${bytes}`)],
};

const UNPARTITIONED: TradeTable = {
  name: FORMER_TABLE,
  ofCollection: ({ bytes }) => [`token_address = ${bytes}`],
  ofToken: (tokenId) => [`token_id = ${tokenId}`],
  ofWallet: (side, { bytes }) => [`${side} = ${bytes}`],
};

/** The tables that a statement has to read. */
export const TRADE_TABLES: Readonly<Record<TablesInUse, readonly TradeTable[]>> = {
  partitioned: [PARTITIONED],
  both: [PARTITIONED, UNPARTITIONED],
};

/** Tells which tables hold trades. */
export function createTradeTables(database: ReadDatabase): () => Promise<TablesInUse> {
  return createTablesInUse(database, systemClock, FORMER_TABLE);
}
