import { sql } from '@chainstead/db';
import type { ScratchDatabase } from '@chainstead/testkit';
import { CHAIN_ID } from './bench-chain.ts';
import { BENCHMARK_TOKEN, blockHash, preparedBody } from './webhook-body.ts';

export interface StreamPlan {
  readonly id: string;
  readonly webhookUrl: string;
  /** In addition to logs of contracts. Default false. */
  readonly includeNativeTxs?: boolean;
}

/** An ID that contains its number, so that bodies can name their stream before it exists. */
export function streamId(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

/** Active streams, written as the program's own routes write them: they raise the configuration's version. */
export async function addStreams({ database }: ScratchDatabase, streams: readonly StreamPlan[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(sql`UPDATE streams_version SET version = version + 1`);
    await transaction.query(
      sql`INSERT INTO streams (id, webhook_url, description, tag, chain_ids, all_addresses, include_native_txs, include_contract_logs,
         include_internal_txs, include_all_tx_logs, filter_possible_spam_addresses, get_native_balances, demo, status, status_message)
       SELECT id, url, 'benchmark', 'benchmark', ARRAY[${CHAIN_ID}::bigint], false, native, true, false, false, false, '[]', false, 'active',
         'Stream is active'
       FROM unnest(${streams.map(({ id }) => id)}::uuid[], ${streams.map(({ webhookUrl }) => webhookUrl)}::text[], ${streams.map(({ includeNativeTxs }) => includeNativeTxs === true)}::boolean[]) AS given(id, url, native)`,
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
    await transaction.query(sql`UPDATE streams_version SET version = version + 1`);
    const ofStreams = sql`${ids}::uuid[]`;
    const among = sql`${occurring.map((address) => Buffer.from(address.slice(2), 'hex'))}::bytea[]`;
    await transaction.query(
      sql`INSERT INTO stream_addresses (stream_id, address, version)
       SELECT (${ofStreams})[1 + place % cardinality(${ofStreams})],
         CASE WHEN place < cardinality(${among}) THEN (${among})[1 + place]
           ELSE decode(md5('high' || place) || left(md5('low' || place), 8), 'hex') END,
         (SELECT version FROM streams_version)
       FROM generate_series(0, ${count}::int - 1) AS place`,
    );
    await transaction.query(
      sql`UPDATE streams SET amount_of_addresses = ${Math.floor(count / ids.length)} WHERE id = ANY (${ids}::uuid[])`,
    );
  });
  await database.query(sql`VACUUM ANALYZE stream_addresses`);
}

/**
 * Matches, and a webhook of each in the outbox, due now. The streams get them in turn; each match is of the block whose number it
 * has. Their bodies are made already.
 */
export async function addWebhooks(
  { database }: ScratchDatabase,
  ids: readonly string[],
  numbers: readonly number[],
): Promise<void> {
  const given = numbers.map((number) => ({ number, id: ids[number % ids.length] ?? '' }));
  await database.transaction(async (transaction) => {
    // Known, or the worker would ask nodes for it.
    await transaction.query(
      sql`INSERT INTO tokens (address, chain_id, facts_status, name, symbol, decimals)
       VALUES (decode(${BENCHMARK_TOKEN.slice(2)}, 'hex'), ${CHAIN_ID}, 'known', 'Benchmark Token', 'BENCH', 6) ON CONFLICT DO NOTHING`,
    );
    await transaction.query(
      sql`WITH given AS (
         SELECT * FROM unnest(${given.map(({ number }) => number)}::bigint[], ${given.map(({ id }) => id)}::uuid[], ${given.map(({ number }) => Buffer.from(blockHash(number).slice(2), 'hex'))}::bytea[], ${given.map(({ id, number }) => preparedBody(id, number))}::text[])
           AS given(number, stream_id, hash, body)
       ), matches AS (
         INSERT INTO stream_matches (chain_id, block_number, stream_id, block_hash, block_timestamp, matched, body, logs, txs, txs_internal, length)
         SELECT ${CHAIN_ID}, number, stream_id, hash, to_timestamp(1700000000), '', body, 1, 1, 0, length(body) FROM given
       ), transactions AS (
         INSERT INTO stream_match_transactions (chain_id, block_number, stream_id, block_hash, transaction_hash)
         SELECT ${CHAIN_ID}, number, stream_id, hash, hash FROM given
       )
       INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind)
       SELECT gen_random_uuid(), stream_id, ${CHAIN_ID}, number, hash, 'unconfirmed' FROM given`,
    );
    await transaction.query(sql`NOTIFY chainstead_deliveries`);
  });
}

/** Whether nothing waits in the outbox any more. */
export async function isAllSent({ database }: ScratchDatabase): Promise<boolean> {
  const [row] = await database.query<{ waiting: boolean }>(
    sql`SELECT EXISTS (SELECT FROM stream_deliveries WHERE status = 'pending') AS waiting`,
  );
  return row?.waiting === false;
}
