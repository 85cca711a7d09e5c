import type { Hash } from '@chainstead/core';
import { hex, hexOrNull, int4, longHex } from '@chainstead/db/packed-rows';

export const LOG_COLUMNS = {
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  topic0: hexOrNull<Hash>('topic0', 32),
  topic1: hexOrNull<Hash>('topic1', 32),
  topic2: hexOrNull<Hash>('topic2', 32),
  topic3: hexOrNull<Hash>('topic3', 32),
  data: longHex('data'),
};
