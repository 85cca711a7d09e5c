CREATE TABLE "contract_codes" (
	"address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"code_hash" "bytea",
	"block_number" bigint NOT NULL,
	"has_abi" boolean NOT NULL,
	"read_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "contract_codes_address_chain_id_pk" PRIMARY KEY("address","chain_id")
);
--> statement-breakpoint
CREATE INDEX "contract_codes_with_abi" ON "contract_codes" USING btree ("code_hash") WHERE "contract_codes"."has_abi";--> statement-breakpoint
CREATE INDEX "contract_codes_by_block" ON "contract_codes" USING btree ("chain_id","block_number");