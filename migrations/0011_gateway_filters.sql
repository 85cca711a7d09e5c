CREATE TABLE "gateway_filters" (
	"id" text NOT NULL,
	"key_id" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"subject" jsonb NOT NULL,
	"told" jsonb NOT NULL,
	"version" integer DEFAULT 0 NOT NULL,
	"polled_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "gateway_filters_id_chain_id_pk" PRIMARY KEY("id","chain_id")
);
--> statement-breakpoint
CREATE INDEX "gateway_filters_by_key" ON "gateway_filters" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "gateway_filters_by_poll" ON "gateway_filters" USING btree ("polled_at");