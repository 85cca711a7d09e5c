/** Streams, matches and deliveries. On Citus local tables of the coordinator: matches are written with their block. */
import { bytea } from '@chainstead/db/column-types';
import { dueColumns, dueIndex } from '@chainstead/jobs/due-columns';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';

const moment = (name: string) => timestamp(name, { withTimezone: true });

export const streams = pgTable(
  'streams',
  {
    id: uuid('id').primaryKey(),
    webhookUrl: text('webhook_url').notNull(),
    description: text('description').notNull(),
    tag: text('tag').notNull(),
    chainIds: bigint('chain_ids', { mode: 'number' }).array().notNull(),
    topic0: text('topic0').array(),
    allAddresses: boolean('all_addresses').notNull(),
    includeNativeTxs: boolean('include_native_txs').notNull(),
    includeContractLogs: boolean('include_contract_logs').notNull(),
    includeInternalTxs: boolean('include_internal_txs').notNull(),
    includeAllTxLogs: boolean('include_all_tx_logs').notNull(),
    filterPossibleSpamAddresses: boolean('filter_possible_spam_addresses').notNull(),
    getNativeBalances: jsonb('get_native_balances').notNull(),
    /** Stored as text to keep the owner's key order in responses and webhooks. */
    abi: text('abi'),
    advancedOptions: text('advanced_options'),
    triggers: text('triggers'),
    demo: boolean('demo').notNull(),
    sendRemoved: boolean('send_removed').notNull().default(false),
    /** Names of contracts or events; null: none. */
    contracts: text('contracts').array(),
    /** active, paused, error, terminated. */
    status: text('status').notNull(),
    statusMessage: text('status_message').notNull(),
    /** Time of entering `error`; the stream is terminated 24 hours later. */
    errorSince: moment('error_since'),
    amountOfAddresses: bigint('amount_of_addresses', { mode: 'number' }).notNull().default(0),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    /** Rows of deleted streams remain for the delivery history; they no longer match. */
    deletedAt: moment('deleted_at'),
    /** Id of the creating key; null for streams created before this column. */
    createdBy: text('created_by'),
  },
  (table) => [index('streams_by_creator').on(table.createdBy).where(sql`deleted_at IS NULL`)],
);

/** Watched addresses. */
export const streamAddresses = pgTable(
  'stream_addresses',
  {
    streamId: uuid('stream_id').notNull(),
    address: bytea('address').notNull(),
    /** The configuration version that added it, so that a matcher can load only newer addresses. */
    version: bigint('version', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.streamId] }),
    index('stream_addresses_by_stream').on(table.streamId, table.address),
    index('stream_addresses_by_version').on(table.version),
  ],
);

/**
 * One row. Every change of streams or addresses raises the version in its transaction. A block's transaction holds it
 * (FOR SHARE), so exactly the changes committed before the block apply to it.
 */
export const streamsVersion = pgTable('streams_version', {
  id: smallint('id').primaryKey(),
  version: bigint('version', { mode: 'number' }).notNull(),
});

/** The match of a stream in a block. Stored once; the unconfirmed and the confirmed delivery are built from it. */
export const streamMatches = pgTable(
  'stream_matches',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    streamId: uuid('stream_id').notNull(),
    blockHash: bytea('block_hash').notNull(),
    blockTimestamp: moment('block_timestamp').notNull(),
    /**
     * JSON of the match, which refers to `stream_items` (matching/stored-match.ts). It is turned into the webhook body
     * before the first attempt and then emptied.
     */
    matched: text('matched').notNull(),
    /**
     * JSON text of the body without confirmed and retries; null until token metadata, triggers and balances are read.
     */
    body: text('body'),
    logs: integer('logs').notNull(),
    txs: integer('txs').notNull(),
    txsInternal: integer('txs_internal').notNull(),
    /** Characters of its items, about the length of its body. */
    length: integer('length').notNull(),
    /** When the block left the canonical chain; no confirmed delivery follows. */
    removedAt: moment('removed_at'),
    /** Whether the confirmed delivery exists. */
    confirmed: boolean('confirmed').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.blockNumber, table.streamId, table.blockHash] }),
    index('stream_matches_unconfirmed')
      .on(table.chainId, table.blockNumber)
      .where(sql`NOT confirmed AND removed_at IS NULL`),
  ],
);

/**
 * Logs, transactions and internal transfers that matched, once per block however many streams show them. Deleted when
 * no match of the block lacks its body.
 */
export const streamItems = pgTable(
  'stream_items',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: bytea('block_hash').notNull(),
    /** 0: log, 1: transaction, 2: internal transfer. */
    kind: smallint('kind').notNull(),
    /** Position in the block, of its kind. */
    place: integer('place').notNull(),
    /** JSON. */
    item: text('item').notNull(),
    /** Time of the last match that refers to it. */
    usedAt: moment('used_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.blockNumber, table.blockHash, table.kind, table.place] }),
    index('stream_items_by_use').on(table.usedAt),
  ],
);

/** Transactions of a match, for finding its attempts by hash. Written with its body. */
export const streamMatchTransactions = pgTable(
  'stream_match_transactions',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    streamId: uuid('stream_id').notNull(),
    blockHash: bytea('block_hash').notNull(),
    transactionHash: bytea('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({
      // The name derived from its columns exceeds the Postgres limit.
      name: 'stream_match_transactions_pk',
      columns: [table.chainId, table.blockNumber, table.streamId, table.blockHash, table.transactionHash],
    }),
    index('stream_match_transactions_by_hash').on(table.transactionHash),
  ],
);

