CREATE TABLE "leases" (
	"name" text PRIMARY KEY NOT NULL,
	"token" uuid NOT NULL,
	"holder" text NOT NULL,
	"backend_pid" integer NOT NULL,
	"backend_start" timestamp with time zone NOT NULL,
	"acquired_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "locks" (
	"name" text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
INSERT INTO "locks" ("name") VALUES ('streams-version');--> statement-breakpoint
-- For whoever logs in as the role itself; a role that is its member needs the same settings (docs/analytics.md). Another database's
-- migration may be setting them at this moment, and the user that migrates may not be allowed to.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader' AND rolconfig IS NULL) THEN
    ALTER ROLE chainstead_reader CONNECTION LIMIT 20;
    ALTER ROLE chainstead_reader SET statement_timeout = '5min';
    ALTER ROLE chainstead_reader SET idle_in_transaction_session_timeout = '1min';
  END IF;
EXCEPTION
  WHEN insufficient_privilege OR internal_error THEN
    RAISE NOTICE 'Role chainstead_reader was not limited: %', SQLERRM;
END
$$;
