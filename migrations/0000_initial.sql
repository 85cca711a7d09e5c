-- The whole schema. npm run migrations:generate writes the parts that are marked as generated, from the schema.ts and analytics.sql files. The
-- rest is written by hand. A release freezes this file: put every later change into a new migration.

-- ============================================================================
-- Keys
-- Indexes use these functions, so they come first.
-- ============================================================================
-- Exclusion constraints on numbers and texts need it.
CREATE EXTENSION IF NOT EXISTS btree_gist;--> statement-breakpoint
-- Indexes of parts of names need it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
-- Eight bytes of an address, as in packages/doors/db/src/columns/address-key.ts. They come from both ends: vanity addresses differ at one end only.
CREATE FUNCTION "address_key"(address bytea) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('x' || encode(substring(address FROM 1 FOR 4) || substring(address FROM 17 FOR 4), 'hex'))::bit(64)::bigint;--> statement-breakpoint
-- The last four bytes of a token address: the first bytes of many tokens are equal.
CREATE FUNCTION "token_key"(token bytea) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (get_byte(token, 16) << 24) | (get_byte(token, 17) << 16) | (get_byte(token, 18) << 8) | get_byte(token, 19);--> statement-breakpoint
-- A hash of a token id: four bytes separate ids that count from 0, are hashes, or contain an address. Equal numbers have equal keys.
CREATE FUNCTION "token_id_key"(token_id numeric) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN hash_numeric(token_id);--> statement-breakpoint

-- ============================================================================
-- Work and locks
-- ============================================================================
-- Leases with their holder and expiry by the database's clock.
CREATE TABLE "leases" (
  "name" text PRIMARY KEY NOT NULL,
  -- New for each holder, which identifies itself by it.
  "token" uuid NOT NULL,
  -- Machine and process, for operators.
  "holder" text NOT NULL,
  -- The holder's session on the server: if it is gone, so is the lease.
  "backend_pid" integer NOT NULL,
  "backend_start" timestamp with time zone NOT NULL,
  "acquired_at" timestamp with time zone DEFAULT now() NOT NULL,
  "expires_at" timestamp with time zone NOT NULL
);--> statement-breakpoint
-- Locks of transactions: each is a row, locked FOR UPDATE. Rows are created at first use.
CREATE TABLE "transaction_locks" (
  "name" text PRIMARY KEY NOT NULL
);--> statement-breakpoint
-- Running work of processes that might crash them, recorded in case it does.
CREATE TABLE "inflight_work" (
  "process" uuid PRIMARY KEY NOT NULL,
  "machine" text NOT NULL,
  "pid" integer NOT NULL,
  -- Kinds and keys of the work.
  "items" text[] NOT NULL,
  -- The suspect run alone.
  "alone" text,
  "entered_at" timestamp with time zone DEFAULT now() NOT NULL,
  "alive_until" timestamp with time zone NOT NULL
);--> statement-breakpoint
-- Work that was running when processes died: retried alone, and quarantined after the third crash.
CREATE TABLE "quarantined_work" (
  -- Kind and key.
  "name" text PRIMARY KEY NOT NULL,
  "crashes" integer NOT NULL,
  "crashed_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Cause of work that was left out without a crash; null: the crashes.
  "reason" text
);--> statement-breakpoint
-- Size of each table by hour, for a day: the base of its growth rate.
CREATE TABLE "table_sizes_hourly" (
  -- Empty: the whole database.
  "table_name" text NOT NULL,
  "hour" timestamp with time zone NOT NULL,
  -- Time within the hour.
  "sampled_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- With indexes, partitions and shards.
  "bytes" bigint NOT NULL,
  CONSTRAINT "table_sizes_hourly_pkey" PRIMARY KEY("table_name","hour")
);--> statement-breakpoint

-- ============================================================================
-- API keys, usage, audit log and console
-- ============================================================================
-- Keys created by `chainstead keys create`, as SHA-256: the key itself is shown once and not stored.
CREATE TABLE "api_keys" (
  "key_hash" bytea PRIMARY KEY NOT NULL,
  -- First characters of the key, to recognize it in lists.
  "prefix" text NOT NULL,
  "name" text NOT NULL,
  "created_at" timestamp with time zone DEFAULT now() NOT NULL,
  "revoked_at" timestamp with time zone,
  -- Its scopes (`key-scope.ts`).
  "scopes" text[] DEFAULT '{"data","rpc","streams","admin"}' NOT NULL,
  -- API requests per second; null: the `RATE_LIMIT` setting.
  "rate_limit" integer,
  -- Created at the first start for the console only: such a key does not close a loopback-only server.
  "by_start" boolean DEFAULT false NOT NULL
);--> statement-breakpoint
-- API requests by key, day (UTC) and route. For calls of the JSON-RPC gateway see `gateway_usage`.
CREATE TABLE "api_usage" (
  -- Principal's id, `open` without keys: never the key.
  "key_id" text NOT NULL,
  "day" date NOT NULL,
  "method" text NOT NULL,
  -- The route's pattern, such as `/api/v2.2/:address/erc20`.
  "route" text NOT NULL,
  "requests" bigint NOT NULL,
  -- Responses with 400 to 499 among them.
  "refused" bigint NOT NULL,
  -- Responses with 500 and above among them, except 501.
  "failed" bigint NOT NULL,
  -- Responses with 501 among them: operations that this server does not serve.
  "unserved" bigint DEFAULT 0 NOT NULL,
  CONSTRAINT "api_usage_pkey" PRIMARY KEY("key_id","day","method","route")
);--> statement-breakpoint
-- The audit log of changes. Written in the transaction of the change; rows are never changed or deleted.
CREATE TABLE "audit_log" (
  -- Microseconds since 1970 and random digits: ascends with time.
  "id" text PRIMARY KEY NOT NULL,
  "at" timestamp with time zone DEFAULT now() NOT NULL,
  -- api, console, command or start.
  "door" text NOT NULL,
  -- Id of a key (its first characters, or `config:<n>`); for a command, user and machine.
  "actor" text NOT NULL,
  -- Name of the key.
  "actor_name" text,
  -- Such as `key.create`.
  "action" text NOT NULL,
  -- Target of the action: the id of a key, of a session …
  "target" text NOT NULL,
  "details" jsonb NOT NULL,
  -- Null for commands.
  "address" text,
  "request_id" text
);--> statement-breakpoint
CREATE INDEX "audit_log_by_door" ON "audit_log" USING btree ("door","id");--> statement-breakpoint
-- Unlogged: rows live for seconds, and a server crash may restart the windows.
CREATE UNLOGGED TABLE "rate_limit_usage" (
  "bucket" text PRIMARY KEY NOT NULL,
  "slot" bigint NOT NULL,
  "spent" double precision[] NOT NULL,
  "expires_at" timestamp with time zone NOT NULL
);--> statement-breakpoint
-- Secrets shared by all replicas: `cursor` (32 random bytes, created at the first start).
CREATE TABLE "server_secrets" (
  "name" text PRIMARY KEY NOT NULL,
  "value" bytea NOT NULL
);--> statement-breakpoint
-- Current and past sessions of the console. The browser's secret is stored only as its SHA-256.
CREATE TABLE "console_sessions" (
  "id_hash" bytea PRIMARY KEY NOT NULL,
  -- SHA-256 of the key: the session ends with the key, and with its scope `admin`.
  "key_hash" bytea NOT NULL,
  -- Principal's id and name, for display.
  "key_id" text NOT NULL,
  "key_name" text NOT NULL,
  "created_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Time of the last request, to the minute.
  "seen_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- However much it is used.
  "expires_at" timestamp with time zone NOT NULL,
  "revoked_at" timestamp with time zone,
  "address" text NOT NULL,
  "user_agent" text NOT NULL
);--> statement-breakpoint
CREATE INDEX "console_sessions_by_end" ON "console_sessions" USING btree ("expires_at");--> statement-breakpoint

