DROP INDEX "tokens_by_symbol";--> statement-breakpoint
CREATE INDEX "tokens_by_symbol" ON "tokens" USING btree (lower(symbol),"chain_id");