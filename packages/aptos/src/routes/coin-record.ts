import { z } from '@hono/zod-openapi';
import { timestampText, utcText } from './timestamp-text.ts';

/** A coin as the API shows it (docs/provider-contract.md#coins). */
export const coinRecordSchema = z
  .object({
    coin_type: z.string(),
    coin_type_hash: z.string().openapi({ pattern: '^[0-9a-f]{64}$' }),
    creator_address: z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' }),
    decimals: z.number(),
    name: z.string(),
    supply_aggregator_table_handle: z.string().nullable(),
    supply_aggregator_table_key: z.string().nullable(),
    symbol: z.string(),
    transaction_created_timestamp: z.string().openapi({ example: '2023-02-07T08:54:55.000000Z' }),
    transaction_version_created: z.string(),
  })
  .openapi('AptosCoin');

export type CoinRecord = z.infer<typeof coinRecordSchema>;

/** Columns of {@link CoinResult}. */
export const COIN_COLUMNS = `coin_type, encode(coin_type_hash, 'hex') AS coin_type_hash, '0x' || encode(creator_address, 'hex') AS creator_address,
  decimals, name, '0x' || encode(supply_aggregator_table_handle, 'hex') AS supply_aggregator_table_handle,
  '0x' || encode(supply_aggregator_table_key, 'hex') AS supply_aggregator_table_key, symbol, ${utcText('transaction_timestamp')} AS transaction_timestamp, transaction_version`;

export interface CoinResult extends Omit<CoinRecord, 'transaction_created_timestamp' | 'transaction_version_created'> {
  readonly transaction_timestamp: string;
  readonly transaction_version: number;
}

export function showCoin(row: CoinResult): CoinRecord {
  return {
    coin_type: row.coin_type,
    coin_type_hash: row.coin_type_hash,
    creator_address: row.creator_address,
    decimals: row.decimals,
    name: row.name,
    supply_aggregator_table_handle: row.supply_aggregator_table_handle,
    supply_aggregator_table_key: row.supply_aggregator_table_key,
    symbol: row.symbol,
    transaction_created_timestamp: timestampText(row.transaction_timestamp),
    transaction_version_created: String(row.transaction_version),
  };
}
