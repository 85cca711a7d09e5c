CREATE TABLE "contract_implementations" (
	"proxy" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"selector" "bytea" NOT NULL,
	"from_block" bigint NOT NULL,
	"until_block" bigint,
	"implementation" "bytea",
	"beacon" "bytea",
	"known_by" text NOT NULL,
	"read_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "contract_implementations_proxy_chain_id_selector_from_block_pk" PRIMARY KEY("proxy","chain_id","selector","from_block")
);
--> statement-breakpoint
CREATE INDEX "contract_implementations_by_beacon" ON "contract_implementations" USING btree ("beacon","chain_id") WHERE "contract_implementations"."beacon" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "contract_implementations_by_block" ON "contract_implementations" USING btree ("chain_id","from_block");