/**
 * Sync state. Exclusion constraints (no two ranges or claims overlap) are in migrations/, because drizzle-kit does not
 * support them. On Citus, these are local tables of the coordinator.
 */
import { bytea } from '@chainstead/db/column-types';
import { dueColumns } from '@chainstead/jobs/due-columns';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  date,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';

/** Headers of followed blocks, and of every backfilled block with rows. */
export const blocks = pgTable(
  'blocks',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: bytea('block_hash').notNull(),
    /** Null if the block was backfilled from logs alone. */
    parentHash: bytea('parent_hash'),
    blockTimestamp: timestamp('block_timestamp', { withTimezone: true, mode: 'date' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.blockNumber] })],
);

/** One row per chain: the follower's position, and the reason why it is blocked or stopped. */
export const syncChains = pgTable('sync_chains', {
  chainId: bigint('chain_id', { mode: 'number' }).primaryKey(),
  /** Chain key in the configuration, for readers that have only the database. */
  chainKey: text('chain_key'),
  /** First block to index, as configured by the operator. */
  historyStart: bigint('history_start', { mode: 'number' }).notNull(),
  /** First followed block; all blocks below belong to the backfill. */
  firstFollowed: bigint('first_followed', { mode: 'number' }).notNull(),
  /** Last block written by the follower; null before the first one. */
  checkpoint: bigint('checkpoint', { mode: 'number' }),
  checkpointHash: bytea('checkpoint_hash'),
  finalized: bigint('finalized', { mode: 'number' }),
  /** Newest head announced by an upstream. */
  head: bigint('head', { mode: 'number' }),
  /** Error code and message of a stopped chain; null while it runs. */
  stopCode: text('stop_code'),
  stopMessage: text('stop_message'),
  /** Reason for the current lack of progress: upstream, call, response. */
  stallReason: text('stall_reason'),
  /** Upstream health as measured by the ingest process (UpstreamStatus[]). */
  upstreams: jsonb('upstreams'),
  /** Blocks per second read by the background prover; null while it is idle. */
  proverRate: doublePrecision('prover_rate'),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
});

/**
 * Whether the head of each chain is known now, written every few seconds by one ingest process. An older row means that
 * no process works on the chain.
 */
export const headReports = pgTable('head_reports', {
  /** EVM chain id in decimal, or `aptos` or `aptos-testnet`. */
  chain: text('chain').primaryKey(),
  /** The process that writes the row. Another one takes over when it is silent. */
  reporter: uuid('reporter').notNull(),
  reportedAt: timestamp('reported_at', { withTimezone: true }).notNull(),
  /** When a node last returned the head; null while it is known. */
  unknownSince: timestamp('unknown_since', { withTimezone: true }),
  reason: text('reason'),
});

/** Progress of each chain by minute, for a day: the data of lag and speed charts. */
export const chainSamples = pgTable(
  'chain_metrics_minutely',
  {
    /** EVM chain id in decimal, or `aptos` or `aptos-testnet`. */
    chain: text('chain').notNull(),
    minute: timestamp('minute', { withTimezone: true }).notNull(),
    head: bigint('head', { mode: 'number' }),
    checkpoint: bigint('checkpoint', { mode: 'number' }),
    /** Covered blocks (Aptos: versions), summed over all datasets. */
    covered: bigint('covered', { mode: 'number' }).notNull(),
    /** Rows of transfers and trades written since the server's statistics began; null if unavailable. */
    rows: bigint('rows', { mode: 'number' }),
  },
  (table) => [primaryKey({ columns: [table.chain, table.minute] })],
);

/** Coverage by dataset, with its proof level. Disjoint per chain and dataset. */
export const syncRanges = pgTable(
  'sync_ranges',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    dataset: text('dataset').notNull(),
    firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    /** ProofLevel: receipts, cross, none, not-applicable, unproven. */
    proof: text('proof').notNull(),
    /** Reason of an unproven range: `root-mismatch`. */
    proofReason: text('proof_reason'),
    /** Source of an unproven range; null once proven. */
    upstream: text('upstream'),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.dataset, table.firstBlock] })],
);