-- ============================================================================
-- Sync state
-- ============================================================================
-- Headers of followed blocks, and of every backfilled block with rows.
CREATE TABLE "blocks" (
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "block_hash" bytea NOT NULL,
  -- Null if the block was backfilled from logs alone.
  "parent_hash" bytea,
  "block_timestamp" timestamp with time zone NOT NULL,
  CONSTRAINT "blocks_pkey" PRIMARY KEY("chain_id","block_number")
);--> statement-breakpoint
-- Whether the head of each chain is known now, written every few seconds by one ingest process, also after the last block to index. An older
-- row, or one whose session is gone, means that no process works on the chain.
CREATE TABLE "head_reports" (
  -- EVM chain id in decimal, or `aptos` or `aptos-testnet`.
  "chain" text PRIMARY KEY NOT NULL,
  -- The process that writes the row. Another one takes over when it is silent.
  "reporter" uuid NOT NULL,
  -- `application_name` of its sessions; null: unknown.
  "session" text,
  "reported_at" timestamp with time zone NOT NULL,
  -- When a node last returned the head; null while it is known.
  "unknown_since" timestamp with time zone,
  "reason" text
);--> statement-breakpoint
-- Progress of each chain by minute, for a day: the data of lag and speed charts.
CREATE TABLE "chain_metrics_minutely" (
  -- EVM chain id in decimal, or `aptos` or `aptos-testnet`.
  "chain" text NOT NULL,
  "minute" timestamp with time zone NOT NULL,
  "head" bigint,
  "checkpoint" bigint,
  -- Covered blocks (Aptos: versions), summed over all datasets.
  "covered" bigint NOT NULL,
  -- Rows of transfers and trades written since the server's statistics began; null if unavailable.
  "rows" bigint,
  CONSTRAINT "chain_metrics_minutely_pkey" PRIMARY KEY("chain","minute")
);--> statement-breakpoint
-- Datasets that could not decode some blocks, with the range of these. Deleted once all of them are covered.
CREATE TABLE "dataset_failures" (
  "chain_id" bigint NOT NULL,
  "dataset" text NOT NULL,
  "first_block" bigint NOT NULL,
  "last_block" bigint NOT NULL,
  -- Last error thrown by the dataset.
  "error_message" text NOT NULL,
  "failed_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "dataset_failures_pkey" PRIMARY KEY("chain_id","dataset")
);--> statement-breakpoint
-- Build progress of a chain's projections. A projection without a row of the program's version is rebuilt from stored rows.
CREATE TABLE "projections" (
  "chain_id" bigint NOT NULL,
  "state" text NOT NULL,
  "dataset" text NOT NULL,
  "version" integer NOT NULL,
  -- clearing: old values are being deleted; building: it counts rows up to a block; built: it counts all rows.
  "status" text NOT NULL,
  -- clearing: next page of its tables; building: last counted block, −1 for none; otherwise 0.
  "position" bigint NOT NULL,
  -- Rows counted since the build began.
  "rows" bigint DEFAULT 0 NOT NULL,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "projections_pkey" PRIMARY KEY("chain_id","state")
);--> statement-breakpoint
-- Requested subjects (wallets, contracts) of each projection built per subject. A subject without a row here has no rows in the
-- projection's tables.
CREATE TABLE "subject_projections" (
  "chain_id" bigint NOT NULL,
  "state" text NOT NULL,
  "subject" bytea NOT NULL,
  -- Last counted block, −1 for none; null: all rows are counted.
  "built_to" bigint,
  -- Its rows in the projection's tables are invalid, and are deleted first.
  "is_stale" boolean DEFAULT false NOT NULL,
  -- Rows counted since the build began.
  "rows" bigint DEFAULT 0 NOT NULL,
  "asked_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "subject_projections_pkey" PRIMARY KEY("subject","chain_id","state")
);--> statement-breakpoint
CREATE INDEX "subject_projections_by_state" ON "subject_projections" USING btree ("chain_id","state","asked_at");--> statement-breakpoint
-- Range jobs requested by operators (backfill, verify, reindex). `ingest` processes run them one after another (due work).
CREATE TABLE "range_jobs" (
  -- Ascends with the time of the request.
  "id" text PRIMARY KEY NOT NULL,
  -- EVM chain id in decimal, or `aptos` or `aptos-testnet`.
  "chain" text NOT NULL,
  -- backfill, verify, reindex.
  "work" text NOT NULL,
  -- Null: all indexed datasets of the chain.
  "dataset" text,
  -- BlockRange[], ascending.
  "ranges" jsonb NOT NULL,
  -- queued (also while it runs), done, failed, cancelled.
  "status" text DEFAULT 'queued' NOT NULL,
  -- Blocks done, and in total; null until known.
  "done" bigint DEFAULT 0 NOT NULL,
  "total" bigint,
  "logs" bigint DEFAULT 0 NOT NULL,
  -- All blocks below are done. Not used by a backfill, whose done blocks are covered.
  "position" bigint,
  -- Result of a verification: VerifyOutcome.
  "outcome" jsonb,
  "requested_by" text NOT NULL,
  "requested_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Time when it was last started, and blocks done by then: the base of its speed.
  "taken_at" timestamp with time zone,
  "done_before" bigint DEFAULT 0 NOT NULL,
  "cancel_asked_at" timestamp with time zone,
  "finished_at" timestamp with time zone,
  -- Attempts since its last progress.
  "attempts" integer DEFAULT 0 NOT NULL,
  "due_at" timestamp with time zone DEFAULT now(),
  -- Set while it runs, also after its process died.
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE INDEX "range_jobs_open" ON "range_jobs" USING btree ("chain","id") WHERE status = 'queued';--> statement-breakpoint
-- One job of a chain runs at a time.
CREATE UNIQUE INDEX "range_jobs_claimed" ON "range_jobs" USING btree ("chain") WHERE lease_until IS NOT NULL AND status = 'queued';--> statement-breakpoint
-- On-demand backfills of single wallets and contracts, for chains not covered from their first block. Their coverage is in
-- `subject_ranges`.
CREATE TABLE "backfill_requests" (
  "chain_id" bigint NOT NULL,
  -- wallet, contract, sender, receiver, emitter.
  "kind" text NOT NULL,
  "subject" bytea NOT NULL,
  -- pending, running, done, refused (too many calls, no archive node, or quarantined), failed.
  "status" text DEFAULT 'pending' NOT NULL,
  -- Node calls: the estimate, and those made so far.
  "calls_estimated" integer,
  "calls_made" integer DEFAULT 0 NOT NULL,
  "rows_added" bigint DEFAULT 0 NOT NULL,
  -- Prefix of the client's API key, or null.
  "requested_by" text,
  "requested_at" timestamp with time zone DEFAULT now() NOT NULL,
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "due_at" timestamp with time zone DEFAULT now(),
  "error_code" text,
  "error_message" text,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "backfill_requests_pkey" PRIMARY KEY("chain_id","kind","subject")
);--> statement-breakpoint
CREATE INDEX "backfill_requests_unfinished" ON "backfill_requests" USING btree ("chain_id","status") WHERE status <> 'done';--> statement-breakpoint
-- Covered ranges whose rows were written again, by a reindex or a repair. Exports compare the revisions of the ranges of their files. A
-- record replaces earlier ones within its range.
CREATE TABLE "rewritten_ranges" (
  "chain_id" bigint NOT NULL,
  "dataset" text NOT NULL,
  "first_block" bigint NOT NULL,
  "last_block" bigint NOT NULL,
  "revision" uuid DEFAULT gen_random_uuid() NOT NULL,
  CONSTRAINT "rewritten_ranges_pkey" PRIMARY KEY("chain_id","dataset","first_block","revision")
);--> statement-breakpoint
-- Coverage of on-demand backfills, by subject and dataset. Disjoint (exclusion constraint).
CREATE TABLE "subject_ranges" (
  "chain_id" bigint NOT NULL,
  "kind" text NOT NULL,
  "subject" bytea NOT NULL,
  "dataset" text NOT NULL,
  "first_block" bigint NOT NULL,
  "last_block" bigint NOT NULL,
  CONSTRAINT "subject_ranges_pkey" PRIMARY KEY("chain_id","kind","subject","dataset","first_block")
);--> statement-breakpoint
-- One row per chain: the follower's position, and the reason why it is blocked or stopped.
CREATE TABLE "sync_chains" (
  "chain_id" bigint PRIMARY KEY NOT NULL,
  -- First block to index, as configured by the operator.
  "history_start" bigint NOT NULL,
  -- First followed block; all blocks below belong to the backfill.
  "first_followed" bigint NOT NULL,
  -- Last block written by the follower; null before the first one.
  "checkpoint" bigint,
  "checkpoint_hash" bytea,
  "finalized" bigint,
  -- Newest head announced by an upstream.
  "head" bigint,
  -- Error code and message of a stopped chain; null while it runs.
  "stop_code" text,
  "stop_message" text,
  -- Reason for the current lack of progress: upstream, call, response.
  "stall_reason" text,
  -- Upstream health as measured by the ingest process (UpstreamStatus[]).
  "upstreams" jsonb,
  -- Sources of history as the ingest process uses them (SourceStatus[]).
  "sources" jsonb,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Chain key in the configuration, for readers that have only the database.
  "chain_key" text,
  -- Blocks per second read by the background prover; null while it is idle.
  "prover_rate" double precision,
  -- Missing blocks per second that are filled; null if none are.
  "backfill_rate" double precision
);--> statement-breakpoint
-- Block ranges claimed by a job (backfill, prover, reindex). Disjoint per chain.
CREATE TABLE "sync_claims" (
  "chain_id" bigint NOT NULL,
  "first_block" bigint NOT NULL,
  "last_block" bigint NOT NULL,
  -- The owner holds the lease `claims:<owner>` while it lives.
  "owner" bigint NOT NULL,
  "purpose" text NOT NULL,
  "claimed_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "sync_claims_pkey" PRIMARY KEY("chain_id","first_block")
);--> statement-breakpoint
-- Coverage by dataset, with its proof level. Disjoint per chain and dataset.
CREATE TABLE "sync_ranges" (
  "chain_id" bigint NOT NULL,
  "dataset" text NOT NULL,
  "first_block" bigint NOT NULL,
  "last_block" bigint NOT NULL,
  -- ProofLevel: receipts, cross, record, none, not-applicable, unproven.
  "proof" text NOT NULL,
  -- Reason of an unproven range: `root-mismatch`. Of level `record`: the level that a link to the followed chain gives it.
  "proof_reason" text,
  -- Source of history, or node of a range without proof; null if nodes have proven it.
  "upstream" text,
  CONSTRAINT "sync_ranges_pkey" PRIMARY KEY("chain_id","dataset","first_block")
);--> statement-breakpoint
-- Calls to upstreams by all processes, in ten-minute slots, for a day.
CREATE TABLE "upstream_calls" (
  -- Start of the ten minutes.
  "slot" timestamp with time zone NOT NULL,
  -- As in `CHAINS`.
  "chain" text NOT NULL,
  "upstream" text NOT NULL,
  -- Role of the calling processes.
  "role" text NOT NULL,
  -- ok, error (of the call itself), or the kind of fault.
  "outcome" text NOT NULL,
  "calls" bigint NOT NULL,
  -- Total response time. The row `ok` has it for all outcomes, like `latency`.
  "busy_ms" bigint NOT NULL,
  -- Number of responses per bucket of LATENCY_BOUNDS_MS in packages/doors/rpc.
  "latency" bigint[] NOT NULL,
  CONSTRAINT "upstream_calls_pkey" PRIMARY KEY("slot","chain","upstream","role","outcome")
);--> statement-breakpoint
-- Incorrect responses of upstreams, found by proofs. One row per block and kind.
CREATE TABLE "upstream_errors" (
  "chain_id" bigint NOT NULL,
  "upstream" text NOT NULL,
  "kind" text NOT NULL,
  "block_number" bigint NOT NULL,
  "facts" jsonb NOT NULL,
  "occurrences" integer DEFAULT 1 NOT NULL,
  "seen_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "upstream_errors_pkey" PRIMARY KEY("chain_id","upstream","kind","block_number")
);--> statement-breakpoint
CREATE INDEX "upstream_errors_by_time" ON "upstream_errors" USING btree ("seen_at");--> statement-breakpoint
-- Incorrect responses of upstreams, counted over all processes by day (UTC) and kind, for a year.
CREATE TABLE "upstream_mismatches" (
  "day" date NOT NULL,
  -- As in `CHAINS`.
  "chain" text NOT NULL,
  "upstream" text NOT NULL,
  "kind" text NOT NULL,
  "occurrences" bigint NOT NULL,
  -- Request of the last one, and its error.
  "method" text NOT NULL,
  "description" text NOT NULL,
  "seen_at" timestamp with time zone NOT NULL,
  CONSTRAINT "upstream_mismatches_pkey" PRIMARY KEY("day","chain","upstream","kind")
);--> statement-breakpoint
CREATE INDEX "upstream_mismatches_by_time" ON "upstream_mismatches" USING btree ("seen_at");--> statement-breakpoint

-- ============================================================================
-- Tokens, labels and lists
-- ============================================================================
-- Labels of addresses, by source. `chain_id` 0: on every chain.
CREATE TABLE "address_labels" (
  "address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "source" text NOT NULL,
  "label" text,
  "entity" text,
  "entity_logo" text,
  CONSTRAINT "address_labels_pkey" PRIMARY KEY("address","chain_id","source")
);--> statement-breakpoint
-- How often each kind of list was imported. What a process keeps of labels in memory counts at one revision.
CREATE TABLE "list_revisions" (
  -- The table that the list is kept in.
  "list" text PRIMARY KEY NOT NULL,
  "revision" bigint NOT NULL
);--> statement-breakpoint
-- Addresses that an imported list calls scams. `chain_id` 0: on every chain.
CREATE TABLE "spam_list_entries" (
  "address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "source" text NOT NULL,
  "reason" text,
  CONSTRAINT "spam_list_entries_pkey" PRIMARY KEY("address","chain_id","source")
);--> statement-breakpoint
-- Entries of imported token lists, kept with their source so that a re-import replaces exactly its own.
CREATE TABLE "token_list_entries" (
  "address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "source" text NOT NULL,
  "name" text,
  "symbol" text,
  "decimals" smallint,
  "logo" text,
  CONSTRAINT "token_list_entries_pkey" PRIMARY KEY("address","chain_id","source")
);--> statement-breakpoint
-- One row for each contract seen in a transfer or named by a list. Metadata is null until known.
CREATE TABLE "tokens" (
  "address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  -- What it turned out to be: erc20, erc721, erc1155; null while unknown. NFTs never appear among ERC-20 transfers.
  "standard" text,
  "name" text,
  "symbol" text,
  "decimals" smallint,
  -- pending, known, failed.
  "facts_status" text DEFAULT 'pending' NOT NULL,
  "facts_attempts" integer DEFAULT 0 NOT NULL,
  "facts_due_at" timestamp with time zone DEFAULT now(),
  "facts_lease_until" timestamp with time zone,
  "facts_holder" text,
  "facts_error_code" text,
  "facts_error_message" text,
  -- Time of the last read of its metadata; null: never, or a worker of collections read it.
  "facts_read_at" timestamp with time zone,
  -- Newest block in which it, or its beacon, announced other code or its initialization; null: none seen. Older facts are outdated.
  "facts_from_block" bigint,
  -- From imported lists.
  "logo" text,
  "verified" boolean DEFAULT false NOT NULL,
  -- By an imported list or by the rule in docs/api/spam.md.
  "possible_spam" boolean DEFAULT false NOT NULL,
  -- As what its events show it, by bit: 1 ERC-20, 2 ERC-721, 4 ERC-1155. Hybrids are several.
  "seen_as" smallint DEFAULT 0 NOT NULL,
  -- Base units, as `totalSupply` said at the block; null: not read, or the contract has none.
  "total_supply" numeric(78,0),
  "supply_block" bigint,
  "supply_read_at" timestamp with time zone,
  -- The block in which its code first is; null: not looked up, or unknown to all nodes.
  "created_block" bigint,
  "created_at" timestamp with time zone,
  -- When the creation was looked for, whatever came of it.
  "creation_sought_at" timestamp with time zone,
  -- Hash of that block: once another one replaces it, the supply is invalid.
  "supply_block_hash" bytea,
  CONSTRAINT "tokens_pkey" PRIMARY KEY("address","chain_id")
);--> statement-breakpoint
CREATE INDEX "tokens_due" ON "tokens" USING btree ("chain_id",coalesce(facts_lease_until, facts_due_at)) WHERE coalesce(facts_lease_until, facts_due_at) IS NOT NULL;--> statement-breakpoint
CREATE INDEX "tokens_by_facts_from_block" ON "tokens" USING btree ("chain_id","facts_from_block") WHERE facts_from_block IS NOT NULL;--> statement-breakpoint
CREATE INDEX "tokens_by_symbol" ON "tokens" USING btree (lower(symbol) text_pattern_ops,"chain_id");--> statement-breakpoint
CREATE INDEX "tokens_by_name" ON "tokens" USING btree (left(lower(name), 256) text_pattern_ops,"chain_id");--> statement-breakpoint
CREATE INDEX "tokens_by_text" ON "tokens" USING gin (lower(name) gin_trgm_ops,lower(symbol) gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "tokens_verified_by_text" ON "tokens" USING gin (lower(name) gin_trgm_ops,lower(symbol) gin_trgm_ops) WHERE verified;--> statement-breakpoint
-- Tokens whose decimals changed: figures that were stored with the earlier ones are to be computed again.
CREATE TABLE "changed_decimals" (
  "address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "due_at" timestamp with time zone DEFAULT now(),
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  CONSTRAINT "changed_decimals_pkey" PRIMARY KEY("address","chain_id")
);--> statement-breakpoint
CREATE INDEX "changed_decimals_due" ON "changed_decimals" USING btree ("chain_id",coalesce(lease_until, due_at)) WHERE coalesce(lease_until, due_at) IS NOT NULL;--> statement-breakpoint
-- Whether a contract is spam, as keys report it: of each the newest report. Nothing follows from a row before an operator applies it.
CREATE TABLE "contract_reviews" (
  -- Principal's id, `open` without keys: never the key.
  "key_id" text NOT NULL,
  "chain_id" bigint NOT NULL,
  "address" bytea NOT NULL,
  -- ERC20 or NFT.
  "contract_type" text NOT NULL,
  -- spam or not_spam.
  "report_type" text NOT NULL,
  "reason" text NOT NULL,
  "reported_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Null: it waits for the operator.
  "applied_at" timestamp with time zone,
  CONSTRAINT "contract_reviews_pkey" PRIMARY KEY("address","chain_id","contract_type","key_id")
);--> statement-breakpoint
CREATE INDEX "contract_reviews_by_key" ON "contract_reviews" USING btree ("key_id");--> statement-breakpoint

-- ============================================================================
-- Tables of datasets and their projections
-- From the schema.ts files: npm run migrations:generate writes everything between the two lines. Partitioned by chain and block: see
-- docs/internals/storage-layouts.md.
-- ============================================================================
-- Generated: tables of datasets
CREATE TABLE "account_transactions" (
  "account_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "transaction_key" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "evidence" integer DEFAULT 0 NOT NULL,
  "roles" smallint NOT NULL,
  "account" bytea NOT NULL,
  CONSTRAINT "account_transactions_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","roles")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "account_transactions_by_block" ON "account_transactions" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "bin_changes" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "bin" integer NOT NULL,
  "pool" bytea NOT NULL,
  "amount0" numeric NOT NULL,
  "amount1" numeric NOT NULL,
  CONSTRAINT "bin_changes_pkey" PRIMARY KEY("pool_key","chain_id","block_number","bin","pool")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "bin_changes_by_block" ON "bin_changes" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "bin_reserves" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "blocks" integer NOT NULL,
  "start" integer NOT NULL,
  "bin" integer NOT NULL,
  "pool" bytea NOT NULL,
  "amount0" numeric NOT NULL,
  "amount1" numeric NOT NULL,
  CONSTRAINT "bin_reserves_pkey" PRIMARY KEY("pool_key","chain_id","blocks","start","bin","pool")
);--> statement-breakpoint
ALTER TABLE "bin_reserves" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "block_headers" (
  "block_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_count" integer NOT NULL,
  "block_hash" bytea NOT NULL,
  "parent_hash" bytea NOT NULL,
  "miner" bytea NOT NULL,
  "gas_limit" numeric(78,0) NOT NULL,
  "gas_used" numeric(78,0) NOT NULL,
  "base_fee_per_gas" numeric(78,0),
  "size" numeric(78,0) NOT NULL,
  "difficulty" numeric(78,0) NOT NULL,
  "total_difficulty" numeric(78,0),
  "blob_gas_used" numeric(78,0),
  "excess_blob_gas" numeric(78,0),
  "state_root" bytea,
  "transactions_root" bytea,
  "receipts_root" bytea,
  "sha3_uncles" bytea,
  "mix_hash" bytea,
  "nonce" bytea,
  "withdrawals_root" bytea,
  "parent_beacon_block_root" bytea,
  "requests_hash" bytea,
  "extra_data" bytea,
  "logs_bloom" bytea,
  "withdrawals" bytea,
  CONSTRAINT "block_headers_pkey" PRIMARY KEY("block_key","chain_id","block_number")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "block_headers_by_block" ON "block_headers" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "candle_spans" (
  "chain_id" bigint NOT NULL,
  "hours" smallint NOT NULL,
  "start" integer NOT NULL,
  "first_block" bigint NOT NULL,
  "last_block" bigint NOT NULL,
  "prices_from_block" bigint NOT NULL,
  "price_changes" numeric DEFAULT '0' NOT NULL,
  "settings" text NOT NULL,
  "is_stored" boolean DEFAULT false NOT NULL,
  "claim" uuid NOT NULL,
  "claimed_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "candle_spans_pkey" PRIMARY KEY("chain_id","hours","start")
);--> statement-breakpoint
CREATE INDEX "candle_spans_by_first_block" ON "candle_spans" USING btree ("chain_id","hours","first_block");--> statement-breakpoint
CREATE INDEX "candle_spans_by_last_block" ON "candle_spans" USING btree ("chain_id","hours","last_block");--> statement-breakpoint
CREATE INDEX "candle_spans_by_prices" ON "candle_spans" USING btree ("chain_id","hours","prices_from_block");--> statement-breakpoint
ALTER TABLE "candle_spans" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "erc20_approvals" (
  "owner_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "owner" bytea NOT NULL,
  "token" bytea NOT NULL,
  "spender" bytea NOT NULL,
  "value" numeric(78,0) NOT NULL,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "erc20_approvals_pkey" PRIMARY KEY("owner_key","chain_id","block_number","transaction_index","log_index")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "erc20_approvals_by_block" ON "erc20_approvals" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "erc20_holder_counts" (
  "token" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "transfers" bigint NOT NULL,
  "holders" bigint NOT NULL,
  "supply" numeric NOT NULL,
  "top_block" integer NOT NULL,
  "is_exact" boolean NOT NULL,
  "readings" integer DEFAULT 0 NOT NULL,
  "contradictions" integer DEFAULT 0 NOT NULL,
  "begun_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "erc20_holder_counts_pkey" PRIMARY KEY("token","chain_id")
);--> statement-breakpoint
ALTER TABLE "erc20_holder_counts" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "erc20_holder_minutes" (
  "token" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "minute" timestamp with time zone NOT NULL,
  "class" smallint NOT NULL,
  "came" integer NOT NULL,
  "gone" integer NOT NULL,
  "airdropped" integer NOT NULL,
  "swapped" integer NOT NULL,
  CONSTRAINT "erc20_holder_minutes_pkey" PRIMARY KEY("token","chain_id","minute","class")
);--> statement-breakpoint
ALTER TABLE "erc20_holder_minutes" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "erc20_holders" (
  "token" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "account" bytea NOT NULL,
  "total" numeric DEFAULT '0' NOT NULL,
  "moves" integer DEFAULT 0 NOT NULL,
  "first_block" integer,
  "first_transaction" integer,
  "acquired" smallint,
  "anchor_block" integer,
  "anchor_value" numeric(78,0),
  "since" numeric DEFAULT '0' NOT NULL,
  "anchored_at" timestamp with time zone,
  "balance" numeric GENERATED ALWAYS AS (coalesce(anchor_value + since, total)) STORED,
  CONSTRAINT "erc20_holders_pkey" PRIMARY KEY("token","chain_id","account")
);--> statement-breakpoint
CREATE INDEX "erc20_holders_by_balance" ON "erc20_holders" USING btree ("token","chain_id","balance","account","anchor_block") WHERE balance > 0;--> statement-breakpoint
CREATE INDEX "erc20_holders_below_zero" ON "erc20_holders" USING btree ("token","chain_id","balance") WHERE balance < 0;--> statement-breakpoint
CREATE INDEX "erc20_holders_by_anchor" ON "erc20_holders" USING btree ("chain_id","anchor_block") WHERE anchor_block IS NOT NULL;--> statement-breakpoint
ALTER TABLE "erc20_holders" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "erc20_token_counts" (
  "token" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "transfers" bigint NOT NULL,
  CONSTRAINT "erc20_token_counts_pkey" PRIMARY KEY("token","chain_id")
);--> statement-breakpoint
ALTER TABLE "erc20_token_counts" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "erc20_transfer_sides" (
  "account_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "direction" smallint NOT NULL,
  "account" bytea NOT NULL,
  "token" bytea NOT NULL,
  "counterparty" bytea NOT NULL,
  "value" numeric(78,0) NOT NULL,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "erc20_transfer_sides_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","log_index","direction")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "erc20_transfer_sides_by_token" ON "erc20_transfer_sides" USING btree ("account_key",token_key(token),"block_number");--> statement-breakpoint
CREATE INDEX "erc20_transfer_sides_by_contract" ON "erc20_transfer_sides" USING btree (token_key(token),"block_number") WHERE direction <> 1;--> statement-breakpoint
CREATE INDEX "erc20_transfer_sides_by_block" ON "erc20_transfer_sides" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "erc20_wallet_approvals" (
  "wallet" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token" bytea NOT NULL,
  "spender" bytea NOT NULL,
  "value" numeric(78,0) NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "erc20_wallet_approvals_pkey" PRIMARY KEY("wallet","chain_id","token","spender")
);--> statement-breakpoint
CREATE INDEX "erc20_wallet_approvals_by_block" ON "erc20_wallet_approvals" USING btree ("wallet","chain_id","block_number","transaction_index","log_index","token","spender");--> statement-breakpoint
ALTER TABLE "erc20_wallet_approvals" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "erc20_wallet_tokens" (
  "wallet" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token" bytea NOT NULL,
  "total" numeric DEFAULT '0' NOT NULL,
  "moved_block" integer DEFAULT -1 NOT NULL,
  "moved_transaction" integer DEFAULT -1 NOT NULL,
  "moved_log" integer DEFAULT -1 NOT NULL,
  "anchor_block" integer,
  "anchor_value" numeric(78,0),
  "since" numeric DEFAULT '0' NOT NULL,
  "anchored_at" timestamp with time zone,
  CONSTRAINT "erc20_wallet_tokens_pkey" PRIMARY KEY("wallet","chain_id","token")
);--> statement-breakpoint
CREATE INDEX "erc20_wallet_tokens_by_movement" ON "erc20_wallet_tokens" USING btree ("wallet","chain_id","moved_block","moved_transaction","moved_log","token");--> statement-breakpoint
CREATE INDEX "erc20_wallet_tokens_by_anchor" ON "erc20_wallet_tokens" USING btree ("chain_id","anchor_block") WHERE anchor_block IS NOT NULL;--> statement-breakpoint
ALTER TABLE "erc20_wallet_tokens" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "erc4626_vaults" (
  "account_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "is_receiver" boolean NOT NULL,
  "is_deposit" boolean NOT NULL,
  "account" bytea NOT NULL,
  "vault" bytea NOT NULL,
  "sender" bytea NOT NULL,
  "owner" bytea NOT NULL,
  "receiver" bytea NOT NULL,
  "assets" numeric(78,0) NOT NULL,
  "shares" numeric(78,0) NOT NULL,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "erc4626_vaults_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","log_index","is_receiver")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "erc4626_vaults_by_block" ON "erc4626_vaults" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "feed_answers" (
  "aggregator" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "round" numeric(78,0) NOT NULL,
  "answer" numeric(78,0) NOT NULL,
  "updated_at" timestamp with time zone NOT NULL,
  CONSTRAINT "feed_answers_pkey" PRIMARY KEY("aggregator","chain_id","block_number","transaction_index","log_index")
);--> statement-breakpoint
CREATE INDEX "feed_answers_by_block" ON "feed_answers" USING brin ("chain_id","block_number" int8_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
ALTER TABLE "feed_answers" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "internal_transfers" (
  "account_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "trace_index" integer NOT NULL,
  "direction" smallint NOT NULL,
  "account" bytea NOT NULL,
  "counterparty" bytea NOT NULL,
  "value" numeric(78,0) NOT NULL,
  "transaction_hash" bytea NOT NULL,
  "type" text NOT NULL,
  CONSTRAINT "internal_transfers_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","trace_index","direction")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "internal_transfers_by_block" ON "internal_transfers" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "logs" (
  "address_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "transaction_hash" bytea NOT NULL,
  "address" bytea NOT NULL,
  "topic0" bytea,
  "topic1" bytea,
  "topic2" bytea,
  "topic3" bytea,
  "data" bytea NOT NULL,
  CONSTRAINT "logs_pkey" PRIMARY KEY("address_key","chain_id","block_number","transaction_index","log_index")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "logs_by_topic" ON "logs" USING btree ("address_key","substring"(topic0, 1, 4),"block_number");--> statement-breakpoint
CREATE INDEX "logs_by_block" ON "logs" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "nft_collection_balances" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  "owner" bytea NOT NULL,
  "amount" numeric NOT NULL,
  "last_block" integer NOT NULL,
  "is_sum" boolean DEFAULT false NOT NULL,
  CONSTRAINT "nft_collection_balances_pkey" PRIMARY KEY("token_address","chain_id","token_id","owner")
);--> statement-breakpoint
CREATE INDEX "nft_collection_balances_by_change" ON "nft_collection_balances" USING btree ("token_address","chain_id","last_block","token_id","owner") WHERE amount > 0;--> statement-breakpoint
CREATE INDEX "nft_collection_balances_by_id" ON "nft_collection_balances" USING btree ("token_address","chain_id","token_id","last_block","owner") WHERE amount > 0;--> statement-breakpoint
CREATE INDEX "nft_collection_balances_given_by_change" ON "nft_collection_balances" USING btree ("token_address","chain_id","last_block","token_id","owner") WHERE amount <= 0 AND is_sum;--> statement-breakpoint
CREATE INDEX "nft_collection_balances_given_by_id" ON "nft_collection_balances" USING btree ("token_address","chain_id","token_id","last_block","owner") WHERE amount <= 0 AND is_sum;--> statement-breakpoint
ALTER TABLE "nft_collection_balances" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "nft_collection_counts" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "transfers" bigint NOT NULL,
  "ids" bigint NOT NULL,
  "owners" bigint NOT NULL,
  CONSTRAINT "nft_collection_counts_pkey" PRIMARY KEY("token_address","chain_id")
);--> statement-breakpoint
ALTER TABLE "nft_collection_counts" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "nft_collection_ids" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  "token_hash" bytea NOT NULL,
  "holders" bigint NOT NULL,
  "supply" numeric NOT NULL,
  "last_block" integer NOT NULL,
  "newest" integer[],
  "receiver" bytea,
  "is_held" boolean GENERATED ALWAYS AS (CASE WHEN receiver IS NULL THEN holders > 0 ELSE receiver <> decode('0000000000000000000000000000000000000000', 'hex') END) STORED,
  CONSTRAINT "nft_collection_ids_pkey" PRIMARY KEY("token_address","chain_id","token_id")
);--> statement-breakpoint
CREATE INDEX "nft_collection_ids_by_hash" ON "nft_collection_ids" USING btree ("token_address","chain_id","token_hash") WHERE is_held;--> statement-breakpoint
CREATE INDEX "nft_collection_ids_given_by_hash" ON "nft_collection_ids" USING btree ("token_address","chain_id","token_hash") WHERE NOT is_held AND receiver IS NULL;--> statement-breakpoint
CREATE INDEX "nft_collection_ids_by_change" ON "nft_collection_ids" USING btree ("token_address","chain_id","last_block","token_id") WHERE is_held;--> statement-breakpoint
ALTER TABLE "nft_collection_ids" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "nft_collection_owners" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "owner" bytea NOT NULL,
  "ids_held" bigint NOT NULL,
  CONSTRAINT "nft_collection_owners_pkey" PRIMARY KEY("token_address","chain_id","owner")
);--> statement-breakpoint
ALTER TABLE "nft_collection_owners" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "nft_malformed_logs" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "transaction_hash" bytea NOT NULL,
  "reason" smallint NOT NULL,
  CONSTRAINT "nft_malformed_logs_pkey" PRIMARY KEY("token_address","chain_id","block_number","transaction_index","log_index")
);--> statement-breakpoint
CREATE INDEX "nft_malformed_logs_by_block" ON "nft_malformed_logs" USING brin ("chain_id","block_number" int8_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
ALTER TABLE "nft_malformed_logs" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "nft_metadata_events" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "kind" smallint NOT NULL,
  "from_token_id" numeric(78,0),
  "to_token_id" numeric(78,0),
  "block_timestamp" timestamp with time zone NOT NULL,
  CONSTRAINT "nft_metadata_events_pkey" PRIMARY KEY("token_address","chain_id","block_number","transaction_index","log_index")
);--> statement-breakpoint
CREATE INDEX "nft_metadata_events_by_block" ON "nft_metadata_events" USING brin ("chain_id","block_number" int8_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
ALTER TABLE "nft_metadata_events" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "nft_sale_days" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token_id" numeric NOT NULL,
  "payment_token" bytea NOT NULL,
  "day" date NOT NULL,
  "sales" bigint NOT NULL,
  "total" numeric NOT NULL,
  "lowest" numeric(78,0) NOT NULL,
  "lowest_block" bigint NOT NULL,
  "lowest_transaction" integer NOT NULL,
  "lowest_log" integer NOT NULL,
  "lowest_item" integer NOT NULL,
  "highest" numeric(78,0) NOT NULL,
  "highest_block" bigint NOT NULL,
  "highest_transaction" integer NOT NULL,
  "highest_log" integer NOT NULL,
  "highest_item" integer NOT NULL,
  "latest_block" bigint NOT NULL,
  "latest_transaction" integer NOT NULL,
  "latest_log" integer NOT NULL,
  "latest_item" integer NOT NULL,
  CONSTRAINT "nft_sale_days_pkey" PRIMARY KEY("token_address","chain_id","token_id","payment_token","day")
);--> statement-breakpoint
ALTER TABLE "nft_sale_days" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "nft_trades" (
  "collection_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "item" integer NOT NULL,
  "block_timestamp" timestamp with time zone NOT NULL,
  "side" smallint NOT NULL,
  "collections" smallint NOT NULL,
  "leads" boolean NOT NULL,
  "token_address" bytea NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  "token_ids" numeric(78,0)[],
  "amounts" numeric(78,0)[],
  "marketplace" text NOT NULL,
  "protocol" text NOT NULL,
  "marketplace_address" bytea NOT NULL,
  "seller" bytea NOT NULL,
  "buyer" bytea NOT NULL,
  "payment_token" bytea,
  "price" numeric,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "nft_trades_pkey" PRIMARY KEY("collection_key","chain_id","block_number","transaction_index","log_index","item")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "nft_trades_by_token" ON "nft_trades" USING btree ("collection_key",token_id_key(token_id),"block_number","transaction_index","log_index","item");--> statement-breakpoint
CREATE INDEX "nft_trades_by_marketplace" ON "nft_trades" USING btree ("collection_key","marketplace","block_number","transaction_index","log_index","item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_trades_by_seller" ON "nft_trades" USING btree (address_key(seller),"block_number","transaction_index","log_index","item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_trades_by_buyer" ON "nft_trades" USING btree (address_key(buyer),"block_number","transaction_index","log_index","item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_trades_by_block" ON "nft_trades" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "nft_transfers" (
  "collection_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "item" integer NOT NULL,
  "kind" smallint NOT NULL,
  "token_address" bytea NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  "last_token_id" numeric(78,0),
  "from_address" bytea NOT NULL,
  "to_address" bytea NOT NULL,
  "amount" numeric(78,0) NOT NULL,
  "operator" bytea,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "nft_transfers_pkey" PRIMARY KEY("collection_key","chain_id","block_number","transaction_index","log_index","item")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "nft_transfers_by_token" ON "nft_transfers" USING btree ("collection_key",token_id_key(token_id),"block_number","transaction_index","log_index","item");--> statement-breakpoint
CREATE INDEX "nft_transfers_by_range" ON "nft_transfers" USING btree (address_key(token_address),"block_number","transaction_index","log_index","item") WHERE last_token_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "nft_transfers_by_sender" ON "nft_transfers" USING btree (address_key(from_address),"block_number","transaction_index","log_index","item");--> statement-breakpoint
CREATE INDEX "nft_transfers_by_recipient" ON "nft_transfers" USING btree (address_key(to_address),"block_number","transaction_index","log_index","item");--> statement-breakpoint
CREATE INDEX "nft_transfers_by_block" ON "nft_transfers" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "nft_wallet_collections" (
  "wallet" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token_address" bytea NOT NULL,
  "ids_held" bigint NOT NULL,
  CONSTRAINT "nft_wallet_collections_pkey" PRIMARY KEY("wallet","chain_id","token_address")
);--> statement-breakpoint
ALTER TABLE "nft_wallet_collections" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "nft_wallet_tokens" (
  "wallet" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token_address" bytea NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  "amount" numeric NOT NULL,
  "last_block" integer NOT NULL,
  "newest" bigint,
  CONSTRAINT "nft_wallet_tokens_pkey" PRIMARY KEY("wallet","chain_id","token_address","token_id")
);--> statement-breakpoint
CREATE INDEX "nft_wallet_tokens_by_change" ON "nft_wallet_tokens" USING btree ("wallet","chain_id","last_block","token_address","token_id") WHERE amount > 0;--> statement-breakpoint
CREATE INDEX "nft_wallet_tokens_given_by_change" ON "nft_wallet_tokens" USING btree ("wallet","chain_id","last_block","token_address","token_id") WHERE amount <= 0 AND newest IS NULL;--> statement-breakpoint
CREATE INDEX "nft_wallet_tokens_given_by_contract" ON "nft_wallet_tokens" USING btree ("wallet","chain_id","token_address","token_id") WHERE amount <= 0 AND newest IS NULL;--> statement-breakpoint
ALTER TABLE "nft_wallet_tokens" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "pool_candles" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "start" integer NOT NULL,
  "swaps" integer NOT NULL,
  "buys" integer NOT NULL,
  "sells" integer NOT NULL,
  "hours" smallint NOT NULL,
  "decimals0" smallint,
  "decimals1" smallint,
  "is_valued" boolean NOT NULL,
  "is_quoted_in0" boolean NOT NULL,
  "pool" bytea NOT NULL,
  "buy_volume" numeric,
  "sell_volume" numeric,
  "prices" bytea NOT NULL,
  "buyers" bytea,
  "sellers" bytea,
  CONSTRAINT "pool_candles_pkey" PRIMARY KEY("pool_key","chain_id","hours","start","pool")
);--> statement-breakpoint
CREATE INDEX "pool_candles_by_start" ON "pool_candles" USING brin ("chain_id","start" int4_minmax_multi_ops);--> statement-breakpoint
ALTER TABLE "pool_candles" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "pool_creations" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "fee" integer,
  "tick_spacing" integer,
  "is_stable" boolean,
  "pool" bytea NOT NULL,
  "factory" bytea NOT NULL,
  "token0" bytea,
  "token1" bytea,
  "hooks" bytea,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "pool_creations_pkey" PRIMARY KEY("pool_key","chain_id","block_number","transaction_index","log_index")
);--> statement-breakpoint
CREATE INDEX "pool_creations_by_block" ON "pool_creations" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
ALTER TABLE "pool_creations" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "pool_lookups" (
  "token" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "looked_up_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "pool_lookups_pkey" PRIMARY KEY("token","chain_id")
);--> statement-breakpoint
CREATE INDEX "pool_lookups_by_block" ON "pool_lookups" USING btree ("chain_id","block_number");--> statement-breakpoint
CREATE INDEX "pool_lookups_by_time" ON "pool_lookups" USING btree ("chain_id","looked_up_at");--> statement-breakpoint
ALTER TABLE "pool_lookups" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "pool_prices" (
  "pool" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "sqrt_price_x96" numeric(78,0) NOT NULL,
  "block_timestamp" timestamp with time zone NOT NULL,
  CONSTRAINT "pool_prices_pkey" PRIMARY KEY("pool","chain_id","block_number")
);--> statement-breakpoint
CREATE INDEX "pool_prices_by_block" ON "pool_prices" USING brin ("chain_id","block_number" int8_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
ALTER TABLE "pool_prices" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "pool_readings" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "tick" integer,
  "stood_since" bigint NOT NULL,
  "pool" bytea NOT NULL,
  "reserve0" numeric,
  "reserve1" numeric,
  "sqrt_price_x96" numeric,
  "liquidity" numeric,
  CONSTRAINT "pool_readings_pkey" PRIMARY KEY("pool_key","chain_id","block_number","pool")
);--> statement-breakpoint
CREATE INDEX "pool_readings_by_block" ON "pool_readings" USING btree ("chain_id","block_number");--> statement-breakpoint
ALTER TABLE "pool_readings" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "pool_states" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "tick" integer,
  "pool" bytea NOT NULL,
  "reserve0" numeric,
  "reserve1" numeric,
  "sqrt_price_x96" numeric,
  "liquidity" numeric,
  CONSTRAINT "pool_states_pkey" PRIMARY KEY("pool_key","chain_id","block_number","pool")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "pool_states_by_block" ON "pool_states" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "pools" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "pool" bytea NOT NULL,
  "vault" bytea,
  "status" text DEFAULT 'unproven' NOT NULL,
  "proof" text,
  "proof_block" integer,
  "exchange" text,
  "factory" bytea,
  "token0" bytea,
  "token1" bytea,
  "fee" integer,
  "tick_spacing" integer,
  "is_stable" boolean,
  "hooks" bytea,
  "is_counted" boolean DEFAULT false NOT NULL,
  "is_trusted" boolean DEFAULT false NOT NULL,
  "left_out" text,
  "due_at" timestamp with time zone DEFAULT now(),
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  CONSTRAINT "pools_pkey" PRIMARY KEY("pool_key","chain_id","pool")
);--> statement-breakpoint
CREATE INDEX "pools_due" ON "pools" USING btree ("chain_id",coalesce(lease_until, due_at)) WHERE coalesce(lease_until, due_at) IS NOT NULL;--> statement-breakpoint
CREATE INDEX "pools_by_token0" ON "pools" USING btree (address_key(token0),"chain_id",address_key(token1)) WHERE status = 'proven';--> statement-breakpoint
CREATE INDEX "pools_by_token1" ON "pools" USING btree (address_key(token1),"chain_id",address_key(token0)) WHERE status = 'proven';--> statement-breakpoint
CREATE INDEX "pools_priced_by_token0" ON "pools" USING btree (address_key(token0),"chain_id",address_key(token1)) WHERE status = 'proven' AND is_counted AND left_out IS NULL;--> statement-breakpoint
CREATE INDEX "pools_priced_by_token1" ON "pools" USING btree (address_key(token1),"chain_id",address_key(token0)) WHERE status = 'proven' AND is_counted AND left_out IS NULL;--> statement-breakpoint
CREATE INDEX "pools_unproven_by_token0" ON "pools" USING btree (address_key(token0),"chain_id") WHERE status = 'unproven';--> statement-breakpoint
CREATE INDEX "pools_unproven_by_token1" ON "pools" USING btree (address_key(token1),"chain_id") WHERE status = 'unproven';--> statement-breakpoint
CREATE INDEX "pools_by_hook" ON "pools" USING btree ("chain_id","is_counted","hooks") WHERE status = 'proven' AND (is_trusted OR NOT is_counted);--> statement-breakpoint
CREATE INDEX "pools_proof_blocks" ON "pools" USING btree ("chain_id","proof_block") WHERE proof_block IS NOT NULL;--> statement-breakpoint
ALTER TABLE "pools" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "punk_bids" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  "block_number" bigint NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "bidder" bytea NOT NULL,
  "value" numeric(78,0) NOT NULL,
  "entered" boolean NOT NULL,
  CONSTRAINT "punk_bids_pkey" PRIMARY KEY("token_address","chain_id","token_id","block_number","transaction_index","log_index")
);--> statement-breakpoint
CREATE INDEX "punk_bids_by_block" ON "punk_bids" USING brin ("chain_id","block_number" int8_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
ALTER TABLE "punk_bids" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "stale_candles" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "hours" smallint NOT NULL,
  "start" integer NOT NULL,
  "pool" bytea NOT NULL,
  "revision" uuid DEFAULT gen_random_uuid() NOT NULL,
  "checked_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "stale_candles_pkey" PRIMARY KEY("pool_key","chain_id","hours","start","pool")
);--> statement-breakpoint
CREATE INDEX "stale_candles_by_check" ON "stale_candles" USING btree ("chain_id","checked_at");--> statement-breakpoint
ALTER TABLE "stale_candles" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "swaps" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "tick_lower" integer,
  "tick_upper" integer,
  "kind" smallint NOT NULL,
  "pool" bytea NOT NULL,
  "vault" bytea,
  "token0" bytea,
  "token1" bytea,
  "amount0" numeric,
  "amount1" numeric,
  "liquidity_delta" numeric,
  "wallet" bytea NOT NULL,
  "beneficiary" bytea,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "swaps_pkey" PRIMARY KEY("pool_key","chain_id","block_number","transaction_index","log_index")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "swaps_by_wallet" ON "swaps" USING btree (address_key(wallet),"block_number","transaction_index","log_index");--> statement-breakpoint
CREATE INDEX "swaps_by_beneficiary" ON "swaps" USING btree (address_key(beneficiary),"block_number","transaction_index","log_index") WHERE beneficiary IS NOT NULL;--> statement-breakpoint
CREATE INDEX "swaps_liquidity_changes" ON "swaps" USING btree ("pool_key","chain_id","block_number") WHERE tick_lower IS NOT NULL;--> statement-breakpoint
CREATE INDEX "swaps_by_block" ON "swaps" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "tick_liquidity" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "blocks" integer NOT NULL,
  "start" integer NOT NULL,
  "tick" integer NOT NULL,
  "pool" bytea NOT NULL,
  "net" numeric NOT NULL,
  CONSTRAINT "tick_liquidity_pkey" PRIMARY KEY("pool_key","chain_id","blocks","start","tick","pool")
);--> statement-breakpoint
ALTER TABLE "tick_liquidity" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "trader_sums" (
  "chain_id" bigint NOT NULL,
  "trader" bytea NOT NULL,
  "scope" text NOT NULL,
  "last_block" bigint NOT NULL,
  "sums" jsonb,
  "claim" uuid NOT NULL,
  "used_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "trader_sums_pkey" PRIMARY KEY("trader","chain_id","scope")
);--> statement-breakpoint
CREATE INDEX "trader_sums_by_block" ON "trader_sums" USING btree ("chain_id","last_block");--> statement-breakpoint
ALTER TABLE "trader_sums" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE TABLE "trades" (
  "pool_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "token0_key" bigint NOT NULL,
  "token1_key" bigint NOT NULL,
  CONSTRAINT "trades_pkey" PRIMARY KEY("pool_key","chain_id","block_number","transaction_index","log_index")
);--> statement-breakpoint
CREATE INDEX "trades_by_token0" ON "trades" USING btree ("token0_key","chain_id","block_number","transaction_index","log_index");--> statement-breakpoint
CREATE INDEX "trades_by_token1" ON "trades" USING btree ("token1_key","chain_id","block_number","transaction_index","log_index");--> statement-breakpoint
CREATE INDEX "trades_by_block" ON "trades" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
ALTER TABLE "trades" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
CREATE TABLE "transactions" (
  "transaction_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "nonce" bigint NOT NULL,
  "gas" bigint NOT NULL,
  "gas_used" bigint NOT NULL,
  "cumulative_gas_used" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "type" smallint NOT NULL,
  "status" smallint,
  "sender_recovered" boolean NOT NULL,
  "transaction_hash" bytea NOT NULL,
  "from_address" bytea NOT NULL,
  "to_address" bytea,
  "contract_address" bytea,
  "value" numeric(78,0) NOT NULL,
  "gas_price" numeric(78,0) NOT NULL,
  "l1_fee" numeric(78,0),
  "blob_gas_used" numeric(78,0),
  "blob_gas_price" numeric(78,0),
  "root" bytea,
  "selector" bytea,
  "input" bytea,
  CONSTRAINT "transactions_pkey" PRIMARY KEY("transaction_key","chain_id","block_number","transaction_index")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "transactions_by_block" ON "transactions" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE TABLE "wallet_counts" (
  "wallet" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "first_block" bigint NOT NULL,
  "last_block" bigint NOT NULL,
  "sent" integer NOT NULL,
  "involved" integer NOT NULL,
  "nft_transfers" integer NOT NULL,
  "token_transfers" integer NOT NULL,
  CONSTRAINT "wallet_counts_pkey" PRIMARY KEY("wallet","chain_id","first_block")
);--> statement-breakpoint
CREATE TABLE "wrapped_coin_moves" (
  "account_key" bigint NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" integer NOT NULL,
  "transaction_index" integer NOT NULL,
  "log_index" integer NOT NULL,
  "direction" smallint NOT NULL,
  "account" bytea NOT NULL,
  "token" bytea NOT NULL,
  "counterparty" bytea NOT NULL,
  "value" numeric(78,0) NOT NULL,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "wrapped_coin_moves_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","log_index","direction")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "wrapped_coin_moves_by_contract" ON "wrapped_coin_moves" USING btree (token_key(token),"block_number") WHERE direction <> 1;--> statement-breakpoint
CREATE INDEX "wrapped_coin_moves_by_block" ON "wrapped_coin_moves" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
-- End of generated: tables of datasets

-- ============================================================================
-- ERC-20
-- ============================================================================
-- Whether transfers determine a token's balances. Unknown for a token without a row.
CREATE TABLE "erc20_token_classes" (
  "token" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  -- `sum`: transfers were confirmed by contract reads; `live`: balances change without transfers, or differently; `none`: `balanceOf` does
  -- not work.
  "class" text NOT NULL,
  -- Block of the read that showed it.
  "since_block" bigint NOT NULL,
  "told_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "erc20_token_classes_pkey" PRIMARY KEY("token","chain_id")
);--> statement-breakpoint
CREATE TABLE "erc20_balance_slots" (
  "token" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  -- Null: no known location holds the balances.
  "layout" text,
  -- Slot of the mapping; for `solady` its seed.
  "slot" numeric(78,0),
  -- Holders whose balances were compared with the location.
  "checked_by" bytea[] NOT NULL,
  -- The block of the comparison.
  "checked_block" bigint NOT NULL,
  "found_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "erc20_balance_slots_pkey" PRIMARY KEY("token","chain_id")
);--> statement-breakpoint

-- ============================================================================
-- NFTs
-- ============================================================================
-- Entries of imported collection lists, with their source. They take precedence over the contract's own data.
CREATE TABLE "collection_list_entries" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "source" text NOT NULL,
  "name" text,
  "symbol" text,
  "collection_logo" text,
  "collection_banner_image" text,
  "collection_category" text,
  "project_url" text,
  "wiki_url" text,
  "discord_url" text,
  "telegram_url" text,
  "twitter_username" text,
  "instagram_username" text,
  "verified" boolean,
  "possible_spam" boolean,
  CONSTRAINT "collection_list_entries_pkey" PRIMARY KEY("token_address","chain_id","source")
);--> statement-breakpoint
CREATE TABLE "nft_collections" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "status" text DEFAULT 'pending' NOT NULL,
  "contract_type" text,
  "name" text,
  "symbol" text,
  "contract_uri" text,
  "base_uri" text,
  "collection_logo" text,
  "collection_banner_image" text,
  "collection_category" text,
  "project_url" text,
  "wiki_url" text,
  "discord_url" text,
  "telegram_url" text,
  "twitter_username" text,
  "instagram_username" text,
  "synced_at" timestamp with time zone,
  "due_at" timestamp with time zone,
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  "requested_by" text,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "nft_collections_pkey" PRIMARY KEY("token_address","chain_id")
);--> statement-breakpoint
CREATE INDEX "nft_collections_due" ON "nft_collections" USING btree ("chain_id",coalesce(lease_until, due_at)) WHERE status NOT IN ('not-nft', 'not-contract');--> statement-breakpoint
CREATE INDEX "nft_collections_refused" ON "nft_collections" USING btree ("due_at") WHERE status IN ('not-nft', 'not-contract');--> statement-breakpoint
CREATE INDEX "nft_collections_requested" ON "nft_collections" USING btree ("requested_by") WHERE requested_by IS NOT NULL;--> statement-breakpoint
CREATE TABLE "nft_token_metadata" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  "status" text DEFAULT 'pending' NOT NULL,
  "token_uri" text,
  "metadata" text,
  "synced_at" timestamp with time zone,
  "due_at" timestamp with time zone,
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  "requested_by" text,
  "from_known_uri" boolean DEFAULT false NOT NULL,
  "uri_synced_at" timestamp with time zone,
  CONSTRAINT "nft_token_metadata_pkey" PRIMARY KEY("token_address","chain_id","token_id")
);--> statement-breakpoint
CREATE INDEX "nft_token_metadata_due" ON "nft_token_metadata" USING btree ("chain_id",coalesce(lease_until, due_at)) WHERE coalesce(lease_until, due_at) IS NOT NULL;--> statement-breakpoint
CREATE INDEX "nft_token_metadata_requested" ON "nft_token_metadata" USING btree ("requested_by") WHERE requested_by IS NOT NULL;--> statement-breakpoint
-- One row per requested collection.
CREATE TABLE "nft_collection_traits" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  -- The generation that is shown. Null until the first is computed, like its other columns.
  "generation" bigint,
  -- Ids that it counts.
  "tokens" integer,
  -- Distinct traits that it has.
  "traits" integer,
  "computed_at" timestamp with time zone,
  -- The blocks that its ids come from.
  "indexed_from" integer,
  "indexed_to" integer,
  "is_complete" boolean,
  -- The collection is too large: an earlier generation is not shown any more.
  "is_too_large" boolean DEFAULT false NOT NULL,
  -- The stage of the next generation; null: none is requested.
  "work" text,
  -- The id up to which that is done; null: none yet.
  "work_after" numeric(78,0),
  -- The generation that is being written.
  "work_generation" bigint,
  -- Documents read before this are read again for it; null: none is.
  "read_after" timestamp with time zone,
  "due_at" timestamp with time zone,
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  -- When the newest generation was requested, and by which key (its id, or `open`).
  "requested_at" timestamp with time zone DEFAULT now() NOT NULL,
  "requested_by" text NOT NULL,
  -- When they were last requested.
  "asked_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "nft_collection_traits_pkey" PRIMARY KEY("token_address","chain_id")
);--> statement-breakpoint
CREATE INDEX "nft_collection_traits_due" ON "nft_collection_traits" USING btree ("chain_id",coalesce(lease_until, due_at)) WHERE work IS NOT NULL;--> statement-breakpoint
CREATE INDEX "nft_collection_traits_by_asking" ON "nft_collection_traits" USING btree ("asked_at");--> statement-breakpoint
-- The rarity of each id of a generation; no rows if no id has a trait.
CREATE TABLE "nft_token_rarity" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "generation" bigint NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  -- From 1, the rarest; equal scores share the better rank.
  "rank" integer NOT NULL,
  "score" double precision NOT NULL,
  CONSTRAINT "nft_token_rarity_pkey" PRIMARY KEY("token_address","chain_id","generation","token_id")
);--> statement-breakpoint
-- The traits of a generation.
CREATE TABLE "nft_trait_counts" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "generation" bigint NOT NULL,
  -- From 0 by count, type and value, all ascending, without gaps: identifies the trait within the generation.
  "place" integer NOT NULL,
  -- 16 bytes made of contract, type and value (trait.ts): texts may be too long for an index.
  "trait_key" bytea NOT NULL,
  -- Empty if documents have none.
  "trait_type" text NOT NULL,
  "trait_value" text NOT NULL,
  -- Ids that have it.
  "count" integer NOT NULL,
  CONSTRAINT "nft_trait_counts_pkey" PRIMARY KEY("token_address","chain_id","generation","place")
);--> statement-breakpoint
CREATE INDEX "nft_trait_counts_by_key" ON "nft_trait_counts" USING btree ("trait_key");--> statement-breakpoint
-- Generations that may have rows; those that no collection refers to are deleted.
CREATE TABLE "nft_trait_generations" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "generation" bigint NOT NULL,
  CONSTRAINT "nft_trait_generations_pkey" PRIMARY KEY("token_address","chain_id","generation")
);--> statement-breakpoint
-- The ids with a trait, in the page order of a collection.
CREATE TABLE "nft_trait_tokens" (
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "generation" bigint NOT NULL,
  "place" integer NOT NULL,
  -- As in `nft_collection_ids`.
  "token_hash" bytea NOT NULL,
  "token_id" numeric(78,0) NOT NULL,
  CONSTRAINT "nft_trait_tokens_pkey" PRIMARY KEY("token_address","chain_id","generation","place","token_hash","token_id")
);--> statement-breakpoint

