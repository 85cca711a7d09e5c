/**
 * Sync state. Exclusion constraints (no two ranges or claims overlap) are in migrations/: drizzle-kit has no words for them.
 * On Citus these stay local tables of the coordinator.
 */
import { bytea } from '@chainstead/db/column-types';
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
} from 'drizzle-orm/pg-core';

/** Headers of followed blocks, and of every backfilled block that caused a row. */
export const blocks = pgTable(
  'blocks',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: bytea('block_hash').notNull(),
    /** Null where the backfill learnt the block from its logs alone. */
    parentHash: bytea('parent_hash'),
    blockTimestamp: timestamp('block_timestamp', { withTimezone: true, mode: 'date' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.blockNumber] })],
);

/** One row a chain: where the follower stands, and why it does not move. */
export const syncChains = pgTable('sync_chains', {
  chainId: bigint('chain_id', { mode: 'number' }).primaryKey(),
  /** The key that the chain has in the configuration: who looks at the database alone may not know it. */
  chainKey: text('chain_key'),
  /** Where the operator wants history to begin. */
  historyStart: bigint('history_start', { mode: 'number' }).notNull(),
  /** First block that was followed; everything below belongs to the backfill. */
  firstFollowed: bigint('first_followed', { mode: 'number' }).notNull(),
  /** Last block written by the follower; null before the first. */
  checkpoint: bigint('checkpoint', { mode: 'number' }),
  checkpointHash: bytea('checkpoint_hash'),
  finalized: bigint('finalized', { mode: 'number' }),
  /** Newest head that an upstream announced. */
  head: bigint('head', { mode: 'number' }),
  /** Error code and text of what stopped the chain for good; null while it runs. */
  stopCode: text('stop_code'),
  stopMessage: text('stop_message'),
  /** Why there is no progress at the moment: upstream, call, answer. */
  stallReason: text('stall_reason'),
  /** Upstream health as the ingest process sees it (UpstreamStatus[]). */
  upstreams: jsonb('upstreams'),
  /** Blocks a second that the background prover reads; null while it has nothing to do. */
  proverRate: doublePrecision('prover_rate'),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
});

/** Where each chain stood, by the minute, for a day: what lag and pace are plotted from. */
export const chainSamples = pgTable(
  'chain_samples',
  {
    /** Id of an EVM chain in decimal; of Aptos, `aptos` or `aptos-testnet`. */
    chain: text('chain').notNull(),
    minute: timestamp('minute', { withTimezone: true }).notNull(),
    head: bigint('head', { mode: 'number' }),
    checkpoint: bigint('checkpoint', { mode: 'number' }),
    /** Blocks (versions) covered, all datasets added up. */
    covered: bigint('covered', { mode: 'number' }).notNull(),
    /** Rows of transfers and trades that the server has written since its statistics began; null where it does not tell. */
    rows: bigint('rows', { mode: 'number' }),
  },
  (table) => [primaryKey({ columns: [table.chain, table.minute] })],
);

/** What is covered, by dataset, and how far its completeness is proven. Disjoint per chain and dataset. */
export const syncRanges = pgTable(
  'sync_ranges',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    dataset: text('dataset').notNull(),
    firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    /** ProofLevel: receipts, cross, none, not-applicable, unproven. */
    proof: text('proof').notNull(),
    /** Why it is unproven: `root-mismatch`. */
    proofReason: text('proof_reason'),
    /** Who gave an unproven range; null once proven. */
    upstream: text('upstream'),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.dataset, table.firstBlock] })],
);

/**
 * How far each derived state of a chain counts the rows of its dataset. One that has no row here, or one of another version than
 * the program's, is built anew from the rows that are there.
 */
export const derivedStates = pgTable(
  'derived_states',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    state: text('state').notNull(),
    dataset: text('dataset').notNull(),
    version: integer('version').notNull(),
    /** clearing: what it held is deleted; building: it counts the rows up to a block; built: it counts all. */
    status: text('status').notNull(),
    /** clearing: the page of its tables that is next; building: the last block that it counts, −1 for none; else 0. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** Rows that were counted since building began. */
    rows: bigint('rows', { mode: 'number' }).notNull().default(0),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.state] })],
);

/**
 * Subjects (wallets, contracts) that somebody asked about, for each state that is kept for such only. One without a row here has no rows in
 * the state's tables.
 */
export const keptSubjects = pgTable(
  'kept_subjects',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    state: text('state').notNull(),
    subject: bytea('subject').notNull(),
    /** The last block whose rows are counted, −1 for none; null: all rows are. */
    builtTo: bigint('built_to', { mode: 'number' }),
    /** What the state's tables have of it counts for nothing, and is deleted first. */
    isStale: boolean('is_stale').notNull().default(false),
    /** Rows that were counted since building began. */
    rows: bigint('rows', { mode: 'number' }).notNull().default(0),
    askedAt: timestamp('asked_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.subject, table.chainId, table.state] }),
    index('kept_subjects_by_state').on(table.chainId, table.state, table.askedAt),
  ],
);

/** Ranges that some work (backfill, prover, reindex) holds. Disjoint per chain. */
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

