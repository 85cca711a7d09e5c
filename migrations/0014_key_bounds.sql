ALTER TABLE "stream_deliveries" ADD COLUMN "requested_by" text;--> statement-breakpoint
ALTER TABLE "streams" ADD COLUMN "created_by" text;--> statement-breakpoint
CREATE INDEX "stream_deliveries_open_by_key" ON "stream_deliveries" USING btree ("requested_by") WHERE status = 'pending' AND requested_by IS NOT NULL;--> statement-breakpoint
CREATE INDEX "streams_by_creator" ON "streams" USING btree ("created_by") WHERE deleted_at IS NULL;