CREATE TABLE "list_revisions" (
	"list" text PRIMARY KEY NOT NULL,
	"revision" bigint NOT NULL
);
