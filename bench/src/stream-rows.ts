import type { ScratchDatabase } from '@chainstead/testkit';
import { CHAIN_ID } from './bench-chain.ts';

export interface StreamPlan {
  readonly id: string;
  readonly webhookUrl: string;
  /** Besides logs of contracts. Default false. */
  readonly includeNativeTxs?: boolean;
}

/** An id that tells its number, so that bodies can name their stream before it exists. */
export function streamId(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

/** Active streams, written as the program's own routes write them: they raise the configuration's version. */
export async function addStreams({ database }: ScratchDatabase, streams: readonly StreamPlan[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query('UPDATE streams_version SET version = version + 1');
    await transaction.query(
      `INSERT INTO streams (id, webhook_url, description, tag, chain_ids, all_addresses, include_native_txs, include_contract_logs,
         include_internal_txs, include_all_tx_logs, filter_possible_spam_addresses, get_native_balances, demo, status, status_message)
       SELECT id, url, 'benchmark', 'benchmark', ARRAY[$4::bigint], false, native, true, false, false, false, '[]', false, 'active',
         'Stream is active'
       FROM unnest($1::uuid[], $2::text[], $3::boolean[]) AS given(id, url, native)`,
      [
        streams.map(({ id }) => id),
        streams.map(({ webhookUrl }) => webhookUrl),
        streams.map(({ includeNativeTxs }) => includeNativeTxs === true),
        CHAIN_ID,
      ],
    );
  });
}

/**
 * Has the streams watch so many addresses in all, the same number each: those that are given, and others that occur nowhere.
 */
export async function addAddresses(
  { database }: ScratchDatabase,
  ids: readonly string[],
  watched: { readonly occurring: readonly string[]; readonly count: number },
): Promise<void> {
  const { occurring, count } = watched;
  await database.transaction(async (transaction) => {
    await transaction.query('UPDATE streams_version SET version = version + 1');
    await transaction.query(
      `INSERT INTO stream_addresses (stream_id, address, version)
       SELECT ($1::uuid[])[1 + place % cardinality($1)],
         CASE WHEN place < cardinality($2::bytea[]) THEN ($2)[1 + place]
           ELSE decode(md5('high' || place) || left(md5('low' || place), 8), 'hex') END,
         (SELECT version FROM streams_version)
       FROM generate_series(0, $3::int - 1) AS place`,
      [ids, occurring.map((address) => Buffer.from(address.slice(2), 'hex')), count],
    );
    await transaction.query('UPDATE streams SET amount_of_addresses = $1 WHERE id = ANY ($2::uuid[])', [
      Math.floor(count / ids.length),
      ids,
    ]);
  });
  await database.query('VACUUM ANALYZE stream_addresses');
}
