import { ExactNumber, parseLosslessJson } from '@chainstead/core';
import { z } from 'zod';
import { RESULT_BYTES_MAX, rowsThatFit, type ToolResult, toolError, toolResult } from '../results/tool-result.ts';
import type { Tool, ToolCaller } from '../tools/tool.ts';
import { SQL_LENGTH_MAX } from './check-statement.ts';
import type { SqlReader, SqlRows } from './sql-reader.ts';
import { SqlRefusalError } from './sql-refusal.ts';

const COVERAGE = 'Coverage: SQL reads the indexed blocks only. The tools status and gaps show them.';
const argumentShape = z.object({ sql: z.string() });
const viewShape = z.object({ view: z.string().max(100).optional() });

export function sqlTools(reader: SqlReader): Tool[] {
  return [
    {
      name: 'sql_columns',
      description: 'Views for the tool sql, each with its columns and types.',
      inputSchema: {
        type: 'object',
        properties: { view: { type: 'string', description: 'Name of one view, such as swaps. Default: all' } },
        required: [],
        additionalProperties: false,
      },
      async call(args, caller) {
        const { data } = viewShape.safeParse(args);
        if (data === undefined) return badArgument('view must be a text', 'Omit view, or name one view.');
        return answer(() => reader.columns(data.view ?? null, askerOf(caller)));
      },
    },
    {
      name: 'sql',
      description:
        'One SELECT on the views that sql_columns lists, for at most 10 seconds. ' +
        "Filter by key, bytes and chain: WHERE wallet_key = wallet_key('0x…') AND wallet_bytes = bytes('0x…') AND chain_id = 1. " +
        'No functions that collect rows, such as array_agg, and no regular expressions.',
      inputSchema: {
        type: 'object',
        properties: {
          sql: { type: 'string', maxLength: SQL_LENGTH_MAX, description: 'One SELECT with a LIMIT' },
        },
        required: ['sql'],
        additionalProperties: false,
      },
      async call(args, caller) {
        const { data } = argumentShape.safeParse(args);
        if (data === undefined) return badArgument('sql must be a text', 'Pass one SELECT statement.');
        return answer(() => reader.read(data.sql, askerOf(caller)));
      },
    },
  ];
}

function askerOf({ principal, signal }: ToolCaller) {
  return { key: principal?.id ?? '', signal };
}

function badArgument(message: string, remedy: string): ToolResult {
  return toolError({ code: 'INVALID_PARAMETER', message, remedy });
}

async function answer(read: () => Promise<SqlRows>): Promise<ToolResult> {
  try {
    const { rows, hasMore } = await read();
    const texts = rows.map((row) =>
      Buffer.byteLength(row) > RESULT_BYTES_MAX - 2
        ? JSON.stringify({ start_of_row: row.slice(0, LONG_ROW_LENGTH).toWellFormed() })
        : withExactTexts(row),
    );
    const shown = rowsThatFit(texts);
    const note =
      hasMore || shown < rows.length
        ? `Cut: ${shown} rows follow, and more exist. A result has at most 200 rows and ${RESULT_BYTES_MAX} bytes. Select fewer columns, aggregate, or continue with ORDER BY and a condition on the last row.`
        : `All ${rows.length} rows follow.`;
    return toolResult(COVERAGE, [note], JSON.parse(`[${texts.slice(0, shown).join(',')}]`));
  } catch (error) {
    if (!(error instanceof SqlRefusalError)) throw error;
    return toolError({ code: error.code, message: error.message, remedy: error.advice });
  }
}

/** Quotes the numbers that a double would change, at any depth. @param row JSON */
function withExactTexts(row: string): string {
  return row.replaceAll(STRING_OR_NUMBER, (token) =>
    !token.startsWith('"') && parseLosslessJson(token) instanceof ExactNumber ? `"${token}"` : token,
  );
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Characters; escapes can make each six bytes. */
const LONG_ROW_LENGTH = 4_000;
