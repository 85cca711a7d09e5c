CREATE TABLE "process_work" (
	"process" uuid PRIMARY KEY NOT NULL,
	"machine" text NOT NULL,
	"pid" integer NOT NULL,
	"items" text[] NOT NULL,
	"alone" text,
	"entered_at" timestamp with time zone DEFAULT now() NOT NULL,
	"alive_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "suspect_work" (
	"name" text PRIMARY KEY NOT NULL,
	"crashes" integer NOT NULL,
	"crashed_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "historical_jobs" ADD COLUMN "requested_by" text;