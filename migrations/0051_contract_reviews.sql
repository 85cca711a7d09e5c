CREATE TABLE "contract_reviews" (
	"key_id" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"address" "bytea" NOT NULL,
	"contract_type" text NOT NULL,
	"report_type" text NOT NULL,
	"reason" text NOT NULL,
	"reported_at" timestamp with time zone DEFAULT now() NOT NULL,
	"applied_at" timestamp with time zone,
	CONSTRAINT "contract_reviews_address_chain_id_contract_type_key_id_pk" PRIMARY KEY("address","chain_id","contract_type","key_id")
);
--> statement-breakpoint
CREATE INDEX "contract_reviews_by_key" ON "contract_reviews" USING btree ("key_id");