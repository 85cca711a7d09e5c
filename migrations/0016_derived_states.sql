CREATE TABLE "derived_states" (
	"chain_id" bigint NOT NULL,
	"state" text NOT NULL,
	"dataset" text NOT NULL,
	"version" integer NOT NULL,
	"status" text NOT NULL,
	"position" bigint NOT NULL,
	"rows" bigint DEFAULT 0 NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "derived_states_chain_id_state_pk" PRIMARY KEY("chain_id","state")
);
--> statement-breakpoint
-- What was derived before there were versions counts all rows of every chain.
INSERT INTO "derived_states" ("chain_id", "state", "dataset", "version", "status", "position")
SELECT chain_id, state, dataset, 1, 'built', 0
FROM (SELECT chain_id FROM "sync_chains" UNION SELECT chain_id FROM "sync_ranges" UNION SELECT chain_id FROM "subject_ranges") AS known
  CROSS JOIN (VALUES
    ('nft-balances', 'nft-transfers'),
    ('nft-sale-days', 'nft-trades'),
    ('nft-metadata-due', 'nft-metadata-events')) AS derived(state, dataset);
