CREATE TABLE "console_sessions" (
	"id_hash" "bytea" PRIMARY KEY NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"key_id" text NOT NULL,
	"key_name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"revoked_at" timestamp with time zone,
	"address" text NOT NULL,
	"user_agent" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_usage" (
	"key_id" text NOT NULL,
	"day" date NOT NULL,
	"method" text NOT NULL,
	"route" text NOT NULL,
	"requests" bigint NOT NULL,
	"refused" bigint NOT NULL,
	"failed" bigint NOT NULL,
	CONSTRAINT "api_usage_key_id_day_method_route_pk" PRIMARY KEY("key_id","day","method","route")
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" text PRIMARY KEY NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"door" text NOT NULL,
	"actor" text NOT NULL,
	"actor_name" text,
	"action" text NOT NULL,
	"target" text NOT NULL,
	"details" jsonb NOT NULL,
	"address" text,
	"request_id" text
);
--> statement-breakpoint
CREATE TABLE "chain_samples" (
	"chain" text NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	"head" bigint,
	"checkpoint" bigint,
	"covered" bigint NOT NULL,
	"rows" bigint,
	CONSTRAINT "chain_samples_chain_minute_pk" PRIMARY KEY("chain","minute")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "rate_limit" integer;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "by_start" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "console_sessions_by_end" ON "console_sessions" USING btree ("expires_at");
--> statement-breakpoint
-- By what kind of writes each changes (packages/db table-writes.ts).
ALTER TABLE "audit_log" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "api_usage" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "chain_samples" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "console_sessions" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
