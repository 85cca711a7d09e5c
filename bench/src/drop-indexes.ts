import { type Database, rawSql, sql } from '@chainstead/db';

/** Leaves a table bare for a load, with all of its partitions. @returns what builds the same indexes again */
export async function dropIndexes(database: Database, table: string): Promise<() => Promise<void>> {
  const indexes = await database.query<{
    name: string;
    definition: string;
    constraintDefinition: string | null;
  }>(
    sql`SELECT index.relname AS name, pg_get_indexdef(index.oid) AS definition, pg_get_constraintdef(own.oid) AS constraint_definition
     FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid LEFT JOIN pg_constraint AS own ON own.conindid = index.oid
     WHERE indrelid = ${table}::regclass`,
  );
  for (const { name, constraintDefinition } of indexes)
    await database.query(
      rawSql(
        constraintDefinition === null ? `DROP INDEX ${name}` : `ALTER TABLE ${table} DROP CONSTRAINT ${name}`,
      ),
    );
  return async () => {
    for (const { name, definition, constraintDefinition } of indexes)
      await database.query(
        rawSql(
          constraintDefinition === null
            ? // For a partitioned table it names that table alone.
              definition.replace(' ON ONLY ', ' ON ')
            : `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${constraintDefinition}`,
        ),
      );
  };
}
