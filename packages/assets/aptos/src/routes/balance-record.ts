import { digits, hex, hexDigits, packedRows, preciseMoment, text } from '@chainstead/db/packed-rows';
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
  last_transaction_timestamp: preciseMoment('last_transaction_timestamp'),
  last_transaction_version: digits('last_transaction_version'),
});

export const HISTORICAL_BALANCE_ROWS = packedRows({
  ...SHARED_COLUMNS,
  transaction_timestamp: preciseMoment('transaction_timestamp'),
  transaction_version: digits('transaction_version'),
});