-- ============================================================================
-- Transactions, logs and contracts
-- ============================================================================
-- One row per wallet. It is deleted without recent requests.
CREATE TABLE "tracked_wallets" (
  "chain_id" bigint NOT NULL,
  "wallet" bytea NOT NULL,
  -- From this block on every followed block was searched for it; null until the next one is committed.
  "since_block" bigint,
  "asked_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "tracked_wallets_pkey" PRIMARY KEY("chain_id","wallet")
);--> statement-breakpoint
CREATE INDEX "tracked_wallets_new" ON "tracked_wallets" USING btree ("chain_id") WHERE since_block IS NULL;--> statement-breakpoint
CREATE INDEX "tracked_wallets_by_time" ON "tracked_wallets" USING btree ("chain_id","asked_at");--> statement-breakpoint
-- The newest contiguous run of a chain's blocks that were searched for all wallets requested by then.
CREATE TABLE "wallet_scan_state" (
  "chain_id" bigint PRIMARY KEY NOT NULL,
  "first_block" bigint NOT NULL,
  -- One below `first_block` if a reorg removed all of it.
  "last_block" bigint NOT NULL
);--> statement-breakpoint
-- Functions and events of the ABI that was imported for a contract.
CREATE TABLE "contract_abi_entries" (
  "address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  -- As in imported_signatures.
  "selector" bytea NOT NULL,
  -- Among the ABI's entries.
  "place" integer NOT NULL,
  -- The JSON ABI format.
  "entry" jsonb NOT NULL,
  CONSTRAINT "contract_abi_entries_pkey" PRIMARY KEY("address","chain_id","selector","place")
);--> statement-breakpoint
-- Hashes of contracts' code, as nodes reported it at a block: of requested contracts, and of those with an imported ABI.
CREATE TABLE "contract_codes" (
  "address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  -- keccak256; null if there is no code, or it delegates to other code.
  "code_hash" bytea,
  -- The block of the read.
  "block_number" bigint NOT NULL,
  -- Whether an ABI was imported for it.
  "has_abi" boolean NOT NULL,
  "read_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "contract_codes_pkey" PRIMARY KEY("address","chain_id")
);--> statement-breakpoint
CREATE INDEX "contract_codes_with_abi" ON "contract_codes" USING btree ("code_hash") WHERE "contract_codes"."has_abi";--> statement-breakpoint
CREATE INDEX "contract_codes_by_block" ON "contract_codes" USING btree ("chain_id","block_number");--> statement-breakpoint
-- Signatures of imported lists, by source, without a contract.
CREATE TABLE "imported_signatures" (
  -- First four bytes of the signature's hash: the selector of a function, the start of an event's topic0.
  "selector" bytea NOT NULL,
  -- Name and canonical types: `transfer(address,uint256)`.
  "signature" text NOT NULL,
  "source" text NOT NULL,
  CONSTRAINT "imported_signatures_pkey" PRIMARY KEY("selector","signature","source")
);--> statement-breakpoint
-- A contract's implementation, from one block on, as nodes reported it. Read on request; ended by a block in which the contract, or its
-- beacon, announces a change, and then read again.
CREATE TABLE "contract_implementations" (
  "proxy" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  -- A diamond's function; empty for the whole contract.
  "selector" bytea NOT NULL,
  "from_block" bigint NOT NULL,
  -- Null: until a change is announced.
  "until_block" bigint,
  -- Null: none.
  "implementation" bytea,
  -- The beacon that provides the implementation.
  "beacon" bytea,
  -- How it was found: `eip-1967`, `eip-1167` …; `none`, `unread`.
  "known_by" text NOT NULL,
  "read_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "contract_implementations_pkey" PRIMARY KEY("proxy","chain_id","selector","from_block")
);--> statement-breakpoint
CREATE INDEX "contract_implementations_by_beacon" ON "contract_implementations" USING btree ("beacon","chain_id") WHERE "contract_implementations"."beacon" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "contract_implementations_by_block" ON "contract_implementations" USING btree ("chain_id","from_block");--> statement-breakpoint

