import { readFileSync } from 'node:fs';
import { isObject, parseLosslessJson } from '@chainstead/core';
import { type SqlReader, SqlRefusalError } from '@chainstead/mcp';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ChangeRequest, ConsolePage, ConsoleRequest, FileAnswer, View } from '../../console-page.ts';
import { changeForm, field } from '../../layout/form.ts';
import {
  code,
  csvText,
  type Html,
  NONE,
  NOTHING,
  note,
  opened,
  paragraph,
  problem,
  section,
  shown,
  soft,
} from '../../layout/html.ts';
import { counted } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';

const LENGTH_MAX = 10_000;
const VALUE_MAX = 200;
const STATEMENT = {
  label: 'One SELECT with a LIMIT',
  rows: 8,
  attributes: 'class="code" maxlength="10000" required autocapitalize="off"',
};
const sqlForm = z.object({
  sql: z.string().max(LENGTH_MAX),
  as: z.enum(['table', 'csv']).default('table'),
});

/** One SELECT on the views for analysts, as a role that can only read. Its limits are those of the tool `sql` for agents. */
export const sqlPage: ConsolePage = {
  path: '/sql',
  title: 'SQL',
  group: 'Data',
  addRoutes(routes, { sql: reader }) {
    routes.view('/sql', async (request) => {
      if (reader === null) return { body: WITHOUT_READER };
      return pageOf(request, await viewsOf(reader, request), request.query('sql') ?? '', NOTHING);
    });
    routes.change('/sql', sqlForm, async (request) => {
      if (reader === null) return { body: WITHOUT_READER };
      const { form } = request;
      const show = async (result: Html, status: 200 | 400 = 200): Promise<View> => ({
        ...pageOf(request, await viewsOf(reader, request), form.sql, result),
        status,
      });
      try {
        const result = await read(reader, request);
        return form.as === 'csv' ? csvOf(result) : await show(resultView(result));
      } catch (error) {
        if (!(error instanceof SqlRefusalError)) throw error;
        const { message, advice } = error;
        return show(problem(html`${shown(message, MESSAGE_MAX)}. ${shown(advice, MESSAGE_MAX)}`), 400);
      }
    });
  },
};

const MESSAGE_MAX = 600;

const WITHOUT_READER = paragraph(
  'SQL is off. Set `MCP_SQL=true`, and restart: the program makes a role that can only read. For your own Postgres without the right to create roles, set `DATABASE_ANALYST_URL`.',
);

type SqlResult = Awaited<ReturnType<typeof read>>;

async function read(reader: SqlReader, { form, asker }: ChangeRequest<z.infer<typeof sqlForm>>) {
  const { columns, rows, hasMore } = await reader.read(form.sql, askerOf(asker));
  const repeated = columns.find((name, index) => columns.indexOf(name) !== index);
  if (repeated !== undefined) throw repeatedName(repeated);
  const values = rows.map((text): readonly unknown[] => {
    const row = parseRow(text);
    // A row above the limit of a result is cut, so it is no JSON: its start is in the first column.
    return row === null ? [text] : columns.map((name) => row[name]);
  });
  return { columns, rows: values, hasMore };
}

/** A row is read as an object, which has each name once. */
function repeatedName(name: string): SqlRefusalError {
  const message = `Two columns of the result have the name ${name}`;
  return new SqlRefusalError('SQL_REFUSED', message, 'Name each with AS, or list the columns instead of *.');
}

function parseRow(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const row = parseLosslessJson(text);
    return isObject(row) ? row : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function viewsOf(reader: SqlReader, { asker }: ConsoleRequest): Promise<readonly [string, string][]> {
  try {
    const { rows } = await reader.columns(null, askerOf(asker));
    return rows.map((row) => columnsOfView.parse(JSON.parse(row)));
  } catch (error) {
    // The list is an aid: a statement reports the reason.
    if (error instanceof SqlRefusalError) return [];
    throw error;
  }
}

const columnsOfView = z
  .object({ view: z.string(), columns: z.string() })
  .transform(({ view, columns }): [string, string] => [view, columns]);

function askerOf({ principal }: ConsoleRequest['asker']): { readonly key: string } {
  return { key: principal?.id ?? '' };
}

/** Generated from docs/api/sql-examples.md, in its groups. */
const EXAMPLES = z
  .array(z.object({ group: z.string(), title: z.string(), sql: z.string() }))
  .parse(JSON.parse(readFileSync(new URL('examples.json', import.meta.url), 'utf8')));

function examplesView(): Html {
  const groups = Map.groupBy(EXAMPLES, ({ group }) => group);
  const links = (examples: typeof EXAMPLES): readonly Html[] =>
    examples.map(
      ({ title, sql: example }) =>
        html`<li><a href="/console/sql?${new URLSearchParams({ sql: example })}">${title}</a></li>`,
    );
  return section(
    'examples',
    'Examples',
    note('Replace the addresses and the `chain_id`. Examples with `ARRAY(SELECT …)` are for `chainstead psql`.'),
    [...groups].map(([group, examples]) => html`<h3>${group}</h3><ul>${links(examples)}</ul>`),
  );
}

function pageOf(
  { token }: ConsoleRequest,
  views: readonly (readonly [string, string])[],
  text: string,
  result: Html,
): View {
  const fields = html`${field('sql', STATEMENT, text)}
<div class="actions"><button name="as" value="table">Run</button><button class="quiet" name="as" value="csv">Download CSV</button> ${soft('up to 200 rows')}</div>`;
  return {
    body: html`${note('Reads the views of the schema `analytics` for at most 10 seconds, as a role that can only read.')}
${changeForm('/console/sql', token, {}, html`<div class="fields form">${fields}</div>`, 'SQL')}
${result}
${examplesView()}
${section(
  'views',
  'Views',
  views.map(
    ([view, columns]) =>
      html`<details><summary>${code(shown(view))}</summary><p>${code(shown(columns, COLUMNS_MAX))}</p></details>`,
  ),
)}`,
  };
}

const COLUMNS_MAX = 10_000;

function resultView({ columns, rows, hasMore }: SqlResult): Html {
  const isNumber = columns.map((_, index) =>
    rows.every((row) => row[index] === null || !Number.isNaN(numberOf(row[index]))),
  );
  const list = table({
    label: 'Result',
    className: 'rows',
    columns: columns.map((name, index) => (isNumber[index] === true ? number(shown(name)) : shown(name))),
    none: 'No rows.',
    rows: rows.map((row) => columns.map((_, index) => cellOf(row[index]))),
  });
  const more = ' More exist: narrow the condition, or continue with ORDER BY and a condition on the last row.';
  return section('result', 'Result', list, note(html`${counted(rows.length, 'row', 'rows')}.${hasMore && more}`));
}

function numberOf(value: unknown): number {
  return typeof value === 'number' || isObject(value) ? Number(value) : Number.NaN;
}

function cellOf(value: unknown): Html {
  if (value === null || value === undefined) return NONE;
  const text = textOf(value);
  return text.length > VALUE_MAX ? opened(shown(text, VALUE_MAX), shown(text, COLUMNS_MAX)) : shown(text);
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function csvOf({ columns, rows, hasMore }: SqlResult): FileAnswer {
  const content = csvText(
    columns,
    rows.map((row) => row.map(textOf)),
  );
  return { content, type: 'text/csv; charset=utf-8', saveAs: hasMore ? 'first-rows.csv' : 'result.csv' };
}
