-- Places within a block are sorted by who reads. A migration builds no large index: where there are many transfers, the wide ones stay, and
-- serve the same pages.
DO $$
BEGIN
  IF (SELECT coalesce(sum(pg_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = 'erc20_transfers'::regclass) < 1073741824 THEN
    IF to_regclass('erc20_transfers_by_token') IS NOT NULL THEN
      DROP INDEX "erc20_transfers_by_token";
      CREATE INDEX "erc20_transfers_by_token" ON "erc20_transfers" USING btree ("account_key", token_key("token"), "block_number");
    END IF;
    IF to_regclass('erc20_transfers_by_contract') IS NOT NULL THEN
      DROP INDEX "erc20_transfers_by_contract";
      CREATE INDEX "erc20_transfers_by_contract" ON "erc20_transfers" USING btree (token_key("token"), "block_number") WHERE direction <> 1;
    END IF;
  END IF;
END
$$;