-- ============================================================================
-- Prices, names and state reads
-- ============================================================================
-- What the chain's facts say of its native currency, plain and wrapped, and of bridged ether, for those who ask in SQL alone. Written by
-- the worker; the program itself reads the facts.
CREATE TABLE "payment_tokens" (
  -- The zero address: the chain's native currency.
  "token_address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "symbol" text NOT NULL,
  "decimals" smallint NOT NULL,
  -- Ether itself, or a token that stands for it one to one.
  "is_ether" boolean NOT NULL,
  CONSTRAINT "payment_tokens_pkey" PRIMARY KEY("token_address","chain_id")
);--> statement-breakpoint
CREATE TABLE "contract_definitions" (
  "name" text NOT NULL,
  "chain_id" bigint NOT NULL,
  -- Lower case.
  "addresses" text[] NOT NULL,
  -- First wanted block; null: the first one of the chain's history.
  "first_block" bigint,
  -- Events with their names in paths and SQL, and their items of the ABI.
  "events" jsonb NOT NULL,
  -- View functions and errors of its ABIs, which the console calls.
  "functions" jsonb DEFAULT '[]' NOT NULL,
  -- Event whose parameter is an address whose events are stored; null: the addresses emit all events.
  "factory" jsonb,
  -- Event whose parameter is the implementation of the proxy that emits it; null: forms of events don't depend on it.
  "upgrades" jsonb,
  -- Reason why nothing more is stored; null: the contract is indexed.
  "suspended_reason" text,
  -- Another one after each change.
  "revision" uuid DEFAULT gen_random_uuid() NOT NULL,
  "created_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "contract_definitions_pkey" PRIMARY KEY("name","chain_id")
);--> statement-breakpoint
-- Tables of removed contracts that are not dropped yet: readers may hold them.
CREATE TABLE "removed_contract_tables" (
  "table_name" text NOT NULL,
  "view_name" text NOT NULL,
  "contract" text NOT NULL,
  "removed_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "removed_contract_tables_pkey" PRIMARY KEY("table_name")
);--> statement-breakpoint
-- State of known feeds at the end of a block, read by its hash. A reorg of the block deletes them.
CREATE TABLE "feed_readings" (
  "feed" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "status" text NOT NULL,
  -- The aggregator behind the proxy, its round and its value. Null without a value.
  "aggregator" bytea,
  "round" numeric(78, 0),
  "answer" numeric(78, 0),
  -- Decimals of the feed in that block.
  "decimals" smallint,
  -- Named by the feed.
  "updated_at" timestamp with time zone,
  "read_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "feed_readings_pkey" PRIMARY KEY("feed","chain_id","block_number")
);--> statement-breakpoint
-- Aggregators behind a feed's proxy: from chain facts, from the proxy's events, and from calls of the proxy.
CREATE TABLE "price_feed_phases" (
  "feed" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "aggregator" bytea NOT NULL,
  "decimals" smallint NOT NULL,
  -- Whether the feed is that of ether, for those who ask in SQL alone.
  "is_ether" boolean DEFAULT false NOT NULL,
  -- Tokens that the feed values, for readers in SQL.
  "tokens" bytea[] DEFAULT '{}' NOT NULL,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "price_feed_phases_pkey" PRIMARY KEY("feed","chain_id","aggregator")
);--> statement-breakpoint
-- Resolved names and addresses, the newest reading of each. Rows without a request for a day are deleted.
CREATE TABLE "resolved_names" (
  -- ens or unstoppable.
  "service" text NOT NULL,
  -- The requested address or name.
  "wanted" text NOT NULL,
  -- The name, normalised, or the address in lower case.
  "subject" text NOT NULL,
  -- Null: there is none.
  "answer" text,
  -- Whether a gateway would have to be asked, and may not be.
  "off_chain" boolean NOT NULL,
  "read_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Whose contracts said so; null where several chains had to say it.
  "chain_id" bigint,
  -- As of which block of that chain.
  "block_number" bigint,
  CONSTRAINT "resolved_names_pkey" PRIMARY KEY("service","wanted","subject")
);--> statement-breakpoint
CREATE INDEX "resolved_names_by_age" ON "resolved_names" USING btree ("read_at");--> statement-breakpoint
-- Whether there is a contract at an address. A delegation of EIP-7702 is none.
CREATE TABLE "account_codes" (
  "address" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "has_code" boolean NOT NULL,
  "looked_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "account_codes_pkey" PRIMARY KEY("address","chain_id")
);--> statement-breakpoint
-- Native token balances, the newest reading of each account.
CREATE TABLE "native_balances" (
  "account" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "wei" numeric(78,0) NOT NULL,
  "block_number" bigint NOT NULL,
  "block_hash" bytea NOT NULL,
  "read_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "native_balances_pkey" PRIMARY KEY("account","chain_id")
);--> statement-breakpoint
-- Questions to a chain's state that requests queued for the worker role, and their results: stored for some minutes, so that the same
-- questions meanwhile share them.
CREATE TABLE "state_questions" (
  "chain_id" bigint NOT NULL,
  -- Derived from the question's kind and content: the same question has the same key.
  "key" text NOT NULL,
  "kind" text NOT NULL,
  "question" jsonb NOT NULL,
  "asked_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Null while it is not answered.
  "settled_at" timestamp with time zone,
  -- Null where it could not be answered: the error says why.
  "answer" jsonb,
  "due_at" timestamp with time zone,
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  CONSTRAINT "state_questions_pkey" PRIMARY KEY("chain_id","key")
);--> statement-breakpoint
CREATE INDEX "state_questions_by_age" ON "state_questions" USING btree ("asked_at");--> statement-breakpoint
CREATE INDEX "state_questions_due" ON "state_questions" USING btree ("chain_id",coalesce(lease_until, due_at)) WHERE coalesce(lease_until, due_at) IS NOT NULL;--> statement-breakpoint
-- Contents of a transaction. Its hash commits to all of it, so nothing here ever changes.
CREATE TABLE "transaction_facts" (
  "hash" bytea NOT NULL,
  "chain_id" bigint NOT NULL,
  "sender" bytea NOT NULL,
  -- Null: it made a contract.
  "recipient" bytea,
  -- Wei that it carried.
  "value" numeric(78,0) NOT NULL,
  -- The first four bytes of its input; null where it has fewer.
  "method" bytea,
  CONSTRAINT "transaction_facts_pkey" PRIMARY KEY("hash","chain_id")
);--> statement-breakpoint

