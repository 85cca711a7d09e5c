CREATE TABLE "wallet_counts" (
	"wallet" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"first_block" bigint NOT NULL,
	"last_block" bigint NOT NULL,
	"sent" integer NOT NULL,
	"involved" integer NOT NULL,
	"nft_transfers" integer NOT NULL,
	"token_transfers" integer NOT NULL,
	CONSTRAINT "wallet_counts_wallet_chain_id_first_block_pk" PRIMARY KEY("wallet","chain_id","first_block")
);
