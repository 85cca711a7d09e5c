-- As in 0023, and on a cluster of Citus of the shards too: each is a table with partitions of its own, which sessions of its node list.
CREATE OR REPLACE FUNCTION "announce_partitions"(parent regclass) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  propagation text := current_setting('citus.enable_ddl_propagation', true);
  failed text;
BEGIN
  PERFORM 1 FROM pg_class WHERE oid = parent AND relkind = 'p';
  IF NOT FOUND THEN
    RAISE EXCEPTION '% has no partitions', parent;
  END IF;
  IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
    EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN chain_id SET STATISTICS -1', parent);
    RETURN;
  END IF;
  -- Citus refuses to hand the statement on: here it is for this node, and then for each shard.
  PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
  EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN chain_id SET STATISTICS -1', parent);
  PERFORM set_config('citus.enable_ddl_propagation', propagation, true);
  PERFORM 1 FROM pg_dist_partition WHERE logicalrelid = parent;
  IF FOUND THEN
    SELECT string_agg(result, '; ') INTO failed
      FROM run_command_on_shards(parent, 'ALTER TABLE ONLY %s ALTER COLUMN chain_id SET STATISTICS -1') WHERE NOT success;
    IF failed IS NOT NULL THEN
      RAISE EXCEPTION 'The shards of % could not be told of their partitions: %', parent, failed;
    END IF;
  END IF;
END
$$;
