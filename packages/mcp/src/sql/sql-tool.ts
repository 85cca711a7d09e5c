import { z } from 'zod';
import { fitRows, RESULT_BYTES_MAX } from '../results/fit-text.ts';
import { toolError } from '../results/tool-error.ts';
import type { Tool } from '../tools/tool.ts';
import { SQL_LENGTH_MAX } from './check-statement.ts';
import type { SqlReader } from './sql-reader.ts';
import { SqlRefusalError } from './sql-refusal.ts';

const argumentShape = z.object({ sql: z.string() });

/** Returns the tool that runs one read-only statement. */
export function sqlTool(reader: SqlReader): Tool {
  return {
    name: 'sql',
    description:
      'Runs one read-only SELECT on the views of the schema analytics in Postgres, for at most 10 seconds. ' +
      "List columns first: SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'analytics'. " +
      "Filter by key, bytes and chain: WHERE wallet_key = wallet_key('0x…') AND wallet_bytes = bytes('0x…') AND chain_id = 1.",
    inputSchema: {
      type: 'object',
      properties: {
        sql: { type: 'string', maxLength: SQL_LENGTH_MAX, description: 'One SELECT statement, with a LIMIT.' },
      },
      required: ['sql'],
      additionalProperties: false,
    },
    async call(given, { principal, signal }) {
      const parsed = argumentShape.safeParse(given);
      if (!parsed.success)
        return toolError({
          code: 'INVALID_PARAMETER',
          message: 'sql must be a text',
          remedy: 'Pass one SELECT statement.',
        });
      try {
        const { rows, hasMore } = await reader.read(parsed.data.sql, { key: principal?.id ?? '', signal });
        const data = fitRows(rows);
        const isCut = hasMore || data.isCut;
        const shown =
          data.shown === null
            ? 'the start of the first row follows, which is no valid JSON'
            : `${data.shown} rows follow`;
        const notes = [
          isCut
            ? `Cut: ${shown}, and more exist. A result holds at most 200 rows and ${RESULT_BYTES_MAX} bytes. Select fewer columns, aggregate, or continue with ORDER BY and a condition on the last row.`
            : `All ${rows.length} rows follow.`,
          'Coverage: SQL reads the indexed blocks only. The tools status and gaps show them.',
        ];
        return { texts: [notes.join('\n'), data.text], isError: false };
      } catch (error) {
        if (!(error instanceof SqlRefusalError)) throw error;
        return toolError({ code: error.code, message: error.message, remedy: error.advice });
      }
    },
  };
}
