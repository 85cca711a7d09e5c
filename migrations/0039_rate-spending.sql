-- What it holds is over within seconds: after a crash of the server the windows begin anew.
CREATE UNLOGGED TABLE "rate_spending" (
	"bucket" text PRIMARY KEY NOT NULL,
	"slot" bigint NOT NULL,
	"spent" double precision[] NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);--> statement-breakpoint
ALTER TABLE "rate_spending" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
