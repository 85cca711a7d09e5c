import { z } from '@hono/zod-openapi';
import { timestampText, utcText } from './timestamp-text.ts';

const shared = { amount: z.string(), coin_type: z.string(), coin_type_hash: z.string() };

/** What a wallet holds of a coin (docs/provider-contract.md#coin-balances). */
export const balanceRecordSchema = z
  .object({
    ...shared,
    last_transaction_timestamp: z.string(),
    last_transaction_version: z.string(),
    owner_address: z.string(),
  })
  .openapi('AptosCoinBalance');

/** What a wallet held of a coin after a transaction. */
export const historicalBalanceRecordSchema = z
  .object({
    ...shared,
    transaction_timestamp: z.string(),
    transaction_version: z.string(),
    owner_address: z.string(),
  })
  .openapi('AptosHistoricalCoinBalance');

const SHARED_COLUMNS = `amount, coin_type, encode(coin_type_hash, 'hex') AS coin_type_hash, '0x' || encode(owner_address, 'hex') AS owner_address`;

/** Columns of {@link BalanceResult}, of the newest balances and of the history. */
export const BALANCE_COLUMNS = `${SHARED_COLUMNS}, ${utcText('last_transaction_timestamp')} AS at, last_transaction_version AS version`;
export const HISTORICAL_BALANCE_COLUMNS = `${SHARED_COLUMNS}, ${utcText('transaction_timestamp')} AS at, transaction_version AS version`;

export interface BalanceResult {
  readonly amount: string;
  readonly coin_type: string;
  readonly coin_type_hash: string;
  readonly owner_address: string;
  readonly at: string;
  readonly version: number;
}

export function showBalance(row: BalanceResult): z.infer<typeof balanceRecordSchema> {
  return {
    amount: row.amount,
    coin_type: row.coin_type,
    coin_type_hash: row.coin_type_hash,
    last_transaction_timestamp: timestampText(row.at),
    last_transaction_version: String(row.version),
    owner_address: row.owner_address,
  };
}

export function showHistoricalBalance(row: BalanceResult): z.infer<typeof historicalBalanceRecordSchema> {
  return {
    amount: row.amount,
    coin_type: row.coin_type,
    coin_type_hash: row.coin_type_hash,
    transaction_timestamp: timestampText(row.at),
    transaction_version: String(row.version),
    owner_address: row.owner_address,
  };
}
