import { type ClientBase, Query, type QueryConfig, type QueryResult } from 'pg';
import { type Sql, statementOf } from '../sql.ts';

/** Rows name column `block_number` as `blockNumber`. */
export function queryOn<Row extends object = Record<string, unknown>>(
  client: Pick<ClientBase, 'query'>,
  statement: Sql,
): Promise<Row[]> {
  const { text, values } = statementOf(statement);
  // Without values, Postgres takes several statements.
  return queryRows(client, values.length === 0 ? { text } : { text, values: [...values] });
}

export async function queryRows<Row extends object>(
  client: Pick<ClientBase, 'query'>,
  config: QueryConfig,
): Promise<Row[]> {
  try {
    return await new Promise<Row[]>((resolve, reject) =>
      client.query(
        new RowQuery<Row>(config, undefined, (error, result) => (error ? reject(error) : resolve(result.rows))),
      ),
    );
  } catch (error) {
    // As `pg` does: its own stack leads to the socket.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}

interface RowDescription {
  readonly fields: readonly { name: string }[];
}

/** The types of `pg` lack its method. */
const DescribedQuery = Query as unknown as new <Row extends object>(
  config: QueryConfig,
  values: undefined,
  onEnd: (error: Error | null, result: QueryResult<Row>) => void,
) => Query<Row> & { handleRowDescription(description: RowDescription): void };

class RowQuery<Row extends object> extends DescribedQuery<Row> {
  override handleRowDescription(description: RowDescription): void {
    for (const field of description.fields) field.name = camelCase(field.name);
    super.handleRowDescription(description);
  }
}

const names = new Map<string, string>();

function camelCase(column: string): string {
  const cached = names.get(column);
  if (cached !== undefined) return cached;
  const name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  names.set(column, name);
  return name;
}
