CREATE TABLE "gateway_answers" (
	"chain_id" bigint NOT NULL,
	"call_hash" "bytea" NOT NULL,
	"result" "bytea" NOT NULL,
	"stored_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "gateway_answers_chain_id_call_hash_pk" PRIMARY KEY("chain_id","call_hash")
);
--> statement-breakpoint
CREATE TABLE "gateway_heads" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"head" bigint NOT NULL,
	"finalized" bigint,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gateway_usage" (
	"key_id" text NOT NULL,
	"day" date NOT NULL,
	"chain_id" bigint NOT NULL,
	"method" text NOT NULL,
	"calls" bigint NOT NULL,
	"errors" bigint NOT NULL,
	"cached" bigint NOT NULL,
	"weight" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "gateway_usage_key_id_day_chain_id_method_pk" PRIMARY KEY("key_id","day","chain_id","method")
);
--> statement-breakpoint
CREATE INDEX "gateway_answers_by_age" ON "gateway_answers" USING btree ("stored_at");--> statement-breakpoint
-- Calls to the gateway by key, day and method, for people who come with a SQL client. Keys themselves are stored nowhere.
CREATE VIEW analytics.gateway_usage AS
SELECT key_id, day, chain_id, method, calls, errors, cached, weight, bytes
FROM public.gateway_usage;--> statement-breakpoint
-- Where the role came after 0002, its default privileges did not.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO chainstead_reader;
  END IF;
END
$$;
