/**
 * Streams, what matched, and its delivery. Local tables of the coordinator on Citus: a block's matches are written in the
 * block's own transaction.
 */
import { bytea } from '@chainstead/db/column-types';
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
    /** Text where the order of keys is the owner's: it is sent back and into webhooks as it came. */
    abi: text('abi'),
    advancedOptions: text('advanced_options'),
    triggers: text('triggers'),
    demo: boolean('demo').notNull(),
    sendRemoved: boolean('send_removed').notNull().default(false),
    /** active, paused, error, terminated. */
    status: text('status').notNull(),
    statusMessage: text('status_message').notNull(),
    /** When it got into error; 24 hours later it is terminated. */
    errorSince: moment('error_since'),
    amountOfAddresses: bigint('amount_of_addresses', { mode: 'number' }).notNull().default(0),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    /** Kept for the history of what was sent; nothing matches any more. */
    deletedAt: moment('deleted_at'),
    /** The key that made it, by its id; null for streams from before that was kept. */
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
    /** The configuration version that added it: what a matcher has not loaded yet. */
    version: bigint('version', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.streamId] }),
    index('stream_addresses_by_stream').on(table.streamId, table.address),
    index('stream_addresses_by_version').on(table.version),
  ],
);

/**
 * One row. Every change of streams or addresses raises the version in its own transaction; a block's transaction holds it
 * (FOR SHARE), so that exactly what was committed before the block applies to it.
 */
export const streamsVersion = pgTable('streams_version', {
  id: smallint('id').primaryKey(),
  version: bigint('version', { mode: 'number' }).notNull(),
});

/** What matched a stream in a block. Stored once; the unconfirmed and the confirmed delivery are made from it. */
export const streamMatches = pgTable(
  'stream_matches',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    streamId: uuid('stream_id').notNull(),
    blockHash: bytea('block_hash').notNull(),
    blockTimestamp: moment('block_timestamp').notNull(),
    /** JSON: what matched, as match.ts has it; made into the webhook's body before the first attempt, and empty from then on. */
    matched: text('matched').notNull(),
    /** JSON text of the body without confirmed and retries; null until token metadata, triggers and balances are read. */
    body: text('body'),
    logs: integer('logs').notNull(),
    txs: integer('txs').notNull(),
    txsInternal: integer('txs_internal').notNull(),
    /** When the block left the canonical chain; its confirmed delivery is never made. */
    removedAt: moment('removed_at'),
    /** Whether the confirmed delivery has been made. */
    confirmed: boolean('confirmed').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.blockNumber, table.streamId, table.blockHash] }),
    index('stream_matches_unconfirmed')
      .on(table.chainId, table.blockNumber)
      .where(sql`NOT confirmed AND removed_at IS NULL`),
  ],
);

/** Transactions that a match tells of, to look its attempts up by hash. Written with its body. */
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
      // The name that follows from its columns is too long for Postgres.
      name: 'stream_match_transactions_pk',
      columns: [table.chainId, table.blockNumber, table.streamId, table.blockHash, table.transactionHash],
    }),
    index('stream_match_transactions_by_hash').on(table.transactionHash),
  ],
);

/** The outbox: one row for each webhook that is to arrive. The truth; queues are rebuilt from it. */
export const streamDeliveries = pgTable(
  'stream_deliveries',
  {
    /** The same on every attempt and replay: derived from stream, chain, block hash and kind. */
    id: uuid('id').primaryKey(),
    streamId: uuid('stream_id').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: bytea('block_hash').notNull(),
    /** unconfirmed, confirmed, removed. */
    kind: text('kind').notNull(),
    /** pending, delivered, failed (retries used up), dropped (its block was removed before it arrived). */
    status: text('status').notNull().default('pending'),
    /** Attempts so far that failed: `retries` of the next body. */
    retries: integer('retries').notNull().default(0),
    dueAt: moment('due_at').notNull().defaultNow(),
    /** The exact text of the newest attempt, as it was signed. Null for what `finishBody` makes of its match's: that is stored once. */
    body: text('body'),
    /** Body of a failed attempt that is to be sent once more, as it was; null: the next body is made anew. */
    resend: text('resend'),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** First 2xx; kept when it is sent again. */
    deliveredAt: moment('delivered_at'),
    /** The key that asked for it, where it is sent on demand. */
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

/** Every attempt, for /history/logs; failed ones are also /history, with the body as it was sent. */
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
    /** Null where no answer came. */
    httpStatus: integer('http_status'),
    errorMessage: text('error_message'),
    /** The body that was sent; only of failures, until their retention ends. */
    body: text('body'),
    /** txs + logs + txsInternal. */
    records: integer('records').notNull(),
    durationMs: integer('duration_ms').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    // The order of lists. By the random ids alone, each row of a large table would go to another page.
    primaryKey({ columns: [table.createdAt, table.id] }),
    index('stream_attempts_by_stream').on(table.streamId, table.createdAt, table.id),
    index('stream_attempts_by_block').on(table.chainId, table.blockNumber),
    index('stream_attempts_failed').on(table.createdAt, table.id).where(sql`NOT success`),
    index('stream_attempts_failed_by_id').on(table.id).where(sql`NOT success`),
  ],
);

/** What a stream has delivered. Exact at rest (docs/provider-contract.md#statistics). */
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

/** How well a webhook URL answers: 0 to 100, up by one for each success, down by one for each failure (docs/provider-contract.md#status). */
export const webhookHealth = pgTable('webhook_health', {
  webhookUrl: text('webhook_url').primaryKey(),
  successRate: integer('success_rate').notNull().default(100),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

/** Which process sends to a host: one at a time, until its lease runs out. */
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
  /** Signs besides the new one until its time is over. */
  previousSecretKey: text('previous_secret_key'),
  previousValidUntil: moment('previous_valid_until'),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

/** Replays of a stream over past blocks. */
export const historicalJobs = pgTable('historical_jobs', {
  id: uuid('id').primaryKey(),
  streamId: uuid('stream_id').notNull(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
  fromBlock: bigint('from_block', { mode: 'number' }).notNull(),
  toBlock: bigint('to_block', { mode: 'number' }).notNull(),
  /** The next block to look at. */
  nextBlock: bigint('next_block', { mode: 'number' }).notNull(),
  /** Unix seconds, both inclusive, where the job was asked for by time. */
  fromTimestamp: bigint('from_timestamp', { mode: 'number' }),
  toTimestamp: bigint('to_timestamp', { mode: 'number' }),
  /** Hexadecimal addresses instead of the stream's own; null: the stream's. */
  addresses: text('addresses').array(),
  /** The key that asked, by its id; null for jobs from before that was kept. */
  requestedBy: text('requested_by'),
  /** pending, running, done, failed. */
  status: text('status').notNull().default('pending'),
  matches: bigint('matches', { mode: 'number' }).notNull().default(0),
  errorMessage: text('error_message'),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});
