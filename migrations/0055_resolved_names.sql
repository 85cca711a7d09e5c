CREATE TABLE "resolved_names" (
	"service" text NOT NULL,
	"wanted" text NOT NULL,
	"subject" text NOT NULL,
	"answer" text,
	"off_chain" boolean NOT NULL,
	"read_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "resolved_names_service_wanted_subject_pk" PRIMARY KEY("service","wanted","subject")
);
--> statement-breakpoint
CREATE INDEX "resolved_names_by_age" ON "resolved_names" USING btree ("read_at");