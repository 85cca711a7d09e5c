-- Has every session look for the partitions of a table anew. One that was looking while a partition was attached may have kept the list
-- without it, and forgotten that there was news. The setting is what it was.
CREATE FUNCTION "announce_partitions"(parent regclass) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM 1 FROM pg_class WHERE oid = parent AND relkind = 'p';
  IF NOT FOUND THEN
    RAISE EXCEPTION '% has no partitions', parent;
  END IF;
  EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN chain_id SET STATISTICS -1', parent);
END
$$;--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION "announce_partitions" FROM PUBLIC;
