CREATE TABLE "contract_abi_entries" (
	"address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"selector" "bytea" NOT NULL,
	"place" integer NOT NULL,
	"entry" jsonb NOT NULL,
	CONSTRAINT "contract_abi_entries_address_chain_id_selector_place_pk" PRIMARY KEY("address","chain_id","selector","place")
);
--> statement-breakpoint
CREATE TABLE "imported_signatures" (
	"selector" "bytea" NOT NULL,
	"signature" text NOT NULL,
	"source" text NOT NULL,
	CONSTRAINT "imported_signatures_selector_signature_source_pk" PRIMARY KEY("selector","signature","source")
);
