CREATE TABLE "table_samples" (
	"table_name" text NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"sampled_at" timestamp with time zone DEFAULT now() NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "table_samples_table_name_hour_pk" PRIMARY KEY("table_name","hour")
);
--> statement-breakpoint
CREATE TABLE "range_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"chain" text NOT NULL,
	"work" text NOT NULL,
	"dataset" text,
	"ranges" jsonb NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"done" bigint DEFAULT 0 NOT NULL,
	"total" bigint,
	"logs" bigint DEFAULT 0 NOT NULL,
	"position" bigint,
	"outcome" jsonb,
	"requested_by" text NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"taken_at" timestamp with time zone,
	"done_before" bigint DEFAULT 0 NOT NULL,
	"cancel_asked_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone,
	"error_code" text,
	"error_message" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "range_jobs_open" ON "range_jobs" USING btree ("chain","id") WHERE status IN ('queued', 'running');
--> statement-breakpoint
-- By what kind of writes each changes (packages/db table-writes.ts).
ALTER TABLE "table_samples" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "range_jobs" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
