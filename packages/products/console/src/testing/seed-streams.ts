import { randomUUID } from 'node:crypto';
import { type Database, sql } from '@chainstead/db';

export interface SeededStream {
  readonly id?: string;
  readonly tag?: string;
  readonly description?: string;
  readonly webhookUrl?: string;
  readonly status?: string;
  readonly statusMessage?: string;
}

/** Creates a stream on Ethereum, bypassing the API. @returns its id */
export async function seedStream(database: Database, given: SeededStream = {}): Promise<string> {
  const { id = randomUUID(), tag = 'shop', description = '', webhookUrl = 'http://127.0.0.1:9/hook' } = given;
  const { status = 'active', statusMessage = 'Stream is active' } = given;
  await database.query(
    sql`INSERT INTO streams (id, webhook_url, description, tag, chain_ids, all_addresses, include_native_txs, include_contract_logs,
       include_internal_txs, include_all_tx_logs, filter_possible_spam_addresses, get_native_balances, demo, status, status_message)
     VALUES (${id}, ${webhookUrl}, ${description}, ${tag}, '{1}', false, true, false, false, false, false, '[]', false, ${status}, ${statusMessage})`,
  );
  await database.query(
    sql`INSERT INTO stream_stats (stream_id, webhooks_delivered, webhooks_failed) VALUES (${id}, 3, 2)`,
  );
  return id;
}

export interface SeededWebhook {
  readonly block: number;
  readonly status: 'pending' | 'delivered' | 'failed';
  /** The result of each attempt: null for 2xx. */
  readonly errors: readonly (string | null)[];
  readonly body?: string;
}

/** Creates a webhook of a stream with its attempts, a minute apart. @returns its id */
export async function seedWebhook(database: Database, streamId: string, given: SeededWebhook): Promise<string> {
  const id = randomUUID();
  const {
    block,
    status,
    errors,
    body = `{"confirmed":false,"retries":0,"block":{"number":"${block}"},"logs":[]}`,
  } = given;
  await database.query(
    sql`INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind, status, retries, body, due_at)
     VALUES (${id}, ${streamId}, 1, ${block}, decode(${block.toString(16).padStart(64, '0')}, 'hex'), 'unconfirmed', ${status}, ${errors.length}, ${body}, now() + interval '1 hour')`,
  );
  for (const [index, error] of errors.entries())
    await database.query(
      sql`INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries, success,
         http_status, error_message, body, records, duration_ms, created_at)
       VALUES (${randomUUID()}, ${id}, ${streamId}, 1, ${block}, false, 'http://127.0.0.1:9/hook', 'shop', ${index}, ${error === null}, ${error === null ? 200 : 500}, ${error}, ${error === null ? null : body}, 2, 12, now() - make_interval(mins => ${100 - block - index}))`,
    );
  return id;
}
