ALTER TABLE "resolved_names" ADD COLUMN "chain_id" bigint;--> statement-breakpoint
ALTER TABLE "resolved_names" ADD COLUMN "block_number" bigint;--> statement-breakpoint
CREATE INDEX "audit_log_by_door" ON "audit_log" USING btree ("door","id");