/** Work on ranges that operators asked for (backfill, verify, reindex), which processes of the role `ingest` take one after the other. */
export const rangeJobs = pgTable(
  'range_jobs',
  {
    /** Ascends with the time when it was asked for. */
    id: text('id').primaryKey(),
    /** Id of an EVM chain in decimal; of Aptos, `aptos` or `aptos-testnet`. Whoever works on a chain's jobs holds the lease `range-jobs:<chain>`. */
    chain: text('chain').notNull(),
    /** backfill, verify, reindex. */
    work: text('work').notNull(),
    /** Null: all that are kept of the chain. */
    dataset: text('dataset'),
    /** BlockRange[], ascending. */
    ranges: jsonb('ranges').notNull(),
    /** queued, running (also where whoever did it has died), done, failed, cancelled. */
    status: text('status').notNull().default('queued'),
    /** Blocks done, and in all; null before that is known. */
    done: bigint('done', { mode: 'number' }).notNull().default(0),
    total: bigint('total', { mode: 'number' }),
    logs: bigint('logs', { mode: 'number' }).notNull().default(0),
    /** All blocks below are done. Not of a backfill: what it has done is covered. */
    position: bigint('position', { mode: 'number' }),
    /** What came of it, of a verification: VerifyOutcome. */
    outcome: jsonb('outcome'),
    requestedBy: text('requested_by').notNull(),
    requestedAt: timestamp('requested_at', { withTimezone: true }).notNull().defaultNow(),
    /** When it was taken last, and what was done by then: its pace is told from there. */
    takenAt: timestamp('taken_at', { withTimezone: true }),
    doneBefore: bigint('done_before', { mode: 'number' }).notNull().default(0),
    cancelAskedAt: timestamp('cancel_asked_at', { withTimezone: true }),
    finishedAt: timestamp('finished_at', { withTimezone: true }),
    /** How often it was taken since it last got on. */
    attempts: integer('attempts').notNull().default(0),
    /** Not before; null: at once. */
    dueAt: timestamp('due_at', { withTimezone: true }),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [index('range_jobs_open').on(table.chain, table.id).where(sql`status IN ('queued', 'running')`)],
);

/** Upstreams caught in a wrong answer, by the proof. One row a block and kind. */
export const upstreamFaults = pgTable(
  'upstream_faults',
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
    index('upstream_faults_by_time').on(table.seenAt),
  ],
);

/** Upstreams caught in a wrong answer by any process, by day (UTC) and kind, for a year: however many there are, it is one row. */
export const wrongAnswers = pgTable(
  'wrong_answers',
  {
    day: date('day').notNull(),
    /** As in `CHAINS`. */
    chain: text('chain').notNull(),
    upstream: text('upstream').notNull(),
    kind: text('kind').notNull(),
    occurrences: bigint('occurrences', { mode: 'number' }).notNull(),
    /** What the last one was asked, and what was wrong with it. */
    method: text('method').notNull(),
    description: text('description').notNull(),
    seenAt: timestamp('seen_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.day, table.chain, table.upstream, table.kind] }),
    index('wrong_answers_by_time').on(table.seenAt),
  ],
);

/** Calls to upstreams by all processes, by ten minutes, for a day. */
export const upstreamCalls = pgTable(
  'upstream_calls',
  {
    /** When the ten minutes began. */
    slot: timestamp('slot', { withTimezone: true }).notNull(),
    /** As in `CHAINS`. */
    chain: text('chain').notNull(),
    upstream: text('upstream').notNull(),
    /** Of the processes that made them. */
    role: text('role').notNull(),
    /** ok, error (of the call itself), or the kind of fault. */
    outcome: text('outcome').notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    /** Time until answers came, added up. All outcomes' is in the row `ok`, so is `latency`. */
    busyMs: bigint('busy_ms', { mode: 'number' }).notNull(),
    /** Answers by the parts that LATENCY_BOUNDS_MS of packages/rpc divides times into. */
    latency: bigint('latency', { mode: 'number' }).array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.slot, table.chain, table.upstream, table.role, table.outcome] })],
);

/**
 * Histories of single wallets and contracts, read on demand where the chain's own coverage does not reach back to its first
 * block. What each has covered is in `subject_ranges`.
 */
export const subjectHistories = pgTable(
  'subject_histories',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** wallet, contract, emitter. */
    kind: text('kind').notNull(),
    subject: bytea('subject').notNull(),
    /** pending, running, done, refused (too many calls, or set aside), failed. */
    status: text('status').notNull().default('pending'),
    /** Node calls that it will take, estimated when it was asked for, and made so far. */
    callsEstimated: integer('calls_estimated'),
    callsMade: integer('calls_made').notNull().default(0),
    rowsAdded: bigint('rows_added', { mode: 'number' }).notNull().default(0),
    /** Who asked: the key's prefix, or null. */
    requestedBy: text('requested_by'),
    requestedAt: timestamp('requested_at', { withTimezone: true }).notNull().defaultNow(),
    attempts: integer('attempts').notNull().default(0),
    dueAt: timestamp('due_at', { withTimezone: true }),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.kind, table.subject] }),
    index('subject_histories_unfinished').on(table.chainId, table.status).where(sql`status <> 'done'`),
  ],
);

/** What a subject's history has covered, by dataset. Disjoint (exclusion constraint). */
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
