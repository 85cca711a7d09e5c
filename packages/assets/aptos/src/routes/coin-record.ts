import { hexText } from '@chainstead/db';
import {
  digits,
  hex,
  hexDigits,
  int4,
  packedRows,
  preciseMoment,
  text,
  textOrNull,
} from '@chainstead/db/packed-rows';
import { z } from '@hono/zod-openapi';

/** docs/api/aptos.md#coins */
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

export const COIN_ROWS = packedRows({
  coin_type: text('coin_type'),
  coin_type_hash: hexDigits('coin_type_hash', 32),
  creator_address: hex('creator_address', 32),
  decimals: int4('decimals'),
  name: text('name'),
  supply_aggregator_table_handle: textOrNull(hexText('supply_aggregator_table_handle')),
  supply_aggregator_table_key: textOrNull(hexText('supply_aggregator_table_key')),
  symbol: text('symbol'),
  transaction_created_timestamp: preciseMoment('transaction_timestamp'),
  transaction_version_created: digits('transaction_version'),
});