/**
 * Covered ranges whose rows were written again, by a reindex or a repair. Exports compare the revisions of the ranges of their files. A record
 * replaces earlier ones within its range.
 */
export const rewrittenRanges = pgTable(
  'rewritten_ranges',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    dataset: text('dataset').notNull(),
    firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    revision: uuid('revision').notNull().defaultRandom(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.dataset, table.firstBlock, table.revision] })],
);

/** Datasets that could not decode some blocks, with the range of these. Deleted once all of them are covered. */
export const datasetFailures = pgTable(
  'dataset_failures',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    dataset: text('dataset').notNull(),
    firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    /** Last error thrown by the dataset. */
    errorMessage: text('error_message').notNull(),
    failedAt: timestamp('failed_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.dataset] })],
);

/**
 * Build progress of a chain's projections. A projection without a row of the program's version is rebuilt from stored
 * rows.
 */
export const projections = pgTable(
  'projections',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    state: text('state').notNull(),
    dataset: text('dataset').notNull(),
    version: integer('version').notNull(),
    /** clearing: old values are being deleted; building: it counts rows up to a block; built: it counts all rows. */
    status: text('status').notNull(),
    /** clearing: next page of its tables; building: last counted block, −1 for none; otherwise 0. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** Rows counted since the build began. */
    rows: bigint('rows', { mode: 'number' }).notNull().default(0),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.state] })],
);

/**
 * Requested subjects (wallets, contracts) of each projection built per subject. A subject without a row here has no
 * rows in the projection's tables.
 */
export const subjectProjections = pgTable(
  'subject_projections',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    state: text('state').notNull(),
    subject: bytea('subject').notNull(),
    /** Last counted block, −1 for none; null: all rows are counted. */
    builtTo: bigint('built_to', { mode: 'number' }),
    /** Its rows in the projection's tables are invalid, and are deleted first. */
    isStale: boolean('is_stale').notNull().default(false),
    /** Rows counted since the build began. */
    rows: bigint('rows', { mode: 'number' }).notNull().default(0),
    lastRequestedAt: timestamp('asked_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.subject, table.chainId, table.state] }),
    index('subject_projections_by_state').on(table.chainId, table.state, table.lastRequestedAt),
  ],
);

