import { digits, hex, hexDigits, int8, packedRows, preciseMoment, type RowOf, text } from '@chainstead/db/packed-rows';
import { z } from '@hono/zod-openapi';

const shared = { amount: z.string(), coin_type: z.string(), coin_type_hash: z.string() };

/** docs/api/aptos.md#records */
export const balanceRecordSchema = z
  .object({
    ...shared,
    last_transaction_timestamp: z.string(),
    last_transaction_version: z.string(),
    owner_address: z.string(),
  })
  .openapi('AptosCoinBalance');

export const historicalBalanceRecordSchema = z
  .object({
    ...shared,
    transaction_timestamp: z.string(),
    transaction_version: z.string(),
    owner_address: z.string(),
  })
  .openapi('AptosHistoricalCoinBalance');

const SHARED_COLUMNS = {
  amount: digits('amount'),
  coin_type: text('coin_type'),
  coin_type_hash: hexDigits('coin_type_hash', 32),
  owner_address: hex('owner_address', 32),
} as const;

export const BALANCE_ROWS = packedRows({
  ...SHARED_COLUMNS,
  at: preciseMoment('last_transaction_timestamp'),
  version: int8('last_transaction_version'),
});

export const HISTORICAL_BALANCE_ROWS = packedRows({
  ...SHARED_COLUMNS,
  at: preciseMoment('transaction_timestamp'),
  version: int8('transaction_version'),
});

export type BalanceResult = RowOf<typeof BALANCE_ROWS>;

export function showBalance(row: BalanceResult): z.infer<typeof balanceRecordSchema> {
  const { amount, coin_type, coin_type_hash, owner_address, at, version } = row;
  return {
    ...{ amount, coin_type, coin_type_hash },
    ...{ last_transaction_timestamp: at, last_transaction_version: String(version), owner_address },
  };
}

export function showHistoricalBalance(row: BalanceResult): z.infer<typeof historicalBalanceRecordSchema> {
  const { amount, coin_type, coin_type_hash, owner_address, at, version } = row;
  return {
    ...{ amount, coin_type, coin_type_hash },
    ...{ transaction_timestamp: at, transaction_version: String(version), owner_address },
  };
}
