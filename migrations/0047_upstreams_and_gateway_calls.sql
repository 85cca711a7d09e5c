CREATE TABLE "gateway_calls" (
	"hour" timestamp with time zone NOT NULL,
	"chain_id" bigint NOT NULL,
	"method" text NOT NULL,
	"calls" bigint NOT NULL,
	"errors" bigint NOT NULL,
	"cached" bigint NOT NULL,
	"latency" bigint[] NOT NULL,
	CONSTRAINT "gateway_calls_hour_chain_id_method_pk" PRIMARY KEY("hour","chain_id","method")
);
--> statement-breakpoint
CREATE TABLE "upstream_calls" (
	"slot" timestamp with time zone NOT NULL,
	"chain" text NOT NULL,
	"upstream" text NOT NULL,
	"role" text NOT NULL,
	"outcome" text NOT NULL,
	"calls" bigint NOT NULL,
	"busy_ms" bigint NOT NULL,
	"latency" bigint[] NOT NULL,
	CONSTRAINT "upstream_calls_slot_chain_upstream_role_outcome_pk" PRIMARY KEY("slot","chain","upstream","role","outcome")
);
--> statement-breakpoint
CREATE TABLE "wrong_answers" (
	"day" date NOT NULL,
	"chain" text NOT NULL,
	"upstream" text NOT NULL,
	"kind" text NOT NULL,
	"occurrences" bigint NOT NULL,
	"method" text NOT NULL,
	"description" text NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "wrong_answers_day_chain_upstream_kind_pk" PRIMARY KEY("day","chain","upstream","kind")
);
--> statement-breakpoint
CREATE INDEX "wrong_answers_by_time" ON "wrong_answers" USING btree ("seen_at");--> statement-breakpoint
CREATE INDEX "upstream_faults_by_time" ON "upstream_faults" USING btree ("seen_at");--> statement-breakpoint
-- By what kind of writes each changes (packages/db table-writes.ts).
ALTER TABLE "gateway_calls" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "upstream_calls" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "wrong_answers" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