/** Block ranges claimed by a job (backfill, prover, reindex). Disjoint per chain. */
export const syncClaims = pgTable(
  'sync_claims',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    /** The owner holds the lease `claims:<owner>` while it lives. */
    owner: bigint('owner', { mode: 'bigint' }).notNull(),
    purpose: text('purpose').notNull(),
    claimedAt: timestamp('claimed_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.firstBlock] })],
);

/** Range jobs requested by operators (backfill, verify, reindex). `ingest` processes run them one after another. */
export const rangeJobs = pgTable(
  'range_jobs',
  {
    /** Ascends with the time of the request. */
    id: text('id').primaryKey(),
    /**
     * EVM chain id in decimal, or `aptos` or `aptos-testnet`. The process that runs a chain's jobs holds the lease
     * `range-jobs:<chain>`.
     */
    chain: text('chain').notNull(),
    /** backfill, verify, reindex. */
    work: text('work').notNull(),
    /** Null: all indexed datasets of the chain. */
    dataset: text('dataset'),
    /** BlockRange[], ascending. */
    ranges: jsonb('ranges').notNull(),
    /** queued, running (also after its process died), done, failed, cancelled. */
    status: text('status').notNull().default('queued'),
    /** Blocks done, and in total; null until known. */
    done: bigint('done', { mode: 'number' }).notNull().default(0),
    total: bigint('total', { mode: 'number' }),
    logs: bigint('logs', { mode: 'number' }).notNull().default(0),
    /** All blocks below are done. Not used by a backfill, whose done blocks are covered. */
    position: bigint('position', { mode: 'number' }),
    /** Result of a verification: VerifyOutcome. */
    outcome: jsonb('outcome'),
    requestedBy: text('requested_by').notNull(),
    requestedAt: timestamp('requested_at', { withTimezone: true }).notNull().defaultNow(),
    /** Time when it was last started, and blocks done by then: the base of its speed. */
    takenAt: timestamp('taken_at', { withTimezone: true }),
    doneBefore: bigint('done_before', { mode: 'number' }).notNull().default(0),
    cancelRequestedAt: timestamp('cancel_asked_at', { withTimezone: true }),
    finishedAt: timestamp('finished_at', { withTimezone: true }),
    /** Attempts since its last progress. */
    attempts: integer('attempts').notNull().default(0),
    /** Earliest start; null: immediately. */
    dueAt: timestamp('due_at', { withTimezone: true }),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [index('range_jobs_open').on(table.chain, table.id).where(sql`status IN ('queued', 'running')`)],
);

/** Incorrect responses of upstreams, found by proofs. One row per block and kind. */
export const upstreamFaults = pgTable(
  'upstream_errors',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    upstream: text('upstream').notNull(),
    kind: text('kind').notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    facts: jsonb('facts').notNull(),
    occurrences: integer('occurrences').notNull().default(1),
    seenAt: timestamp('seen_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.upstream, table.kind, table.blockNumber] }),
    index('upstream_errors_by_time').on(table.seenAt),
  ],
);

/** Incorrect responses of upstreams, counted over all processes by day (UTC) and kind, for a year. */
export const wrongAnswers = pgTable(
  'upstream_mismatches',
  {
    day: date('day').notNull(),
    /** As in `CHAINS`. */
    chain: text('chain').notNull(),
    upstream: text('upstream').notNull(),
    kind: text('kind').notNull(),
    occurrences: bigint('occurrences', { mode: 'number' }).notNull(),
    /** Request of the last one, and its error. */
    method: text('method').notNull(),
    description: text('description').notNull(),
    seenAt: timestamp('seen_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.day, table.chain, table.upstream, table.kind] }),
    index('upstream_mismatches_by_time').on(table.seenAt),
  ],
);

/** Calls to upstreams by all processes, in ten-minute slots, for a day. */
export const upstreamCalls = pgTable(
  'upstream_calls',
  {
    /** Start of the ten minutes. */
    slot: timestamp('slot', { withTimezone: true }).notNull(),
    /** As in `CHAINS`. */
    chain: text('chain').notNull(),
    upstream: text('upstream').notNull(),
    /** Role of the calling processes. */
    role: text('role').notNull(),
    /** ok, error (of the call itself), or the kind of fault. */
    outcome: text('outcome').notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    /** Total response time. The row `ok` has it for all outcomes, like `latency`. */
    busyMs: bigint('busy_ms', { mode: 'number' }).notNull(),
    /** Number of responses per bucket of LATENCY_BOUNDS_MS in packages/rpc. */
    latency: bigint('latency', { mode: 'number' }).array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.slot, table.chain, table.upstream, table.role, table.outcome] })],
);

const due = dueColumns('');

/**
 * On-demand backfills of single wallets and contracts, for chains not covered from their first block. Their coverage is
 * in `subject_ranges`.
 */
export const subjectHistories = pgTable(
  'backfill_requests',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** wallet, contract, sender, receiver, emitter. */
    kind: text('kind').notNull(),
    subject: bytea('subject').notNull(),
    /** pending, running, done, refused (too many calls, no archive node, or quarantined), failed. */
    status: text('status').notNull().default('pending'),
    /** Node calls: the estimate, and those made so far. */
    callsEstimated: integer('calls_estimated'),
    callsMade: integer('calls_made').notNull().default(0),
    rowsAdded: bigint('rows_added', { mode: 'number' }).notNull().default(0),
    /** Prefix of the client's API key, or null. */
    requestedBy: text('requested_by'),
    requestedAt: timestamp('requested_at', { withTimezone: true }).notNull().defaultNow(),
    ...due,
    /** New requests are due immediately. */
    dueAt: due.dueAt.defaultNow(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.kind, table.subject] }),
    index('backfill_requests_unfinished').on(table.chainId, table.status).where(sql`status <> 'done'`),
  ],
);

/** Coverage of on-demand backfills, by subject and dataset. Disjoint (exclusion constraint). */
export const subjectRanges = pgTable(
  'subject_ranges',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    kind: text('kind').notNull(),
    subject: bytea('subject').notNull(),
    dataset: text('dataset').notNull(),
    firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.kind, table.subject, table.dataset, table.firstBlock] })],
);
