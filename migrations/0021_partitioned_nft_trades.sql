-- NFT trades by ranges of blocks, with keys of eight bytes, as transfers since 0019 (docs/storage-layout.md). Quick on a database of any
-- size: rows of the present table are moved piece by piece while the program runs, and until then both tables are read.
--
-- Its are columns that change their type. A view that somebody made over it would be lost: then the migration fails.
DROP VIEW analytics.nft_trades;--> statement-breakpoint
ALTER TABLE "nft_trades" RENAME TO "nft_trades_unpartitioned";--> statement-breakpoint
-- Its name was cut to 63 characters.
ALTER TABLE "nft_trades_unpartitioned"
  RENAME CONSTRAINT "nft_trades_token_address_chain_id_block_number_transaction_inde" TO "nft_trades_unpartitioned_pkey";--> statement-breakpoint
ALTER INDEX "nft_trades_by_token" RENAME TO "nft_trades_unpartitioned_by_token";--> statement-breakpoint
ALTER INDEX "nft_trades_by_marketplace" RENAME TO "nft_trades_unpartitioned_by_marketplace";--> statement-breakpoint
ALTER INDEX "nft_trades_by_seller" RENAME TO "nft_trades_unpartitioned_by_seller";--> statement-breakpoint
ALTER INDEX "nft_trades_by_buyer" RENAME TO "nft_trades_unpartitioned_by_buyer";--> statement-breakpoint
ALTER INDEX "nft_trades_by_block" RENAME TO "nft_trades_unpartitioned_by_block";--> statement-breakpoint
CREATE TABLE "nft_trades" (
	"collection_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"item" integer NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"side" smallint NOT NULL,
	"collections" smallint NOT NULL,
	"leads" boolean NOT NULL,
	"token_address" "bytea" NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"token_ids" numeric(78, 0)[],
	"amounts" numeric(78, 0)[],
	"marketplace" text NOT NULL,
	"protocol" text NOT NULL,
	"marketplace_address" "bytea" NOT NULL,
	"seller" "bytea" NOT NULL,
	"buyer" "bytea" NOT NULL,
	"payment_token" "bytea",
	"price" numeric,
	"transaction_hash" "bytea" NOT NULL,
	CONSTRAINT "nft_trades_pkey" PRIMARY KEY("collection_key","chain_id","block_number","transaction_index","log_index","item")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "nft_trades_by_token" ON "nft_trades"
  USING btree ("collection_key", token_id_key("token_id"), "block_number", "transaction_index", "log_index", "item");--> statement-breakpoint
CREATE INDEX "nft_trades_by_marketplace" ON "nft_trades"
  USING btree ("collection_key", "marketplace", "block_number", "transaction_index", "log_index", "item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_trades_by_seller" ON "nft_trades"
  USING btree (address_key("seller"), "block_number", "transaction_index", "log_index", "item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_trades_by_buyer" ON "nft_trades"
  USING btree (address_key("buyer"), "block_number", "transaction_index", "log_index", "item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_trades_by_block" ON "nft_trades"
  USING brin ("chain_id", "block_number" int4_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
-- The rows of both tables, for the view below and for what is derived from them.
DO $$
BEGIN
  IF EXISTS (SELECT FROM nft_trades_unpartitioned) THEN
    CREATE VIEW nft_trades_all AS
    SELECT
      collection_key, chain_id, block_number, transaction_index, log_index, item, block_timestamp, side, collections, leads, token_address,
      token_id, token_ids, amounts, marketplace, protocol, marketplace_address, seller, buyer, payment_token, price, transaction_hash
    FROM nft_trades
    UNION ALL
    SELECT
      address_key(token_address), chain_id, block_number::integer, transaction_index, log_index, item, block_timestamp, side, collections,
      leads, token_address, token_id, nullif(token_ids, ARRAY[token_id]), nullif(amounts, '{1}'), marketplace, protocol,
      marketplace_address, seller, buyer, payment_token, price, transaction_hash
    FROM nft_trades_unpartitioned;
  ELSE
    DROP TABLE nft_trades_unpartitioned;
    CREATE VIEW nft_trades_all AS
    SELECT
      collection_key, chain_id, block_number, transaction_index, log_index, item, block_timestamp, side, collections, leads, token_address,
      token_id, token_ids, amounts, marketplace, protocol, marketplace_address, seller, buyer, payment_token, price, transaction_hash
    FROM nft_trades;
  END IF;
END
$$;--> statement-breakpoint
CREATE VIEW analytics.nft_trades AS
SELECT
  trade.chain_id,
  -- Of its own type: converted, no index would know it.
  trade.block_number,
  trade.block_timestamp AS block_time,
  analytics.hex(trade.transaction_hash) AS transaction_hash,
  trade.transaction_index,
  trade.log_index,
  trade.item,
  trade.marketplace,
  trade.protocol,
  analytics.hex(trade.marketplace_address) AS marketplace_address,
  analytics.hex(trade.token_address) AS token_address,
  token.name AS collection_name,
  trade.all_token_ids AS token_ids,
  coalesce(trade.amounts, '{1}') AS amounts,
  analytics.hex(trade.seller) AS seller,
  analytics.hex(trade.buyer) AS buyer,
  CASE trade.side WHEN 0 THEN 'listing' WHEN 1 THEN 'offer' END AS side,
  analytics.hex(trade.payment_token) AS payment_token,
  coalesce(payment.symbol, paid_token.symbol) AS payment_symbol,
  trade.order_price AS price_base_units,
  analytics.amount(trade.order_price, coalesce(payment.decimals, paid_token.decimals)) AS price,
  -- The last answer of the chain's ETH/USD feed at or before the trade.
  round(CASE WHEN payment.is_ether THEN analytics.amount(trade.order_price, payment.decimals) * (
    SELECT analytics.amount(latest.answer, latest.decimals)
    FROM (
      SELECT found.*, phase.decimals FROM public.price_feed_phases AS phase
      CROSS JOIN LATERAL (
        SELECT answer.block_number, answer.transaction_index, answer.log_index, answer.answer
        FROM public.feed_answers AS answer
        WHERE answer.aggregator = phase.aggregator AND answer.chain_id = trade.chain_id
          AND (answer.block_number, answer.transaction_index, answer.log_index) <= (trade.block_number, trade.transaction_index, trade.log_index)
        ORDER BY answer.block_number DESC, answer.transaction_index DESC, answer.log_index DESC LIMIT 1
      ) AS found
      WHERE phase.chain_id = trade.chain_id
      ORDER BY found.block_number DESC, found.transaction_index DESC, found.log_index DESC LIMIT 1
    ) AS latest WHERE latest.answer > 0
  ) END, 2) AS price_usd,
  -- Above 1: the price is that of the whole order, and each of its collections has a row.
  trade.collections,
  trade.collections > 1 OR cardinality(trade.all_token_ids) > 1 AS is_bundle,
  trade.buyer = trade.seller AS is_wash,
  coalesce(trade.order_price = 0, false) AS is_zero_price,
  coalesce(token.possible_spam, false) AS possible_spam,
  trade.token_address AS token_bytes,
  trade.seller AS seller_bytes,
  trade.buyer AS buyer_bytes,
  trade.payment_token AS payment_bytes,
  trade.collection_key,
  public.address_key(trade.seller) AS seller_key,
  public.address_key(trade.buyer) AS buyer_key
FROM (
  SELECT
    sold.*,
    coalesce(sold.token_ids, ARRAY[sold.token_id]) AS all_token_ids,
    -- An accepted Punk bid says no price: it is the bid's that stood then.
    coalesce(sold.price, (
      SELECT CASE WHEN bid.entered AND bid.bidder = sold.buyer THEN bid.value END FROM public.punk_bids AS bid
      WHERE bid.token_address = sold.token_address AND bid.chain_id = sold.chain_id AND bid.token_id = sold.token_id
        AND (bid.block_number, bid.transaction_index, bid.log_index) < (sold.block_number, sold.transaction_index, sold.log_index)
      ORDER BY bid.block_number DESC, bid.transaction_index DESC, bid.log_index DESC LIMIT 1
    )) AS order_price
  FROM public.nft_trades_all AS sold
  WHERE sold.leads
) AS trade
LEFT JOIN public.tokens AS token ON token.address = trade.token_address AND token.chain_id = trade.chain_id
LEFT JOIN public.tokens AS paid_token ON paid_token.address = trade.payment_token AND paid_token.chain_id = trade.chain_id
LEFT JOIN public.payment_tokens AS payment
  ON payment.token_address = coalesce(trade.payment_token, '\x0000000000000000000000000000000000000000'::bytea) AND payment.chain_id = trade.chain_id;--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.nft_trades TO chainstead_reader;
  END IF;
END
$$;