-- ============================================================================
-- Streams
-- ============================================================================
-- Blocks that streams of a key have not matched yet, because their work exceeded that of a block. Replayed in turn.
CREATE TABLE "deferred_matches" (
  -- Id of the key that created the streams; empty for streams without one.
  "key" text NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  -- Streams to match.
  "streams" uuid[] NOT NULL,
  "due_at" timestamp with time zone,
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  CONSTRAINT "deferred_matches_pkey" PRIMARY KEY("key","chain_id","block_number")
);--> statement-breakpoint
ALTER TABLE "deferred_matches" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE INDEX "deferred_matches_due" ON "deferred_matches" USING btree ("chain_id",coalesce(lease_until, due_at)) WHERE coalesce(lease_until, due_at) IS NOT NULL;--> statement-breakpoint
-- Replays of a stream over past blocks.
CREATE TABLE "historical_jobs" (
  "id" uuid PRIMARY KEY NOT NULL,
  "stream_id" uuid NOT NULL,
  "chain_id" bigint NOT NULL,
  "from_block" bigint NOT NULL,
  "to_block" bigint NOT NULL,
  -- Unix seconds, both inclusive, if the job was requested by time.
  "from_timestamp" bigint,
  "to_timestamp" bigint,
  -- The next block to process.
  "next_block" bigint NOT NULL,
  -- Hexadecimal addresses that replace the stream's; null: the stream's.
  "addresses" text[],
  -- pending, running, done, failed.
  "status" text DEFAULT 'pending' NOT NULL,
  "matches" bigint DEFAULT 0 NOT NULL,
  "due_at" timestamp with time zone,
  "attempts" integer DEFAULT 0 NOT NULL,
  "lease_until" timestamp with time zone,
  "holder" text,
  "error_code" text,
  "error_message" text,
  "created_at" timestamp with time zone DEFAULT now() NOT NULL,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Id of the requesting key; null without a key.
  "requested_by" text
);--> statement-breakpoint
CREATE INDEX "historical_jobs_due" ON "historical_jobs" USING btree ("chain_id",coalesce(lease_until, due_at)) WHERE status IN ('pending', 'running');--> statement-breakpoint
-- Watched addresses.
CREATE TABLE "stream_addresses" (
  "stream_id" uuid NOT NULL,
  "address" bytea NOT NULL,
  -- The configuration version that added it, so that a matcher can load only newer addresses.
  "version" bigint NOT NULL,
  CONSTRAINT "stream_addresses_pkey" PRIMARY KEY("address","stream_id")
);--> statement-breakpoint
CREATE INDEX "stream_addresses_by_stream" ON "stream_addresses" USING btree ("stream_id","address");--> statement-breakpoint
CREATE INDEX "stream_addresses_by_version" ON "stream_addresses" USING btree ("version");--> statement-breakpoint
-- Every attempt, for /history/logs; failed ones are also listed in /history, with the sent body.
CREATE TABLE "stream_attempts" (
  "id" uuid NOT NULL,
  "delivery_id" uuid NOT NULL,
  "stream_id" uuid NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "confirmed" boolean NOT NULL,
  "webhook_url" text NOT NULL,
  "tag" text NOT NULL,
  "retries" integer NOT NULL,
  "success" boolean NOT NULL,
  -- Null without a response.
  "http_status" integer,
  "error_message" text,
  -- The sent body; only for failures, until their retention ends.
  "body" text,
  -- txs + logs + txsInternal.
  "records" integer NOT NULL,
  "duration_ms" integer NOT NULL,
  "created_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "stream_attempts_pkey" PRIMARY KEY("created_at","id")
);--> statement-breakpoint
CREATE INDEX "stream_attempts_by_stream" ON "stream_attempts" USING btree ("stream_id","created_at","id");--> statement-breakpoint
CREATE INDEX "stream_attempts_by_block" ON "stream_attempts" USING btree ("chain_id","block_number");--> statement-breakpoint
CREATE INDEX "stream_attempts_failed" ON "stream_attempts" USING btree ("created_at","id") WHERE NOT success;--> statement-breakpoint
CREATE INDEX "stream_attempts_failed_by_id" ON "stream_attempts" USING btree ("id") WHERE NOT success;--> statement-breakpoint
-- The outbox: one row per webhook. Authoritative; queues are rebuilt from it.
CREATE TABLE "stream_deliveries" (
  -- The same for every attempt and replay: derived from stream, chain, block hash and kind.
  "id" uuid PRIMARY KEY NOT NULL,
  "stream_id" uuid NOT NULL,
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "block_hash" bytea NOT NULL,
  -- unconfirmed, confirmed, removed.
  "kind" text NOT NULL,
  -- pending, delivered, failed (retries used up), dropped (its block was removed before delivery).
  "status" text DEFAULT 'pending' NOT NULL,
  -- Failed attempts so far: `retries` of the next body.
  "retries" integer DEFAULT 0 NOT NULL,
  "due_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- The exact signed text of the newest attempt. Null if it is the `finishBody` result for the stored match.
  "body" text,
  -- Body of a failed attempt to resend unchanged; null: the next body is built from the match.
  "resend" text,
  "created_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- First 2xx; a replay does not change it.
  "delivered_at" timestamp with time zone,
  -- The requesting key, for webhooks sent on request.
  "requested_by" text
);--> statement-breakpoint
CREATE INDEX "stream_deliveries_open_by_key" ON "stream_deliveries" USING btree ("requested_by") WHERE status = 'pending' AND requested_by IS NOT NULL;--> statement-breakpoint
CREATE INDEX "stream_deliveries_by_block" ON "stream_deliveries" USING btree ("chain_id","block_number");--> statement-breakpoint
CREATE INDEX "stream_deliveries_pending_by_stream" ON "stream_deliveries" USING btree ("stream_id","due_at") WHERE status = 'pending';--> statement-breakpoint
-- Logs, transactions and internal transfers that matched, once per block however many streams show them. Deleted when no match of the block
-- lacks its body.
CREATE TABLE "stream_items" (
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "block_hash" bytea NOT NULL,
  -- 0: log, 1: transaction, 2: internal transfer.
  "kind" smallint NOT NULL,
  -- Position in the block, of its kind.
  "place" integer NOT NULL,
  -- JSON.
  "item" text NOT NULL,
  -- Time of the last match that refers to it.
  "used_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "stream_items_pkey" PRIMARY KEY("chain_id","block_number","block_hash","kind","place")
);--> statement-breakpoint
CREATE INDEX "stream_items_by_use" ON "stream_items" USING btree ("used_at");--> statement-breakpoint
-- Transactions of a match, for finding its attempts by hash. Written with its body.
CREATE TABLE "stream_match_transactions" (
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "stream_id" uuid NOT NULL,
  "block_hash" bytea NOT NULL,
  "transaction_hash" bytea NOT NULL,
  CONSTRAINT "stream_match_transactions_pkey" PRIMARY KEY("chain_id","block_number","stream_id","block_hash","transaction_hash")
);--> statement-breakpoint
CREATE INDEX "stream_match_transactions_by_hash" ON "stream_match_transactions" USING btree ("transaction_hash");--> statement-breakpoint
-- The match of a stream in a block. Stored once; the unconfirmed and the confirmed delivery are built from it.
CREATE TABLE "stream_matches" (
  "chain_id" bigint NOT NULL,
  "block_number" bigint NOT NULL,
  "stream_id" uuid NOT NULL,
  "block_hash" bytea NOT NULL,
  "block_timestamp" timestamp with time zone NOT NULL,
  -- JSON of the match, which refers to `stream_items` (matching/stored-match.ts). It is turned into the webhook body before the first
  -- attempt and then emptied.
  "matched" text NOT NULL,
  -- JSON text of the body without confirmed and retries; null until token metadata, triggers and balances are read.
  "body" text,
  "logs" integer NOT NULL,
  "txs" integer NOT NULL,
  "txs_internal" integer NOT NULL,
  -- Characters of its items, about the length of its body.
  "length" integer NOT NULL,
  -- When the block left the canonical chain; no confirmed delivery follows.
  "removed_at" timestamp with time zone,
  -- Whether the confirmed delivery exists.
  "confirmed" boolean DEFAULT false NOT NULL,
  CONSTRAINT "stream_matches_pkey" PRIMARY KEY("chain_id","block_number","stream_id","block_hash")
);--> statement-breakpoint
CREATE INDEX "stream_matches_unconfirmed" ON "stream_matches" USING btree ("chain_id","block_number") WHERE NOT confirmed AND removed_at IS NULL;--> statement-breakpoint
-- One row: settings of the account.
CREATE TABLE "stream_settings" (
  "id" smallint PRIMARY KEY NOT NULL,
  "region" text NOT NULL,
  "secret_key" text NOT NULL,
  -- Also signs until its overlap ends.
  "previous_secret_key" text,
  "previous_valid_until" timestamp with time zone,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
-- Delivery statistics of a stream. Exact when no delivery is in flight (docs/api/streams-reference.md#statistics).
CREATE TABLE "stream_stats" (
  "stream_id" uuid PRIMARY KEY NOT NULL,
  "webhooks_delivered" bigint DEFAULT 0 NOT NULL,
  "webhooks_failed" bigint DEFAULT 0 NOT NULL,
  "logs_processed" bigint DEFAULT 0 NOT NULL,
  "txs_processed" bigint DEFAULT 0 NOT NULL,
  "txs_internal_processed" bigint DEFAULT 0 NOT NULL,
  "created_at" timestamp with time zone DEFAULT now() NOT NULL,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
CREATE TABLE "streams" (
  "id" uuid PRIMARY KEY NOT NULL,
  "webhook_url" text NOT NULL,
  "description" text NOT NULL,
  "tag" text NOT NULL,
  "chain_ids" bigint[] NOT NULL,
  "topic0" text[],
  "all_addresses" boolean NOT NULL,
  "include_native_txs" boolean NOT NULL,
  "include_contract_logs" boolean NOT NULL,
  "include_internal_txs" boolean NOT NULL,
  "include_all_tx_logs" boolean NOT NULL,
  "filter_possible_spam_addresses" boolean NOT NULL,
  "get_native_balances" jsonb NOT NULL,
  -- Stored as text to keep the owner's key order in responses and webhooks.
  "abi" text,
  "advanced_options" text,
  "triggers" text,
  "demo" boolean NOT NULL,
  "send_removed" boolean DEFAULT false NOT NULL,
  -- Names of contracts or events; null: none.
  "contracts" text[],
  -- active, paused, error, terminated.
  "status" text NOT NULL,
  "status_message" text NOT NULL,
  -- Time of entering `error`; the stream is terminated 24 hours later.
  "error_since" timestamp with time zone,
  "amount_of_addresses" bigint DEFAULT 0 NOT NULL,
  "created_at" timestamp with time zone DEFAULT now() NOT NULL,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL,
  -- Rows of deleted streams remain for the delivery history; they no longer match.
  "deleted_at" timestamp with time zone,
  -- Id of the creating key; null for streams created before this column.
  "created_by" text
);--> statement-breakpoint
CREATE INDEX "streams_by_creator" ON "streams" USING btree ("created_by") WHERE deleted_at IS NULL;--> statement-breakpoint
-- One row. Every change of streams or addresses raises the version in its transaction. A block's transaction holds it (FOR SHARE), so
-- exactly the changes committed before the block apply to it.
CREATE TABLE "streams_version" (
  "id" smallint PRIMARY KEY NOT NULL,
  "version" bigint NOT NULL
);--> statement-breakpoint
-- Success rate of a webhook URL: 0 to 100, plus one per success, minus one per failure (docs/api/streams.md#status).
CREATE TABLE "webhook_health" (
  "webhook_url" text PRIMARY KEY NOT NULL,
  "success_rate" integer DEFAULT 100 NOT NULL,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
-- Leases of hosts: one process sends to a host until its lease expires.
CREATE TABLE "webhook_host_leases" (
  -- Origin of the webhooks' URLs.
  "host" text PRIMARY KEY NOT NULL,
  "holder" uuid NOT NULL,
  "held_until" timestamp with time zone NOT NULL
);--> statement-breakpoint

-- ============================================================================
-- Gateway
-- ============================================================================
-- Responses that can't change any more, for all processes and across restarts. Redis replaces this table if configured.
CREATE TABLE "gateway_answers" (
  "chain_id" bigint NOT NULL,
  -- SHA-256 of method and parameters in canonical form.
  "call_hash" bytea NOT NULL,
  -- The result as JSON text from the node.
  "result" bytea NOT NULL,
  "stored_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "gateway_answers_pkey" PRIMARY KEY("chain_id","call_hash")
);--> statement-breakpoint
CREATE INDEX "gateway_answers_by_age" ON "gateway_answers" USING btree ("stored_at");--> statement-breakpoint
-- Calls of all keys by hour, chain and method, for a week.
CREATE TABLE "gateway_calls" (
  -- Start of the hour.
  "hour" timestamp with time zone NOT NULL,
  "chain_id" bigint NOT NULL,
  "method" text NOT NULL,
  "calls" bigint NOT NULL,
  -- Calls that returned an error.
  "errors" bigint NOT NULL,
  -- Calls served without an upstream.
  "cached" bigint NOT NULL,
  -- Uncached calls by duration, in the buckets of usage/call-times.ts.
  "latency" bigint[] NOT NULL,
  CONSTRAINT "gateway_calls_pkey" PRIMARY KEY("hour","chain_id","method")
);--> statement-breakpoint
-- Filters of clients (`eth_newFilter` …), shared so that any process can serve them. Deleted five minutes after the last poll.
CREATE TABLE "gateway_filters" (
  "id" text NOT NULL,
  -- Principal's id: other principals can't find the filter.
  "key_id" text NOT NULL,
  "chain_id" bigint NOT NULL,
  -- `logs`, `blocks` or `pending`.
  "kind" text NOT NULL,
  -- The original log filter; for `pending`, the upstream's filter.
  "subject" jsonb NOT NULL,
  -- The newest blocks reported to the client, as `[number, hash]`, oldest first.
  "reported" jsonb NOT NULL,
  -- Incremented with each change: of two concurrent polls, only one reports.
  "version" integer DEFAULT 0 NOT NULL,
  "polled_at" timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT "gateway_filters_pkey" PRIMARY KEY("id","chain_id")
);--> statement-breakpoint
CREATE INDEX "gateway_filters_by_key" ON "gateway_filters" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "gateway_filters_by_poll" ON "gateway_filters" USING btree ("polled_at");--> statement-breakpoint
-- The highest block of a chain that any process has used in a response: no later response may be older.
CREATE TABLE "gateway_heads" (
  "chain_id" bigint PRIMARY KEY NOT NULL,
  "head" bigint NOT NULL,
  -- Null if the chain or its upstreams have no finality.
  "finalized" bigint,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
-- Calls by key, day (UTC), chain and method.
CREATE TABLE "gateway_usage" (
  -- Principal's id, never the key.
  "key_id" text NOT NULL,
  "day" date NOT NULL,
  "chain_id" bigint NOT NULL,
  "method" text NOT NULL,
  "calls" bigint NOT NULL,
  -- Calls that returned an error.
  "errors" bigint NOT NULL,
  -- Calls served without an upstream.
  "cached" bigint NOT NULL,
  -- Sum of the methods' weights.
  "weight" bigint NOT NULL,
  -- Response bytes.
  "bytes" bigint NOT NULL,
  CONSTRAINT "gateway_usage_pkey" PRIMARY KEY("key_id","day","chain_id","method")
);--> statement-breakpoint

-- ============================================================================
-- Aptos
-- Texts that are sorted or compared have the C collation (byte order).
-- ============================================================================
-- The balance of a wallet in a coin after a transaction that wrote its CoinStore.
CREATE TABLE "aptos_balance_history" (
  "network" text NOT NULL,
  "owner_address" bytea NOT NULL,
  "coin_type_hash" bytea NOT NULL,
  "transaction_version" bigint NOT NULL,
  "coin_type" text COLLATE "C" NOT NULL,
  "amount" numeric(39, 0) NOT NULL,
  "transaction_timestamp" timestamp with time zone NOT NULL,
  CONSTRAINT "aptos_balance_history_pkey" PRIMARY KEY("owner_address","network","transaction_version","coin_type_hash")
);--> statement-breakpoint
CREATE INDEX "aptos_balance_history_by_coin" ON "aptos_balance_history" USING btree ("owner_address","network","coin_type_hash","transaction_version");--> statement-breakpoint
-- The balance of a wallet in a coin: the newest row of its history.
CREATE TABLE "aptos_balances" (
  "network" text NOT NULL,
  "owner_address" bytea NOT NULL,
  "coin_type_hash" bytea NOT NULL,
  "coin_type" text COLLATE "C" NOT NULL,
  "amount" numeric(39, 0) NOT NULL,
  "last_transaction_version" bigint NOT NULL,
  "last_transaction_timestamp" timestamp with time zone NOT NULL,
  CONSTRAINT "aptos_balances_pkey" PRIMARY KEY("owner_address","network","coin_type_hash")
);--> statement-breakpoint
CREATE INDEX "aptos_balances_top" ON "aptos_balances" USING btree ("network","coin_type_hash","amount","owner_address") WHERE amount > 0;--> statement-breakpoint
-- Every coin, from its first CoinInfo.
CREATE TABLE "aptos_coins" (
  "network" text NOT NULL,
  -- SHA-256 of the whole coin type.
  "coin_type_hash" bytea NOT NULL,
  -- At most 5,000 characters.
  "coin_type" text COLLATE "C" NOT NULL,
  "creator_address" bytea NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "symbol" text COLLATE "C" NOT NULL,
  "decimals" integer NOT NULL,
  "supply_aggregator_table_handle" bytea,
  "supply_aggregator_table_key" bytea,
  "transaction_version" bigint NOT NULL,
  -- Whole seconds.
  "transaction_timestamp" timestamp with time zone NOT NULL,
  CONSTRAINT "aptos_coins_pkey" PRIMARY KEY("coin_type_hash","network")
);--> statement-breakpoint
CREATE INDEX "aptos_coins_latest" ON "aptos_coins" USING btree ("network","transaction_version","coin_type_hash");--> statement-breakpoint
CREATE INDEX "aptos_coins_by_symbol" ON "aptos_coins" USING btree ("network","symbol","coin_type_hash");--> statement-breakpoint
CREATE INDEX "aptos_coins_by_name" ON "aptos_coins" USING btree ("network","name","coin_type_hash");--> statement-breakpoint
CREATE INDEX "aptos_coins_by_creator" ON "aptos_coins" USING btree ("network","creator_address","transaction_version","coin_type_hash");--> statement-breakpoint
-- One row per network: state of its fullnodes, and why ingestion is stopped.
CREATE TABLE "aptos_networks" (
  "network" text PRIMARY KEY NOT NULL,
  -- Ledger's chain id: 1 mainnet, 2 testnet.
  "chain_id" integer NOT NULL,
  -- Configured first version of the history.
  "history_start" bigint NOT NULL,
  -- First version that was followed; everything below belongs to the backfill.
  "first_followed" bigint NOT NULL,
  -- Newest version that a fullnode has returned.
  "head" bigint,
  -- Oldest version that a fullnode still has.
  "oldest" bigint,
  "stop_code" text,
  "stop_message" text,
  "stall_reason" text,
  -- Health of the fullnodes, as seen by the ingest process.
  "fullnodes" jsonb,
  "updated_at" timestamp with time zone DEFAULT now() NOT NULL
);--> statement-breakpoint
-- Covered versions by dataset. Disjoint (an exclusion constraint); adjacent ranges are joined.
CREATE TABLE "aptos_ranges" (
  "network" text NOT NULL,
  -- coins, transfers or holders.
  "dataset" text NOT NULL,
  "first_version" bigint NOT NULL,
  "last_version" bigint NOT NULL,
  CONSTRAINT "aptos_ranges_pkey" PRIMARY KEY("network","dataset","first_version")
);--> statement-breakpoint
-- The accumulator root after a version, which commits to all transactions before it; and the fullnode that returned it.
CREATE TABLE "aptos_roots" (
  "network" text NOT NULL,
  "version" bigint NOT NULL,
  "accumulator_root" bytea NOT NULL,
  "fullnode" text NOT NULL,
  -- The other fullnode that returned the same root; null while unconfirmed.
  "confirmed_by" text,
  CONSTRAINT "aptos_roots_pkey" PRIMARY KEY("network","version")
);--> statement-breakpoint
-- Withdrawals, deposits and gas of user transactions.
CREATE TABLE "aptos_transfers" (
  "network" text NOT NULL,
  "owner_address" bytea NOT NULL,
  "transaction_version" bigint NOT NULL,
  -- Position among the transaction's events, from 0; −1: the gas row. Orders the events of one transaction.
  "event_index" integer NOT NULL,
  "event_account_address" bytea NOT NULL,
  -- −1: the gas row.
  "event_creation_number" bigint NOT NULL,
  "event_sequence_number" numeric(39, 0) NOT NULL,
  "activity_type" text NOT NULL,
  "amount" numeric(39, 0) NOT NULL,
  "block_height" bigint NOT NULL,
  "coin_type" text COLLATE "C" NOT NULL,
  "coin_type_hash" bytea NOT NULL,
  "entry_function_id" text,
  "is_gas_fee" boolean NOT NULL,
  "is_transaction_success" boolean NOT NULL,
  "transaction_timestamp" timestamp with time zone NOT NULL,
  CONSTRAINT "aptos_transfers_pkey" PRIMARY KEY("owner_address","network","transaction_version","event_index")
);--> statement-breakpoint
CREATE INDEX "aptos_transfers_by_owner_coin" ON "aptos_transfers" USING btree ("owner_address","network","coin_type_hash","transaction_version","event_index");--> statement-breakpoint
CREATE INDEX "aptos_transfers_by_block" ON "aptos_transfers" USING btree ("network","block_height","transaction_version","event_index");--> statement-breakpoint
CREATE INDEX "aptos_transfers_by_coin" ON "aptos_transfers" USING btree ("network","coin_type_hash","transaction_version","event_index");--> statement-breakpoint

-- ============================================================================
-- Range constraints
-- Two ranges of one subject never overlap, whatever the program does.
-- Each constraint is partial with a condition that always holds and that no query implies, so that no query reads by its index.
-- PostgreSQL (18.4 and earlier) can mark live rows as dead in a GiST index: a scan that is repeated within a statement,
-- while the index's root page splits, applies positions of the old root to a new page. The check itself scans only once.
-- ============================================================================
ALTER TABLE "sync_ranges" ADD CONSTRAINT "sync_ranges_ordered" CHECK ("first_block" <= "last_block");--> statement-breakpoint
ALTER TABLE "sync_ranges" ADD CONSTRAINT "sync_ranges_disjoint"
  EXCLUDE USING gist ("chain_id" WITH =, "dataset" WITH =, int8range("first_block", "last_block", '[]') WITH &&)
  WHERE ("last_block" - "first_block" >= 0);--> statement-breakpoint
ALTER TABLE "sync_claims" ADD CONSTRAINT "sync_claims_ordered" CHECK ("first_block" <= "last_block");--> statement-breakpoint
ALTER TABLE "sync_claims" ADD CONSTRAINT "sync_claims_disjoint"
  EXCLUDE USING gist ("chain_id" WITH =, int8range("first_block", "last_block", '[]') WITH &&)
  WHERE ("last_block" - "first_block" >= 0);--> statement-breakpoint
ALTER TABLE "subject_ranges" ADD CONSTRAINT "subject_ranges_ordered" CHECK ("first_block" <= "last_block");--> statement-breakpoint
ALTER TABLE "subject_ranges" ADD CONSTRAINT "subject_ranges_disjoint"
  EXCLUDE USING gist ("chain_id" WITH =, "kind" WITH =, "subject" WITH =, "dataset" WITH =, int8range("first_block", "last_block", '[]') WITH &&)
  WHERE ("last_block" - "first_block" >= 0);--> statement-breakpoint
ALTER TABLE "aptos_ranges" ADD CONSTRAINT "aptos_ranges_ordered" CHECK ("first_version" <= "last_version");--> statement-breakpoint
ALTER TABLE "aptos_ranges" ADD CONSTRAINT "aptos_ranges_disjoint"
  EXCLUDE USING gist ("network" WITH =, "dataset" WITH =, int8range("first_version", "last_version", '[]') WITH &&)
  WHERE ("last_version" - "first_version" >= 0);--> statement-breakpoint

-- ============================================================================
-- Storage parameters
-- Autovacuum follows the kind of writes (packages/doors/db/src/copy/table-writes.ts). Partitions get theirs from attach_partition.
-- ============================================================================
-- Texts of a few kB that are written once and read once: compressing them costs more than the rest of the write.
ALTER TABLE "stream_matches"
  ALTER COLUMN "matched" SET STORAGE EXTERNAL,
  ALTER COLUMN "body" SET STORAGE EXTERNAL,
  SET (toast_tuple_target = 8160);--> statement-breakpoint
ALTER TABLE "stream_items"
  ALTER COLUMN "item" SET STORAGE EXTERNAL,
  SET (toast_tuple_target = 8160);--> statement-breakpoint
-- Tables that only grow.
ALTER TABLE "aptos_balance_history" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "aptos_roots" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "aptos_transfers" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "audit_log" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "blocks" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "stream_attempts" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "stream_match_transactions" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "transaction_facts" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "upstream_errors" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
-- Tables whose rows change.
ALTER TABLE "api_usage" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "aptos_balances" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "aptos_networks" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "aptos_ranges" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "tracked_wallets" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "chain_metrics_minutely" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "console_sessions" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "projections" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_answers" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_calls" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_filters" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_heads" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_usage" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "head_reports" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "historical_jobs" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "subject_projections" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "leases" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "native_balances" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_collection_traits" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_collections" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_token_metadata" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_token_rarity" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_trait_counts" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_trait_generations" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_trait_tokens" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "inflight_work" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "range_jobs" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "rate_limit_usage" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "state_questions" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "stream_deliveries" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "stream_items" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "stream_matches" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "stream_stats" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "streams" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "streams_version" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "backfill_requests" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "rewritten_ranges" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "subject_ranges" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "sync_chains" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "sync_claims" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "sync_ranges" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "table_sizes_hourly" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "changed_decimals" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "tokens" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "upstream_calls" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "wallet_scan_state" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "webhook_health" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "webhook_host_leases" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "upstream_mismatches" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint

-- ============================================================================
-- Partitions
-- SECURITY DEFINER: a role without the right to change the schema can add partitions.
-- ============================================================================
-- Creates the partition of a block range, from inclusive, to exclusive (null: no upper bound). It attaches a finished table, because
-- CREATE TABLE … PARTITION OF would lock out readers.
CREATE FUNCTION "attach_partition"(parent regclass, chain_id bigint, from_block integer, to_block integer) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  place text := concat_ws('_', chain_id, from_block);
  part text;
BEGIN
  -- Names of contracts' tables may end with numbers, and have no $. Names have 63 bytes: a long one is cut and gets a hash.
  SELECT format('%I.%I', relnamespace::regnamespace, CASE WHEN length(relname || place) < 63 THEN relname::text
      ELSE left(relname, 49 - length(place)) || '$' || left(encode(sha256(convert_to(relname, 'UTF8')), 'hex'), 12) END
      || CASE relnamespace::regnamespace::text WHEN 'contracts' THEN '$' ELSE '_' END || place)
    INTO STRICT part FROM pg_class WHERE oid = parent AND relkind = 'p';
  EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
    WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)', part, parent);
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s, %s) TO (%s, %s)',
    parent, part, chain_id, from_block, chain_id, coalesce(to_block::text, 'MAXVALUE'));
  RETURN part;
END
$$;--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION "attach_partition" FROM PUBLIC;--> statement-breakpoint
-- Makes every session read the list of partitions again: a session that read it during an attach may cache the old list. On Citus,
-- each shard is a partitioned table too. The ALTER changes nothing else.
CREATE FUNCTION "announce_partitions"(parent regclass) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  propagation text := current_setting('citus.enable_ddl_propagation', true);
  failed text;
BEGIN
  PERFORM 1 FROM pg_class WHERE oid = parent AND relkind = 'p';
  IF NOT FOUND THEN
    RAISE EXCEPTION '% has no partitions', parent;
  END IF;
  IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
    EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN chain_id SET STATISTICS -1', parent);
    RETURN;
  END IF;
  -- Citus does not propagate this statement: it runs on this node first, then on each shard.
  PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
  EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN chain_id SET STATISTICS -1', parent);
  PERFORM set_config('citus.enable_ddl_propagation', propagation, true);
  PERFORM 1 FROM pg_dist_partition WHERE logicalrelid = parent;
  IF FOUND THEN
    SELECT string_agg(result, '; ') INTO failed
      FROM run_command_on_shards(parent, 'ALTER TABLE ONLY %s ALTER COLUMN chain_id SET STATISTICS -1') WHERE NOT success;
    IF failed IS NOT NULL THEN
      RAISE EXCEPTION 'The shards of % could not be told of their partitions: %', parent, failed;
    END IF;
  END IF;
END
$$;--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION "announce_partitions" FROM PUBLIC;--> statement-breakpoint

-- ============================================================================
-- Initial rows
-- The program locks and updates these rows, and never inserts them.
-- ============================================================================
INSERT INTO "transaction_locks" ("name") VALUES ('streams-version');--> statement-breakpoint
INSERT INTO "streams_version" ("id", "version") VALUES (1, 0);--> statement-breakpoint

-- ============================================================================
-- Analytics
-- Views for SQL clients (docs/api/sql.md): addresses and hashes as 0x text, amounts as decimal numbers, names joined in.
-- Columns that end in _bytes hold the stored form, which the indexes use.
-- Expensive columns (USD prices, Punk bid prices) are subqueries in the select list: Postgres computes them only on request.
-- Citus must be able to plan each view. Local tables form subqueries of their own, and rows on other nodes are never read one by one.
-- ============================================================================
CREATE SCHEMA IF NOT EXISTS analytics;--> statement-breakpoint
COMMENT ON SCHEMA analytics IS 'Chainstead''s rows in readable form. Read-only role: chainstead_reader';--> statement-breakpoint
CREATE FUNCTION analytics.hex(bytes bytea) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN '0x' || encode(bytes, 'hex');--> statement-breakpoint
CREATE FUNCTION analytics.bytes(hex text) RETURNS bytea
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN decode(substr(hex, 3), 'hex');--> statement-breakpoint
-- Multiplies instead of dividing: numeric division rounds, so a large amount would lose digits.
CREATE FUNCTION analytics.amount(base_units numeric, decimals smallint) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN trim_scale(base_units * ('1e-' || decimals)::numeric);--> statement-breakpoint
-- A big-endian number without a sign.
CREATE FUNCTION analytics.unsigned(bytes bytea) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (SELECT coalesce(sum(get_byte(bytes, place) * 256::numeric ^ (length(bytes) - 1 - place)), 0) FROM generate_series(0, length(bytes) - 1) AS place);--> statement-breakpoint
-- Price in US dollars of a packed candle (packages/assets/markets/src/pool-candles/candle-prices.ts): 0 open, 1 high, 2 low, 3 close. A candle with one price has it four times.
CREATE FUNCTION analytics.candle_price(prices bytea, place integer) RETURNS numeric
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  at integer := 1;
  size integer;
  numerator numeric;
  denominator numeric;
BEGIN
  FOR price IN 0 .. least(get_byte(prices, 0) % 8 - 1, place) LOOP
    size := get_byte(prices, at) * 256 + get_byte(prices, at + 1);
    numerator := analytics.unsigned(substring(prices FROM at + 3 FOR size));
    at := at + 2 + size;
    size := get_byte(prices, at) * 256 + get_byte(prices, at + 1);
    denominator := analytics.unsigned(substring(prices FROM at + 3 FOR size));
    at := at + 2 + size;
  END LOOP;
  RETURN trim_scale(numerator / nullif(denominator, 0));
END
$$;--> statement-breakpoint
-- Keys of the indexes, for conditions next to the bytes.
CREATE FUNCTION analytics.wallet_key(bytes bytea) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.address_key(bytes);--> statement-breakpoint
CREATE FUNCTION analytics.wallet_key(hex text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.address_key(analytics.bytes(hex));--> statement-breakpoint
-- Price of a token in US dollars in the hour of a block: the close of its stored candle in the pool with the most volume. Not checked when it is created, because the view comes later.
CREATE FUNCTION analytics.token_usd(token bytea, chain_id bigint, block_time timestamp with time zone) RETURNS numeric
  LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  -- A server of a Citus cluster cannot read the pools of other servers for each row.
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    RETURN NULL;
  END IF;
  RETURN (
    SELECT price.usd FROM analytics.token_prices AS price
    WHERE analytics.wallet_key(price.token_bytes) = analytics.wallet_key(token_usd.token) AND price.token_bytes = token_usd.token
      AND price.chain_id = token_usd.chain_id AND price.start_hour = floor(extract(epoch FROM token_usd.block_time) / 3600)::integer
      AND price.usd IS NOT NULL
    ORDER BY price.volume_usd DESC NULLS LAST, price.pool_bytes LIMIT 1
  );
END
$$;--> statement-breakpoint
CREATE FUNCTION analytics.token_key(bytes bytea) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.token_key(bytes);--> statement-breakpoint
CREATE FUNCTION analytics.token_key(hex text) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.token_key(analytics.bytes(hex));--> statement-breakpoint
CREATE FUNCTION analytics.collection_key(bytes bytea) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.address_key(bytes);--> statement-breakpoint
CREATE FUNCTION analytics.collection_key(hex text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.address_key(analytics.bytes(hex));--> statement-breakpoint
CREATE FUNCTION analytics.token_id_key(token_id numeric) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.token_id_key(token_id);--> statement-breakpoint
CREATE FUNCTION analytics.transaction_key(hex text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('x' || substr(hex, 3, 16))::bit(64)::bigint;--> statement-breakpoint
CREATE FUNCTION analytics.block_key(hex text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('x' || substr(hex, 3, 16))::bit(64)::bigint;--> statement-breakpoint
CREATE VIEW analytics.blocks AS
SELECT
  chain_id,
  block_number,
  analytics.hex(block_hash) AS block_hash,
  analytics.hex(parent_hash) AS parent_hash,
  block_timestamp AS block_time
FROM public.blocks;--> statement-breakpoint
CREATE VIEW analytics.coverage AS
SELECT
  chain_id,
  dataset,
  first_block,
  last_block,
  last_block - first_block + 1 AS blocks,
  proof,
  proof_reason,
  upstream
FROM public.sync_ranges;--> statement-breakpoint
CREATE VIEW analytics.upstream_errors AS
SELECT chain_id, upstream, kind, block_number, occurrences, facts, seen_at
FROM public.upstream_errors;--> statement-breakpoint
-- Progress of derived states. Views over a derived state lack rows until it is built.
CREATE VIEW analytics.projections AS
SELECT
  chain_id,
  state,
  dataset,
  version,
  -- Values: clearing, building, built.
  status,
  -- Last counted block while the state is being built.
  CASE WHEN status = 'building' THEN position END AS built_to,
  updated_at
FROM public.projections;--> statement-breakpoint
-- Addresses whose balances and holders are maintained, and their blocks (docs/api/sql.md).
CREATE VIEW analytics.subject_projections AS
SELECT
  kept.chain_id,
  -- The derived state. The view projections contains its dataset.
  kept.state,
  analytics.hex(kept.subject) AS address,
  -- False until all rows of the address are counted. Ignore its values until then.
  kept.built_to IS NULL AND NOT kept.is_stale AS is_built,
  covered.from_block,
  covered.to_block,
  kept.asked_at,
  kept.subject AS address_bytes
FROM public.subject_projections AS kept
LEFT JOIN public.projections AS known ON known.chain_id = kept.chain_id AND known.state = kept.state
CROSS JOIN LATERAL (
  -- The newest contiguous block range, from blocks of the chain and from backfills of the address.
  SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS from_block, max(last_block) AS to_block
  FROM (
    SELECT first_block, last_block,
      max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
    FROM (
      SELECT of_chain.first_block, of_chain.last_block FROM public.sync_ranges AS of_chain
      WHERE of_chain.chain_id = kept.chain_id AND of_chain.dataset = known.dataset
      UNION ALL
      SELECT own.first_block, own.last_block FROM public.subject_ranges AS own
      WHERE own.chain_id = kept.chain_id AND own.subject = kept.subject AND own.dataset = known.dataset
        AND own.kind = CASE WHEN kept.state LIKE '%-wallet-%' THEN 'wallet' ELSE 'contract' END
      -- An empty branch: Citus rejects correlated UNIONs that contain only local tables.
      UNION ALL
      SELECT NULL::bigint, NULL::bigint WHERE false
    ) AS ranges
  ) AS joined
) AS covered;--> statement-breakpoint
CREATE VIEW analytics.tokens AS
SELECT
  chain_id,
  analytics.hex(address) AS address,
  standard,
  name,
  symbol,
  decimals,
  logo,
  verified,
  possible_spam,
  facts_status,
  address AS address_bytes
FROM public.tokens;--> statement-breakpoint
CREATE VIEW analytics.address_labels AS
SELECT
  -- 0 means every chain.
  chain_id,
  analytics.hex(address) AS address,
  label,
  entity,
  entity_logo,
  source,
  address AS address_bytes
FROM public.address_labels;--> statement-breakpoint
CREATE VIEW analytics.erc20_transfers AS
SELECT
  transfer.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  transfer.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(transfer.transaction_hash) AS transaction_hash,
  transfer.transaction_index,
  transfer.log_index,
  analytics.hex(transfer.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  token.decimals AS token_decimals,
  analytics.hex(transfer.account) AS from_address,
  analytics.hex(transfer.counterparty) AS to_address,
  analytics.amount(transfer.value, token.decimals) AS amount,
  transfer.value AS base_units,
  -- By the newest value of the token's price feed at or before the transfer, or else by the candles of its pools.
  round(analytics.amount(transfer.value, token.decimals) * coalesce((
    SELECT analytics.amount(latest.answer, latest.decimals)
    FROM (
      SELECT found.*, phase.decimals
      FROM (SELECT aggregator, chain_id, decimals, tokens FROM public.price_feed_phases WHERE tokens <> '{}') AS phase
      -- A left join, because Citus cannot plan the inner join.
      LEFT JOIN LATERAL (
        SELECT answer.block_number, answer.transaction_index, answer.log_index, answer.answer
        FROM (
          SELECT aggregator, chain_id, block_number, transaction_index, log_index, answer FROM public.feed_answers
          -- Citus copies these rows to all nodes, so only the rows of known feeds are selected.
          WHERE aggregator = ANY (ARRAY(SELECT aggregator FROM public.price_feed_phases WHERE tokens <> '{}'))
        ) AS answer
        WHERE answer.aggregator = phase.aggregator AND answer.chain_id = transfer.chain_id
          AND (answer.block_number, answer.transaction_index, answer.log_index) <= (transfer.block_number, transfer.transaction_index, transfer.log_index)
        ORDER BY answer.block_number DESC, answer.transaction_index DESC, answer.log_index DESC LIMIT 1
      ) AS found ON true
      WHERE phase.chain_id = transfer.chain_id AND transfer.token = ANY (phase.tokens)
      ORDER BY found.block_number DESC NULLS LAST, found.transaction_index DESC, found.log_index DESC LIMIT 1
    ) AS latest WHERE latest.answer > 0
  ), analytics.token_usd(transfer.token, transfer.chain_id, block.block_timestamp)), 2) AS amount_usd,
  coalesce(token.possible_spam, false) AS possible_spam,
  coalesce(token.verified, false) AS verified,
  transfer.token AS token_bytes,
  transfer.account AS from_bytes,
  transfer.counterparty AS to_bytes,
  transfer.account_key AS from_key,
  public.token_key(transfer.token) AS token_key
FROM public.erc20_transfer_sides AS transfer
LEFT JOIN public.blocks AS block ON block.chain_id = transfer.chain_id AND block.block_number = transfer.block_number
LEFT JOIN public.tokens AS token ON token.address = transfer.token AND token.chain_id = transfer.chain_id
-- One row per transfer: the sender's row, or the only row of a self-transfer.
WHERE transfer.direction <> 1
  AND token.standard IS DISTINCT FROM 'erc721' AND token.standard IS DISTINCT FROM 'erc1155';--> statement-breakpoint
CREATE VIEW analytics.wallet_transfers AS
SELECT
  transfer.chain_id,
  analytics.hex(transfer.account) AS wallet,
  CASE transfer.direction WHEN 0 THEN 'out' WHEN 1 THEN 'in' ELSE 'self' END AS direction,
  analytics.hex(transfer.counterparty) AS counterparty,
  transfer.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(transfer.transaction_hash) AS transaction_hash,
  transfer.transaction_index,
  transfer.log_index,
  analytics.hex(transfer.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  token.decimals AS token_decimals,
  analytics.amount(transfer.value, token.decimals) AS amount,
  -- Balance change of the wallet.
  analytics.amount(CASE transfer.direction WHEN 0 THEN -transfer.value WHEN 1 THEN transfer.value ELSE 0 END, token.decimals) AS change,
  transfer.value AS base_units,
  -- By the newest value of the token's price feed at or before the transfer, or else by the candles of its pools.
  round(analytics.amount(transfer.value, token.decimals) * coalesce((
    SELECT analytics.amount(latest.answer, latest.decimals)
    FROM (
      SELECT found.*, phase.decimals
      FROM (SELECT aggregator, chain_id, decimals, tokens FROM public.price_feed_phases WHERE tokens <> '{}') AS phase
      -- A left join, because Citus cannot plan the inner join.
      LEFT JOIN LATERAL (
        SELECT answer.block_number, answer.transaction_index, answer.log_index, answer.answer
        FROM (
          SELECT aggregator, chain_id, block_number, transaction_index, log_index, answer FROM public.feed_answers
          -- Citus copies these rows to all nodes, so only the rows of known feeds are selected.
          WHERE aggregator = ANY (ARRAY(SELECT aggregator FROM public.price_feed_phases WHERE tokens <> '{}'))
        ) AS answer
        WHERE answer.aggregator = phase.aggregator AND answer.chain_id = transfer.chain_id
          AND (answer.block_number, answer.transaction_index, answer.log_index) <= (transfer.block_number, transfer.transaction_index, transfer.log_index)
        ORDER BY answer.block_number DESC, answer.transaction_index DESC, answer.log_index DESC LIMIT 1
      ) AS found ON true
      WHERE phase.chain_id = transfer.chain_id AND transfer.token = ANY (phase.tokens)
      ORDER BY found.block_number DESC NULLS LAST, found.transaction_index DESC, found.log_index DESC LIMIT 1
    ) AS latest WHERE latest.answer > 0
  ), analytics.token_usd(transfer.token, transfer.chain_id, block.block_timestamp)), 2) AS amount_usd,
  coalesce(token.possible_spam, false) AS possible_spam,
  coalesce(token.verified, false) AS verified,
  transfer.account AS wallet_bytes,
  transfer.token AS token_bytes,
  transfer.counterparty AS counterparty_bytes,
  transfer.account_key AS wallet_key,
  public.token_key(transfer.token) AS token_key
FROM public.erc20_transfer_sides AS transfer
LEFT JOIN public.blocks AS block ON block.chain_id = transfer.chain_id AND block.block_number = transfer.block_number
LEFT JOIN public.tokens AS token ON token.address = transfer.token AND token.chain_id = transfer.chain_id
WHERE token.standard IS DISTINCT FROM 'erc721' AND token.standard IS DISTINCT FROM 'erc1155';--> statement-breakpoint
CREATE VIEW analytics.erc20_approvals AS
SELECT
  approval.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  approval.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(approval.transaction_hash) AS transaction_hash,
  approval.transaction_index,
  approval.log_index,
  analytics.hex(approval.owner) AS owner,
  analytics.hex(approval.spender) AS spender,
  analytics.hex(approval.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  analytics.amount(approval.value, token.decimals) AS amount,
  approval.value AS base_units,
  approval.value >= power(2::numeric, 255) AS is_unlimited,
  coalesce(token.possible_spam, false) AS possible_spam,
  approval.owner AS owner_bytes,
  approval.spender AS spender_bytes,
  approval.token AS token_bytes,
  -- Index key for owners. Use it together with the bytes.
  approval.owner_key
FROM public.erc20_approvals AS approval
LEFT JOIN public.blocks AS block ON block.chain_id = approval.chain_id AND block.block_number = approval.block_number
LEFT JOIN public.tokens AS token ON token.address = approval.token AND token.chain_id = approval.chain_id;--> statement-breakpoint
-- One row per deposit or withdrawal: the rows of the zero address are left out.
CREATE VIEW analytics.wrapped_coin_moves AS
-- Without counterparty.
SELECT
  moved.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  moved.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(moved.transaction_hash) AS transaction_hash,
  moved.transaction_index,
  moved.log_index,
  CASE moved.direction WHEN 1 THEN 'deposit' ELSE 'withdrawal' END AS kind,
  analytics.hex(moved.account) AS account,
  analytics.hex(moved.token) AS token_address,
  token.symbol AS token_symbol,
  analytics.amount(moved.value, token.decimals) AS amount,
  moved.value AS base_units,
  moved.account AS account_bytes,
  moved.token AS token_bytes,
  -- Index key for accounts. Use it together with the bytes.
  moved.account_key
FROM public.wrapped_coin_moves AS moved
LEFT JOIN public.blocks AS block ON block.chain_id = moved.chain_id AND block.block_number = moved.block_number
LEFT JOIN public.tokens AS token ON token.address = moved.token AND token.chain_id = moved.chain_id
WHERE moved.account <> '\x0000000000000000000000000000000000000000'::bytea;--> statement-breakpoint
CREATE VIEW analytics.erc20_balances AS
SELECT
  held.chain_id,
  analytics.hex(held.wallet) AS wallet,
  analytics.hex(held.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  analytics.amount(told.base_units, token.decimals) AS balance,
  -- Null if the balance is unknown: not read yet, not offered by the contract, or upstreams disagree.
  told.base_units,
  -- Block after which the balance was valid.
  CASE told.source WHEN 'contract' THEN held.anchor_block ELSE CASE WHEN told.base_units IS NOT NULL THEN kept.to_block END END AS balance_block,
  -- contract: read from the contract. contract and transfers: the reading plus later transfers. transfers: the sum of all transfers.
  told.source,
  held.total AS transferred_base_units,
  held.anchored_at AS read_at,
  kept.from_block,
  kept.to_block,
  kept.is_built,
  coalesce(token.verified, false) AS verified,
  coalesce(token.possible_spam, false) AS possible_spam,
  held.wallet AS wallet_bytes,
  held.token AS token_bytes
FROM (
  -- Local tables only: Citus runs this subquery first, on the coordinator.
  SELECT of_subject.*, coin.from_block AS coin_from_block, coin.to_block AS coin_to_block
  FROM analytics.subject_projections AS of_subject
  CROSS JOIN LATERAL (
    -- Covered blocks of wrapped native token moves, computed as in subject_projections.
    SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS from_block, max(last_block) AS to_block
    FROM (
      SELECT first_block, last_block,
        max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
      FROM (
        SELECT of_chain.first_block, of_chain.last_block FROM public.sync_ranges AS of_chain
        WHERE of_chain.chain_id = of_subject.chain_id AND of_chain.dataset = 'wrapped-coin-moves'
        UNION ALL
        SELECT own.first_block, own.last_block FROM public.subject_ranges AS own
        WHERE own.chain_id = of_subject.chain_id AND own.subject = of_subject.address_bytes
          AND own.dataset = 'wrapped-coin-moves' AND own.kind = 'wallet'
        UNION ALL
        SELECT NULL::bigint, NULL::bigint WHERE false
      ) AS ranges
    ) AS joined
  ) AS coin
  WHERE of_subject.state = 'erc20-wallet-tokens'
) AS kept
JOIN public.erc20_wallet_tokens AS held ON held.wallet = kept.address_bytes AND held.chain_id = kept.chain_id
LEFT JOIN public.tokens AS token ON token.address = held.token AND token.chain_id = held.chain_id
LEFT JOIN public.erc20_token_classes AS known ON known.token = held.token AND known.chain_id = held.chain_id
-- The wrapped native token: its deposits and withdrawals are no transfers and have their own table.
LEFT JOIN public.payment_tokens AS native
  ON native.token_address = '\x0000000000000000000000000000000000000000'::bytea AND native.chain_id = held.chain_id
LEFT JOIN public.payment_tokens AS wrapped
  ON wrapped.token_address = held.token AND wrapped.chain_id = held.chain_id AND wrapped.is_ether = native.is_ether
CROSS JOIN LATERAL (
  -- First block with complete movements. The wrapped native token needs transfers and moves up to the same block.
  SELECT CASE WHEN wrapped.token_address IS NULL THEN kept.from_block
    WHEN kept.coin_to_block = kept.to_block THEN greatest(kept.from_block, kept.coin_from_block) END AS from_block
) AS counted
CROSS JOIN LATERAL (
  SELECT coalesce(known.class = 'sum', token.verified, false) AS adds_up,
    kept.is_built AND held.anchor_block + 1 >= counted.from_block AND held.anchor_block <= kept.to_block AS is_sound
) AS judged
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN known.class = 'none' THEN NULL
    WHEN held.anchored_at IS NULL THEN CASE WHEN adds_up AND kept.is_built AND counted.from_block = 0 AND held.total >= 0 THEN 'transfers' END
    WHEN known.class IS DISTINCT FROM 'live' AND is_sound AND (adds_up OR held.since = 0)
      AND held.anchor_value + held.since >= 0 THEN 'contract and transfers'
    ELSE 'contract'
  END AS source
) AS sourced
CROSS JOIN LATERAL (
  SELECT sourced.source,
    CASE sourced.source WHEN 'contract' THEN held.anchor_value WHEN 'contract and transfers' THEN held.anchor_value + held.since
      WHEN 'transfers' THEN held.total END AS base_units
) AS told
WHERE coalesce(token.standard NOT IN ('erc721', 'erc1155'), true);--> statement-breakpoint
CREATE VIEW analytics.erc20_holders AS
SELECT
  held.chain_id,
  analytics.hex(held.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  analytics.hex(held.account) AS holder,
  analytics.amount(told.base_units, token.decimals) AS balance,
  -- See erc20_balances.
  told.base_units,
  CASE told.source WHEN 'contract' THEN held.anchor_block ELSE CASE WHEN told.base_units IS NOT NULL THEN kept.to_block END END AS balance_block,
  told.source,
  round(100 * told.base_units / nullif(token.total_supply, 0), 2) AS percent_of_supply,
  held.total AS transferred_base_units,
  held.moves AS transfers,
  held.first_block AS first_received_block,
  held.anchored_at AS read_at,
  kept.from_block,
  kept.to_block,
  kept.is_built,
  held.account AS holder_bytes,
  held.token AS token_bytes
FROM (
  -- Local tables only: Citus runs this subquery first, on the coordinator.
  SELECT of_subject.*, coin.from_block AS coin_from_block, coin.to_block AS coin_to_block
  FROM analytics.subject_projections AS of_subject
  CROSS JOIN LATERAL (
    -- Covered blocks of wrapped native token moves, computed as in subject_projections.
    SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS from_block, max(last_block) AS to_block
    FROM (
      SELECT first_block, last_block,
        max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
      FROM (
        SELECT of_chain.first_block, of_chain.last_block FROM public.sync_ranges AS of_chain
        WHERE of_chain.chain_id = of_subject.chain_id AND of_chain.dataset = 'wrapped-coin-moves'
        UNION ALL
        SELECT own.first_block, own.last_block FROM public.subject_ranges AS own
        WHERE own.chain_id = of_subject.chain_id AND own.subject = of_subject.address_bytes
          AND own.dataset = 'wrapped-coin-moves' AND own.kind = 'contract'
        UNION ALL
        SELECT NULL::bigint, NULL::bigint WHERE false
      ) AS ranges
    ) AS joined
  ) AS coin
  WHERE of_subject.state = 'erc20-token-holders'
) AS kept
JOIN public.erc20_holders AS held ON held.token = kept.address_bytes AND held.chain_id = kept.chain_id
LEFT JOIN public.erc20_holder_counts AS counts ON counts.token = held.token AND counts.chain_id = held.chain_id
LEFT JOIN public.tokens AS token ON token.address = held.token AND token.chain_id = held.chain_id
LEFT JOIN public.erc20_token_classes AS known ON known.token = held.token AND known.chain_id = held.chain_id
-- The wrapped native token: its deposits and withdrawals are no transfers and have their own table.
LEFT JOIN public.payment_tokens AS native
  ON native.token_address = '\x0000000000000000000000000000000000000000'::bytea AND native.chain_id = held.chain_id
LEFT JOIN public.payment_tokens AS wrapped
  ON wrapped.token_address = held.token AND wrapped.chain_id = held.chain_id AND wrapped.is_ether = native.is_ether
CROSS JOIN LATERAL (
  -- First block with complete movements. The wrapped native token needs transfers and moves up to the same block.
  SELECT CASE WHEN wrapped.token_address IS NULL THEN kept.from_block
    WHEN kept.coin_to_block = kept.to_block THEN greatest(kept.from_block, kept.coin_from_block) END AS from_block
) AS counted
CROSS JOIN LATERAL (
  SELECT coalesce(known.class = 'sum', token.verified, false) AS adds_up,
    kept.is_built AND held.anchor_block + 1 >= counted.from_block AND held.anchor_block <= kept.to_block AS is_sound
) AS judged
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN known.class = 'none' THEN NULL
    WHEN held.anchored_at IS NULL THEN CASE WHEN adds_up AND kept.is_built AND counted.from_block <= coalesce(token.created_block, 0)
      AND held.total >= 0 AND coalesce(counts.contradictions, 0) = 0 THEN 'transfers' END
    WHEN known.class IS DISTINCT FROM 'live' AND is_sound AND (adds_up OR held.since = 0)
      AND held.anchor_value + held.since >= 0 THEN 'contract and transfers'
    ELSE 'contract'
  END AS source
) AS sourced
CROSS JOIN LATERAL (
  SELECT sourced.source,
    CASE sourced.source WHEN 'contract' THEN held.anchor_value WHEN 'contract and transfers' THEN held.anchor_value + held.since
      WHEN 'transfers' THEN held.total END AS base_units
) AS told;--> statement-breakpoint
CREATE VIEW analytics.erc20_holder_counts AS
SELECT
  counts.chain_id,
  analytics.hex(counts.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  -- Number of accounts whose transfers sum to more than 0.
  counts.holders,
  counts.transfers,
  -- Minted minus burned.
  analytics.amount(counts.supply, token.decimals) AS supply,
  nullif(counts.top_block, -1) AS last_transfer_block,
  -- Number of contract readings, and of readings that differ from the sum of transfers.
  counts.readings,
  counts.contradictions,
  kept.from_block,
  kept.to_block,
  kept.is_built,
  counts.token AS token_bytes
FROM analytics.subject_projections AS kept
JOIN public.erc20_holder_counts AS counts ON counts.token = kept.address_bytes AND counts.chain_id = kept.chain_id
LEFT JOIN public.tokens AS token ON token.address = counts.token AND token.chain_id = counts.chain_id
WHERE kept.state = 'erc20-token-holders';--> statement-breakpoint
CREATE VIEW analytics.nft_collections AS
SELECT
  token.chain_id,
  analytics.hex(token.address) AS token_address,
  coalesce(token.standard, lower(collection.contract_type)) AS standard,
  coalesce(token.name, collection.name) AS name,
  coalesce(token.symbol, collection.symbol) AS symbol,
  collection.collection_logo AS logo,
  collection.collection_category AS category,
  collection.project_url,
  collection.contract_uri,
  collection.base_uri,
  -- Null until the metadata is requested.
  collection.status AS metadata_status,
  collection.synced_at,
  token.verified,
  token.possible_spam,
  token.address AS token_bytes
FROM public.tokens AS token
LEFT JOIN public.nft_collections AS collection ON collection.token_address = token.address AND collection.chain_id = token.chain_id
WHERE token.standard IN ('erc721', 'erc1155') OR token.seen_as >= 2;--> statement-breakpoint
CREATE VIEW analytics.nft_transfers AS
SELECT
  transfer.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  transfer.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(transfer.transaction_hash) AS transaction_hash,
  transfer.transaction_index,
  transfer.log_index,
  transfer.item,
  CASE transfer.kind
    WHEN 0 THEN 'erc721' WHEN 1 THEN 'erc1155-single' WHEN 2 THEN 'erc1155-batch'
    WHEN 3 THEN 'erc2309' WHEN 4 THEN 'cryptopunks' WHEN 5 THEN 'unindexed'
  END AS event,
  analytics.hex(transfer.token_address) AS token_address,
  token.name AS collection_name,
  transfer.token_id,
  -- Last id of a consecutive mint, which is stored as one row.
  transfer.last_token_id,
  analytics.hex(transfer.from_address) AS from_address,
  analytics.hex(transfer.to_address) AS to_address,
  transfer.amount,
  analytics.hex(transfer.operator) AS operator,
  coalesce(token.possible_spam, false) AS possible_spam,
  transfer.token_address AS token_bytes,
  transfer.from_address AS from_bytes,
  transfer.to_address AS to_bytes,
  transfer.collection_key,
  public.token_id_key(transfer.token_id) AS token_id_key
FROM public.nft_transfers AS transfer
LEFT JOIN public.blocks AS block ON block.chain_id = transfer.chain_id AND block.block_number = transfer.block_number
LEFT JOIN public.tokens AS token ON token.address = transfer.token_address AND token.chain_id = transfer.chain_id;--> statement-breakpoint
CREATE VIEW analytics.nft_trades AS
SELECT
  trade.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  trade.block_number,
  trade.block_timestamp AS block_time,
  analytics.hex(trade.transaction_hash) AS transaction_hash,
  trade.transaction_index,
  trade.log_index,
  trade.item,
  trade.marketplace,
  trade.protocol,
  analytics.hex(trade.marketplace_address) AS marketplace_address,
  analytics.hex(trade.token_address) AS token_address,
  token.name AS collection_name,
  trade.all_token_ids AS token_ids,
  coalesce(trade.amounts, '{1}') AS amounts,
  analytics.hex(trade.seller) AS seller,
  analytics.hex(trade.buyer) AS buyer,
  CASE trade.side WHEN 0 THEN 'listing' WHEN 1 THEN 'offer' END AS side,
  analytics.hex(trade.payment_token) AS payment_token,
  coalesce(payment.symbol, paid_token.symbol) AS payment_symbol,
  trade.order_price AS price_base_units,
  analytics.amount(trade.order_price, coalesce(payment.decimals, paid_token.decimals)) AS price,
  -- Uses the newest value of the chain's ETH/USD feed at or before the trade.
  round(CASE WHEN payment.is_ether THEN analytics.amount(trade.order_price, payment.decimals) * (
    SELECT analytics.amount(latest.answer, latest.decimals)
    FROM (
      SELECT found.*, phase.decimals
      FROM (SELECT aggregator, chain_id, decimals FROM public.price_feed_phases WHERE is_ether) AS phase
      -- A left join, because Citus cannot plan the inner join.
      LEFT JOIN LATERAL (
        SELECT answer.block_number, answer.transaction_index, answer.log_index, answer.answer
        FROM (
          SELECT aggregator, chain_id, block_number, transaction_index, log_index, answer FROM public.feed_answers
          -- Citus copies these rows to all nodes, so only the rows of known feeds are selected.
          WHERE aggregator = ANY (ARRAY(SELECT aggregator FROM public.price_feed_phases WHERE is_ether))
        ) AS answer
        WHERE answer.aggregator = phase.aggregator AND answer.chain_id = trade.chain_id
          AND (answer.block_number, answer.transaction_index, answer.log_index) <= (trade.block_number, trade.transaction_index, trade.log_index)
        ORDER BY answer.block_number DESC, answer.transaction_index DESC, answer.log_index DESC LIMIT 1
      ) AS found ON true
      WHERE phase.chain_id = trade.chain_id
      ORDER BY found.block_number DESC NULLS LAST, found.transaction_index DESC, found.log_index DESC LIMIT 1
    ) AS latest WHERE latest.answer > 0
  ) END, 2) AS price_usd,
  -- Above 1, the price is the price of the whole order, and each collection of the order has a row.
  trade.collections,
  trade.collections > 1 OR cardinality(trade.all_token_ids) > 1 AS is_bundle,
  trade.buyer = trade.seller AS is_wash,
  coalesce(trade.order_price = 0, false) AS is_zero_price,
  coalesce(token.possible_spam, false) AS possible_spam,
  trade.token_address AS token_bytes,
  trade.seller AS seller_bytes,
  trade.buyer AS buyer_bytes,
  trade.payment_token AS payment_bytes,
  trade.collection_key,
  public.address_key(trade.seller) AS seller_key,
  public.address_key(trade.buyer) AS buyer_key
FROM (
  SELECT
    sold.*,
    coalesce(sold.token_ids, ARRAY[sold.token_id]) AS all_token_ids,
    -- The event of an accepted Punk bid has no price. The price is the value of the open bid.
    coalesce(sold.price, (
      SELECT CASE WHEN bid.entered AND bid.bidder = sold.buyer THEN bid.value END
      FROM (
        SELECT token_address, chain_id, token_id, block_number, transaction_index, log_index, bidder, value, entered FROM public.punk_bids
        -- An empty branch: it makes Citus read all bids first, which it does not colocate with trades.
        UNION ALL
        SELECT NULL::bytea, NULL::bigint, NULL::numeric(78, 0), NULL::bigint, NULL::integer, NULL::integer, NULL::bytea, NULL::numeric(78, 0), NULL::boolean
        WHERE false
      ) AS bid
      WHERE bid.token_address = sold.token_address AND bid.chain_id = sold.chain_id AND bid.token_id = sold.token_id
        AND (bid.block_number, bid.transaction_index, bid.log_index) < (sold.block_number, sold.transaction_index, sold.log_index)
      ORDER BY bid.block_number DESC, bid.transaction_index DESC, bid.log_index DESC LIMIT 1
    )) AS order_price
  FROM public.nft_trades AS sold
  WHERE sold.leads
) AS trade
LEFT JOIN public.tokens AS token ON token.address = trade.token_address AND token.chain_id = trade.chain_id
LEFT JOIN public.tokens AS paid_token ON paid_token.address = trade.payment_token AND paid_token.chain_id = trade.chain_id
LEFT JOIN public.payment_tokens AS payment
  ON payment.token_address = coalesce(trade.payment_token, '\x0000000000000000000000000000000000000000'::bytea) AND payment.chain_id = trade.chain_id;--> statement-breakpoint
CREATE VIEW analytics.ether_prices AS
SELECT
  answer.chain_id,
  answer.block_number,
  answer.transaction_index,
  answer.log_index,
  answer.updated_at AS block_time,
  analytics.amount(answer.answer, phase.decimals) AS usd,
  analytics.hex(phase.feed) AS feed,
  analytics.hex(answer.aggregator) AS aggregator,
  answer.round,
  answer.aggregator AS aggregator_bytes
FROM public.price_feed_phases AS phase
JOIN public.feed_answers AS answer ON answer.aggregator = phase.aggregator AND answer.chain_id = phase.chain_id
WHERE phase.is_ether AND answer.answer > 0;--> statement-breakpoint
CREATE VIEW analytics.nft_sale_days AS
SELECT
  sold.chain_id,
  analytics.hex(sold.token_address) AS token_address,
  token.name AS collection_name,
  -- Null for the whole collection.
  nullif(sold.token_id, -1) AS token_id,
  sold.day,
  analytics.hex(nullif(sold.payment_token, '\x0000000000000000000000000000000000000000'::bytea)) AS payment_token,
  coalesce(payment.symbol, paid_token.symbol) AS payment_symbol,
  sold.sales,
  analytics.amount(sold.total, coalesce(payment.decimals, paid_token.decimals)) AS volume,
  analytics.amount(div(sold.total, sold.sales::numeric), coalesce(payment.decimals, paid_token.decimals)) AS average,
  analytics.amount(sold.lowest, coalesce(payment.decimals, paid_token.decimals)) AS lowest,
  analytics.amount(sold.highest, coalesce(payment.decimals, paid_token.decimals)) AS highest,
  coalesce(payment.is_ether, false) AS is_ether,
  sold.total AS volume_base_units,
  sold.token_address AS token_bytes,
  sold.payment_token AS payment_bytes
FROM public.nft_sale_days AS sold
LEFT JOIN public.tokens AS token ON token.address = sold.token_address AND token.chain_id = sold.chain_id
LEFT JOIN public.tokens AS paid_token ON paid_token.address = sold.payment_token AND paid_token.chain_id = sold.chain_id
LEFT JOIN public.payment_tokens AS payment ON payment.token_address = sold.payment_token AND payment.chain_id = sold.chain_id;--> statement-breakpoint
CREATE VIEW analytics.nft_owners AS
SELECT
  owned.chain_id,
  analytics.hex(owned.token_address) AS token_address,
  (SELECT token.name FROM public.tokens AS token WHERE token.address = owned.token_address AND token.chain_id = owned.chain_id) AS collection_name,
  owned.token_id,
  analytics.hex(owned.owner) AS owner,
  owned.amount,
  coalesce(
    (SELECT token.possible_spam FROM public.tokens AS token WHERE token.address = owned.token_address AND token.chain_id = owned.chain_id), false
  ) AS possible_spam,
  owned.token_address AS token_bytes,
  owned.owner AS owner_bytes,
  -- Index keys for owners and collections. Use them together with the bytes.
  owned.owner_key,
  owned.collection_key
FROM (
  SELECT side.chain_id, side.collection_key, side.token_address, side.token_id, side.owner_key, side.owner,
    -- ERC-1155 amounts are sums of transfers. For ERC-721, the newest transfer decides: its place is odd if the account received the token.
    sum(CASE WHEN side.place IS NULL THEN side.amount ELSE 0 END) + coalesce(max(side.place) & 1, 0) AS amount
  FROM (
    SELECT chain_id, collection_key, token_address, token_id, public.address_key(to_address) AS owner_key, to_address AS owner, amount,
      CASE WHEN kind NOT IN (1, 2) THEN (block_number::bigint << 32) + (log_index::bigint << 1) + 1 END AS place
    FROM public.nft_transfers WHERE last_token_id IS NULL AND (from_address <> to_address OR kind NOT IN (1, 2))
    UNION ALL
    SELECT chain_id, collection_key, token_address, token_id, public.address_key(from_address), from_address, -amount,
      CASE WHEN kind NOT IN (1, 2) THEN (block_number::bigint << 32) + (log_index::bigint << 1) END
    FROM public.nft_transfers WHERE last_token_id IS NULL AND from_address <> to_address
  ) AS side
  WHERE side.owner <> '\x0000000000000000000000000000000000000000'::bytea
  GROUP BY side.chain_id, side.collection_key, side.token_address, side.token_id, side.owner_key, side.owner
) AS owned
-- Amounts can be negative while historical blocks are missing.
WHERE owned.amount > 0;--> statement-breakpoint
CREATE VIEW analytics.nft_holdings AS
SELECT
  holding.chain_id,
  holding.owner AS wallet,
  holding.token_address,
  holding.collection_name,
  holding.ids_held,
  holding.possible_spam,
  holding.owner_bytes AS wallet_bytes,
  holding.token_bytes,
  holding.owner_key AS wallet_key,
  holding.collection_key
FROM (
  SELECT chain_id, owner, token_address, collection_name, possible_spam, owner_bytes, token_bytes, owner_key, collection_key, count(*) AS ids_held
  FROM analytics.nft_owners
  GROUP BY chain_id, owner, token_address, collection_name, possible_spam, owner_bytes, token_bytes, owner_key, collection_key
) AS holding;--> statement-breakpoint
CREATE VIEW analytics.block_headers AS
-- Without total_difficulty, sha3_uncles, mix_hash, nonce, withdrawals_root, parent_beacon_block_root, requests_hash, logs_bloom.
SELECT
  header.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  header.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(header.block_hash) AS block_hash,
  analytics.hex(header.parent_hash) AS parent_hash,
  analytics.hex(header.miner) AS miner,
  header.transaction_count AS transactions,
  header.gas_used,
  header.gas_limit,
  header.base_fee_per_gas,
  -- Burned base fees, in the native token.
  analytics.amount(header.gas_used * header.base_fee_per_gas, 18::smallint) AS base_fees,
  header.size,
  header.blob_gas_used,
  header.excess_blob_gas,
  header.difficulty,
  analytics.hex(header.state_root) AS state_root,
  analytics.hex(header.transactions_root) AS transactions_root,
  analytics.hex(header.receipts_root) AS receipts_root,
  analytics.hex(header.extra_data) AS extra_data,
  -- A withdrawal takes 44 bytes.
  length(header.withdrawals) / 44 AS withdrawals,
  header.miner AS miner_bytes,
  header.block_hash AS hash_bytes,
  -- Index key for blocks. Use it together with the hash.
  header.block_key
FROM public.block_headers AS header
LEFT JOIN public.blocks AS block ON block.chain_id = header.chain_id AND block.block_number = header.block_number;--> statement-breakpoint
CREATE VIEW analytics.transactions AS
-- Without cumulative_gas_used, root.
SELECT
  made.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  made.block_number,
  block.block_timestamp AS block_time,
  made.transaction_index,
  analytics.hex(made.transaction_hash) AS transaction_hash,
  made.type,
  -- Null before Byzantium: receipts had no status.
  made.status = 1 AS succeeded,
  analytics.hex(made.from_address) AS from_address,
  analytics.hex(made.to_address) AS to_address,
  analytics.hex(made.contract_address) AS created_contract,
  made.nonce,
  analytics.amount(made.value, 18::smallint) AS value,
  made.value AS base_units,
  made.gas AS gas_limit,
  made.gas_used,
  made.gas_price,
  -- In the native token. Includes the L1 fee of rollups, not the blob fee.
  analytics.amount(made.gas_used * made.gas_price + coalesce(made.l1_fee, 0), 18::smallint) AS fee,
  analytics.amount(made.blob_gas_used * made.blob_gas_price, 18::smallint) AS blob_fee,
  analytics.hex(made.selector) AS method,
  -- Null if only the first four bytes are stored.
  analytics.hex(made.input) AS input,
  made.sender_recovered,
  made.from_address AS from_bytes,
  made.to_address AS to_bytes,
  made.transaction_hash AS hash_bytes,
  -- Index key for transactions. Use it together with the hash.
  made.transaction_key
FROM public.transactions AS made
LEFT JOIN public.blocks AS block ON block.chain_id = made.chain_id AND block.block_number = made.block_number;--> statement-breakpoint
-- Rows without a role come from logs only: their account is not a party of the transaction.
CREATE VIEW analytics.account_transactions AS
-- Without evidence.
SELECT
  part.chain_id,
  part.block_number,
  block.block_timestamp AS block_time,
  part.transaction_index,
  analytics.hex(part.account) AS account,
  part.roles & 1 <> 0 AS is_sender,
  part.roles & 2 <> 0 AS is_receiver,
  part.roles & 4 <> 0 AS is_created,
  part.account AS account_bytes,
  -- Index key for accounts. Use it together with the bytes.
  part.account_key,
  part.transaction_key
FROM public.account_transactions AS part
LEFT JOIN public.blocks AS block ON block.chain_id = part.chain_id AND block.block_number = part.block_number
WHERE part.roles > 0;--> statement-breakpoint
CREATE VIEW analytics.logs AS
SELECT
  log.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  log.block_number,
  block.block_timestamp AS block_time,
  log.transaction_index,
  log.log_index,
  analytics.hex(log.transaction_hash) AS transaction_hash,
  analytics.hex(log.address) AS contract,
  analytics.hex(log.topic0) AS topic0,
  analytics.hex(log.topic1) AS topic1,
  analytics.hex(log.topic2) AS topic2,
  analytics.hex(log.topic3) AS topic3,
  analytics.hex(log.data) AS data,
  log.address AS contract_bytes,
  log.topic0 AS topic0_bytes,
  -- Index key for contracts. Use it together with the bytes.
  log.address_key AS contract_key
FROM public.logs AS log
LEFT JOIN public.blocks AS block ON block.chain_id = log.chain_id AND block.block_number = log.block_number;--> statement-breakpoint
CREATE VIEW analytics.internal_transfers AS
SELECT
  moved.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  moved.block_number,
  block.block_timestamp AS block_time,
  moved.transaction_index,
  moved.trace_index,
  analytics.hex(moved.transaction_hash) AS transaction_hash,
  moved.type,
  analytics.hex(moved.account) AS account,
  analytics.hex(moved.counterparty) AS counterparty,
  CASE moved.direction WHEN 0 THEN 'out' WHEN 1 THEN 'in' ELSE 'self' END AS direction,
  analytics.amount(moved.value, 18::smallint) AS value,
  moved.value AS base_units,
  moved.account AS account_bytes,
  -- Index key for accounts. Use it together with the bytes.
  moved.account_key
FROM public.internal_transfers AS moved
LEFT JOIN public.blocks AS block ON block.chain_id = moved.chain_id AND block.block_number = moved.block_number;--> statement-breakpoint
-- Views of datasets, from the analytics.sql beside each schema.ts.
-- Generated: views of datasets
-- Deposits and withdrawals of ERC-4626 vaults, one row for each owner and each other receiver. Find them by account_key and account_bytes.
CREATE VIEW analytics.erc4626_vaults AS
SELECT
  moved.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  moved.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(moved.transaction_hash) AS transaction_hash,
  moved.transaction_index,
  moved.log_index,
  CASE WHEN moved.is_deposit THEN 'deposit' ELSE 'withdraw' END AS kind,
  analytics.hex(moved.account) AS account,
  analytics.hex(moved.vault) AS vault_address,
  analytics.hex(moved.sender) AS sender,
  analytics.hex(moved.owner) AS owner,
  analytics.hex(moved.receiver) AS receiver,
  moved.assets,
  moved.shares,
  moved.is_receiver,
  moved.account AS account_bytes,
  -- Index key of accounts. Use it together with the bytes.
  moved.account_key
FROM public.erc4626_vaults AS moved
LEFT JOIN public.blocks AS block ON block.chain_id = moved.chain_id AND block.block_number = moved.block_number;--> statement-breakpoint
-- Stored candles of proven pools by hour and day, of the base token in US dollars. Find them by pool_key and pool_bytes.
CREATE VIEW analytics.pool_candles AS
SELECT
  candle.chain_id,
  analytics.hex(candle.pool) AS pool,
  to_timestamp(candle.start::bigint * 3600) AS start_time,
  -- Width: 1 or 24.
  candle.hours,
  -- US dollars; null: unknown.
  analytics.candle_price(candle.prices, 0) AS open,
  analytics.candle_price(candle.prices, 1) AS high,
  analytics.candle_price(candle.prices, 2) AS low,
  analytics.candle_price(candle.prices, 3) AS close,
  trim_scale((candle.buy_volume + candle.sell_volume) * 1e-24) AS volume_usd,
  candle.swaps,
  -- Whether the base token is token 1.
  candle.is_quoted_in0,
  candle.buys,
  candle.sells,
  candle.start AS start_hour,
  candle.pool AS pool_bytes,
  candle.pool_key
FROM public.pool_candles AS candle
-- Spans are stored whole. A change of swaps or prices makes them or their candles invalid.
JOIN public.candle_spans AS span ON span.chain_id = candle.chain_id AND span.hours = candle.hours AND span.start = candle.start
LEFT JOIN public.stale_candles AS stale ON stale.pool_key = candle.pool_key AND stale.chain_id = candle.chain_id
  AND stale.hours = candle.hours AND stale.start = candle.start AND stale.pool = candle.pool
WHERE span.is_stored AND span.price_changes = 0 AND stale.pool IS NULL;--> statement-breakpoint
-- State of each pool at the end of each block in which it changed, proven or not. Find them by pool_key and pool_bytes.
CREATE VIEW analytics.pool_states AS
SELECT
  state.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  state.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(state.pool) AS pool,
  -- Base units.
  state.reserve0,
  state.reserve1,
  -- Square root of token 1 per token 0 in base units, times 2^96.
  state.sqrt_price_x96,
  state.liquidity,
  -- Tick, or active bin of Liquidity Book.
  state.tick,
  state.transaction_index,
  state.log_index,
  state.pool AS pool_bytes,
  state.pool_key
FROM public.pool_states AS state
LEFT JOIN public.blocks AS block ON block.chain_id = state.chain_id AND block.block_number = state.block_number;--> statement-breakpoint
-- Pools of decentralized exchanges with their proofs. Only a proven pool has an exchange. Find them by pool_key and pool_bytes, proven ones by address_key(token0_bytes).
CREATE VIEW analytics.pools AS
SELECT
  chain_id,
  analytics.hex(pool) AS pool,
  status,
  -- creation: event of the factory, address: hash of factory and tokens, factory: its answer at proof_block.
  proof,
  proof_block,
  exchange,
  analytics.hex(factory) AS factory,
  analytics.hex(token0) AS token0,
  analytics.hex(token1) AS token1,
  -- Parts per million.
  fee,
  tick_spacing,
  is_stable,
  analytics.hex(hooks) AS hooks,
  -- False if a hook may change amounts: then its swaps are no trades.
  is_counted,
  token0 AS token0_bytes,
  token1 AS token1_bytes,
  pool AS pool_bytes,
  pool_key
FROM public.pools;--> statement-breakpoint
-- Swaps and liquidity changes of all pools. exchange is null unless the pool is proven. Find them by pool_key and pool_bytes, or by address_key(wallet_bytes).
CREATE VIEW analytics.swaps AS
-- Without vault.
SELECT
  swap.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  swap.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(swap.transaction_hash) AS transaction_hash,
  swap.transaction_index,
  swap.log_index,
  CASE swap.kind WHEN 0 THEN 'swap' WHEN 1 THEN 'add' ELSE 'remove' END AS kind,
  analytics.hex(swap.pool) AS pool,
  pool.exchange,
  analytics.hex(coalesce(pool.token0, swap.token0)) AS token0,
  analytics.hex(coalesce(pool.token1, swap.token1)) AS token1,
  asset0.symbol AS token0_symbol,
  asset1.symbol AS token1_symbol,
  asset0.decimals AS token0_decimals,
  asset1.decimals AS token1_decimals,
  -- Base units, positive into the pool.
  swap.amount0,
  swap.amount1,
  analytics.amount(swap.amount0, asset0.decimals) AS token0_amount,
  analytics.amount(swap.amount1, asset1.decimals) AS token1_amount,
  -- Of the side that is ether, by the newest value of the chain's ETH/USD feed at or before the swap. Otherwise of the base token, at the close of
  -- the pool's stored candle of that hour.
  round(coalesce(analytics.amount(abs(CASE WHEN ether0.is_ether THEN swap.amount0 ELSE swap.amount1 END), coalesce(ether0.decimals, ether1.decimals))
    * CASE WHEN ether0.is_ether OR ether1.is_ether THEN (
    SELECT analytics.amount(latest.answer, latest.decimals)
    FROM (
      SELECT found.*, phase.decimals
      FROM (SELECT aggregator, chain_id, decimals FROM public.price_feed_phases WHERE is_ether) AS phase
      -- A left join, because Citus cannot plan the inner join.
      LEFT JOIN LATERAL (
        SELECT answer.block_number, answer.transaction_index, answer.log_index, answer.answer
        FROM (
          SELECT aggregator, chain_id, block_number, transaction_index, log_index, answer FROM public.feed_answers
          -- Citus copies these rows to all nodes, so only the rows of known feeds are selected.
          WHERE aggregator = ANY (ARRAY(SELECT aggregator FROM public.price_feed_phases WHERE is_ether))
        ) AS answer
        WHERE answer.aggregator = phase.aggregator AND answer.chain_id = swap.chain_id
          AND (answer.block_number, answer.transaction_index, answer.log_index) <= (swap.block_number, swap.transaction_index, swap.log_index)
        ORDER BY answer.block_number DESC, answer.transaction_index DESC, answer.log_index DESC LIMIT 1
      ) AS found ON true
      WHERE phase.chain_id = swap.chain_id
      ORDER BY found.block_number DESC NULLS LAST, found.transaction_index DESC, found.log_index DESC LIMIT 1
    ) AS latest WHERE latest.answer > 0
  ) END,
    CASE WHEN span.is_stored AND span.price_changes = 0 AND stale.pool IS NULL THEN analytics.candle_price(candle.prices, 3) *
      CASE WHEN candle.is_quoted_in0 THEN analytics.amount(abs(swap.amount1), asset1.decimals) ELSE analytics.amount(abs(swap.amount0), asset0.decimals) END
    END), 2) AS amount_usd,
  swap.tick_lower,
  swap.tick_upper,
  swap.liquidity_delta,
  -- Sender of the transaction.
  analytics.hex(swap.wallet) AS wallet,
  -- The single account that gave the sold token and received the bought one, if it is another one.
  analytics.hex(swap.beneficiary) AS beneficiary,
  swap.wallet AS wallet_bytes,
  swap.beneficiary AS beneficiary_bytes,
  swap.pool AS pool_bytes,
  -- Index key of pools. Use it together with the bytes.
  swap.pool_key
FROM public.swaps AS swap
LEFT JOIN public.blocks AS block ON block.chain_id = swap.chain_id AND block.block_number = swap.block_number
LEFT JOIN public.pools AS pool ON pool.pool_key = swap.pool_key AND pool.chain_id = swap.chain_id AND pool.pool = swap.pool AND pool.status = 'proven'
LEFT JOIN public.tokens AS asset0 ON asset0.address = coalesce(pool.token0, swap.token0) AND asset0.chain_id = swap.chain_id
LEFT JOIN public.tokens AS asset1 ON asset1.address = coalesce(pool.token1, swap.token1) AND asset1.chain_id = swap.chain_id
LEFT JOIN public.payment_tokens AS ether0 ON ether0.token_address = coalesce(pool.token0, swap.token0) AND ether0.chain_id = swap.chain_id AND ether0.is_ether
LEFT JOIN public.payment_tokens AS ether1 ON ether1.token_address = coalesce(pool.token1, swap.token1) AND ether1.chain_id = swap.chain_id AND ether1.is_ether
LEFT JOIN public.pool_candles AS candle ON swap.kind = 0 AND candle.pool_key = swap.pool_key AND candle.chain_id = swap.chain_id AND candle.hours = 1
  AND candle.start = floor(extract(epoch FROM block.block_timestamp) / 3600)::integer AND candle.pool = swap.pool
LEFT JOIN public.candle_spans AS span ON span.chain_id = candle.chain_id AND span.hours = candle.hours AND span.start = candle.start
LEFT JOIN public.stale_candles AS stale ON stale.pool_key = candle.pool_key AND stale.chain_id = candle.chain_id
  AND stale.hours = candle.hours AND stale.start = candle.start AND stale.pool = candle.pool;--> statement-breakpoint
-- Prices of tokens in US dollars by hour and pool: the close of each stored candle of a proven pool. Find them by address_key(token_bytes).
CREATE VIEW analytics.token_prices AS
SELECT
  priced.chain_id,
  analytics.hex(priced.token) AS token_address,
  token.symbol AS token_symbol,
  -- The price at a block is that of the hour with this block, or of the last one before.
  span.first_block,
  span.last_block,
  to_timestamp(candle.start::bigint * 3600) AS start_time,
  -- US dollars per whole token; null: unknown.
  analytics.candle_price(candle.prices, 3) AS usd,
  -- Volume of the pool in this hour. More volume: a better price.
  trim_scale((candle.buy_volume + candle.sell_volume) * 1e-24) AS volume_usd,
  analytics.hex(priced.pool) AS pool,
  priced.exchange,
  candle.start AS start_hour,
  priced.token AS token_bytes,
  priced.pool AS pool_bytes,
  priced.pool_key
FROM (
  SELECT pool_key, chain_id, pool, exchange, token0 AS token, false AS is_quoted_in0 FROM public.pools
  WHERE status = 'proven' AND is_counted AND left_out IS NULL
  UNION ALL
  SELECT pool_key, chain_id, pool, exchange, token1, true FROM public.pools
  WHERE status = 'proven' AND is_counted AND left_out IS NULL
) AS priced
JOIN public.pool_candles AS candle ON candle.pool_key = priced.pool_key AND candle.chain_id = priced.chain_id AND candle.hours = 1
  AND candle.pool = priced.pool AND candle.is_quoted_in0 = priced.is_quoted_in0
JOIN public.candle_spans AS span ON span.chain_id = candle.chain_id AND span.hours = candle.hours AND span.start = candle.start
LEFT JOIN public.stale_candles AS stale ON stale.pool_key = candle.pool_key AND stale.chain_id = candle.chain_id
  AND stale.hours = candle.hours AND stale.start = candle.start AND stale.pool = candle.pool
LEFT JOIN public.tokens AS token ON token.address = priced.token AND token.chain_id = priced.chain_id
WHERE span.is_stored AND span.price_changes = 0 AND stale.pool IS NULL;--> statement-breakpoint
-- End of generated: views of datasets
-- Gateway calls by key, day and method. API keys themselves are not stored.
CREATE VIEW analytics.gateway_usage AS
SELECT key_id, day, chain_id, method, calls, errors, cached, weight, bytes
FROM public.gateway_usage;--> statement-breakpoint

-- ============================================================================
-- Reading role
-- Last, because it can wait for a migration of another database: roles belong to the server.
-- ============================================================================
-- Another database may have created the role, or the migrating user may lack the right to. The grants cover the role if it exists.
DO $$
BEGIN
  BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
      CREATE ROLE chainstead_reader NOLOGIN;
    END IF;
  EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
      NULL;
    WHEN insufficient_privilege THEN
      RAISE NOTICE 'Role chainstead_reader was not created: % may not create roles. Create it and grant it SELECT on schema analytics.', current_user;
  END;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT USAGE ON SCHEMA analytics TO chainstead_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO chainstead_reader;
    ALTER DEFAULT PRIVILEGES IN SCHEMA analytics GRANT SELECT ON TABLES TO chainstead_reader;
  END IF;
END
$$;--> statement-breakpoint
-- Limits for logins as the role itself. A member role needs its own (docs/api/sql.md). Another migration may set them at this moment.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader' AND rolconfig IS NULL) THEN
    ALTER ROLE chainstead_reader CONNECTION LIMIT 20;
    ALTER ROLE chainstead_reader SET statement_timeout = '5min';
    ALTER ROLE chainstead_reader SET idle_in_transaction_session_timeout = '1min';
  END IF;
EXCEPTION
  WHEN insufficient_privilege OR internal_error THEN
    RAISE NOTICE 'Role chainstead_reader was not limited: %', SQLERRM;
END
$$;