/** The outbox: one row per webhook. Authoritative; queues are rebuilt from it. */
export const streamDeliveries = pgTable(
  'stream_deliveries',
  {
    /** The same for every attempt and replay: derived from stream, chain, block hash and kind. */
    id: uuid('id').primaryKey(),
    streamId: uuid('stream_id').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: bytea('block_hash').notNull(),
    /** unconfirmed, confirmed, removed. */
    kind: text('kind').notNull(),
    /** pending, delivered, failed (retries used up), dropped (its block was removed before delivery). */
    status: text('status').notNull().default('pending'),
    /** Failed attempts so far: `retries` of the next body. */
    retries: integer('retries').notNull().default(0),
    dueAt: moment('due_at').notNull().defaultNow(),
    /** The exact signed text of the newest attempt. Null if it is the `finishBody` result for the stored match. */
    body: text('body'),
    /** Body of a failed attempt to resend unchanged; null: the next body is built from the match. */
    resend: text('resend'),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** First 2xx; a replay does not change it. */
    deliveredAt: moment('delivered_at'),
    /** The requesting key, for webhooks sent on request. */
    requestedBy: text('requested_by'),
  },
  (table) => [
    index('stream_deliveries_open_by_key')
      .on(table.requestedBy)
      .where(sql`status = 'pending' AND requested_by IS NOT NULL`),
    index('stream_deliveries_by_block').on(table.chainId, table.blockNumber),
    index('stream_deliveries_pending_by_stream').on(table.streamId, table.dueAt).where(sql`status = 'pending'`),
  ],
);

/** Every attempt, for /history/logs; failed ones are also listed in /history, with the sent body. */
export const streamAttempts = pgTable(
  'stream_attempts',
  {
    id: uuid('id').notNull(),
    deliveryId: uuid('delivery_id').notNull(),
    streamId: uuid('stream_id').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    confirmed: boolean('confirmed').notNull(),
    webhookUrl: text('webhook_url').notNull(),
    tag: text('tag').notNull(),
    retries: integer('retries').notNull(),
    success: boolean('success').notNull(),
    /** Null without a response. */
    httpStatus: integer('http_status'),
    errorMessage: text('error_message'),
    /** The sent body; only for failures, until their retention ends. */
    body: text('body'),
    /** txs + logs + txsInternal. */
    records: integer('records').notNull(),
    durationMs: integer('duration_ms').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    // The order of lists. With random ids alone, each row of a large table would go to another page.
    primaryKey({ columns: [table.createdAt, table.id] }),
    index('stream_attempts_by_stream').on(table.streamId, table.createdAt, table.id),
    index('stream_attempts_by_block').on(table.chainId, table.blockNumber),
    index('stream_attempts_failed').on(table.createdAt, table.id).where(sql`NOT success`),
    index('stream_attempts_failed_by_id').on(table.id).where(sql`NOT success`),
  ],
);

/** Delivery statistics of a stream. Exact when no delivery is in flight (docs/api/streams-reference.md#statistics). */
export const streamStats = pgTable('stream_stats', {
  streamId: uuid('stream_id').primaryKey(),
  webhooksDelivered: bigint('webhooks_delivered', { mode: 'number' }).notNull().default(0),
  webhooksFailed: bigint('webhooks_failed', { mode: 'number' }).notNull().default(0),
  logsProcessed: bigint('logs_processed', { mode: 'number' }).notNull().default(0),
  txsProcessed: bigint('txs_processed', { mode: 'number' }).notNull().default(0),
  txsInternalProcessed: bigint('txs_internal_processed', { mode: 'number' }).notNull().default(0),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

/**
 * Success rate of a webhook URL: 0 to 100, plus one per success, minus one per failure (docs/api/streams.md#status).
 */
export const webhookHealth = pgTable('webhook_health', {
  webhookUrl: text('webhook_url').primaryKey(),
  successRate: integer('success_rate').notNull().default(100),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

/** Leases of hosts: one process sends to a host until its lease expires. */
export const webhookHostLeases = pgTable('webhook_host_leases', {
  /** Origin of the webhooks' URLs. */
  host: text('host').primaryKey(),
  holder: uuid('holder').notNull(),
  heldUntil: moment('held_until').notNull(),
});

/** One row: settings of the account. */
export const streamSettings = pgTable('stream_settings', {
  id: smallint('id').primaryKey(),
  region: text('region').notNull(),
  secretKey: text('secret_key').notNull(),
  /** Also signs until its overlap ends. */
  previousSecretKey: text('previous_secret_key'),
  previousValidUntil: moment('previous_valid_until'),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

/** Replays of a stream over past blocks. */
export const historicalJobs = pgTable(
  'historical_jobs',
  {
    id: uuid('id').primaryKey(),
    streamId: uuid('stream_id').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    fromBlock: bigint('from_block', { mode: 'number' }).notNull(),
    toBlock: bigint('to_block', { mode: 'number' }).notNull(),
    /** The next block to process. */
    nextBlock: bigint('next_block', { mode: 'number' }).notNull(),
    /** Unix seconds, both inclusive, if the job was requested by time. */
    fromTimestamp: bigint('from_timestamp', { mode: 'number' }),
    toTimestamp: bigint('to_timestamp', { mode: 'number' }),
    /** Hexadecimal addresses that replace the stream's; null: the stream's. */
    addresses: text('addresses').array(),
    /** Id of the requesting key; null without a key. */
    requestedBy: text('requested_by'),
    /** pending, running, done, failed. */
    status: text('status').notNull().default('pending'),
    matches: bigint('matches', { mode: 'number' }).notNull().default(0),
    ...dueColumns(''),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [dueIndex('historical_jobs_due', table, `status IN ('pending', 'running')`)],
);
