import type { Chain } from '@chainstead/chains';
import { columnValues, type EventTable, type ParameterColumn, readEvent } from '@chainstead/contracts';
import { MAX_UINT256 } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices, FileAnswer } from '../../console-page.ts';
import { button, field, hiddenInputs, queryForm } from '../../layout/form.ts';
import { csvText, cut, type Html, livePart, NONE, opened, shown, soft, writeQuery } from '../../layout/html.ts';
import { plainCount } from '../../layout/numbers.ts';
import { chainNamed, placeOn } from '../explorer/subjects.ts';
import {
  account,
  block,
  type Cell,
  type Column,
  type DataRow,
  hexText,
  short,
  text,
  textAt,
  time,
  transaction,
} from '../explorer/tables/cells.ts';
import { type DataTable, listTable, readTable, tableView } from '../explorer/tables/data-table.ts';
import { contractAddress, eventAddress, signatureOf } from './contract-page.ts';

const ROWS = 50;
const CSV_ROWS_MAX = 10_000;
const CSV_ROWS_OF_PAGE = 100;
/** Characters: values of some events are long. */
const CSV_TEXT_MAX = 50_000_000;

export function addEventRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { explorer } = services;
  const rowsOf = async (request: ConsoleRequest, wanted: EventQuery, cursor: string | null): Promise<Html> => {
    const { chain, data } = wanted;
    const page = { of: subjectOn(chain), limit: ROWS, cursor };
    return tableView(data, await readTable(explorer.data, request.asker, data, page), {
      of: page.of,
      place: placeOn(chain),
      origin: request.origin,
      more: (next) => addressOf(wanted, { cursor: next }),
      isOwnPage: true,
    });
  };
  routes.view('/contracts/:name/:event', async (request) => {
    const wanted = await readEventQuery(request, services);
    const cursor = request.query('cursor') || null;
    const rows = await rowsOf(request, wanted, cursor);
    // Later pages hold older rows.
    const live = cursor === null ? livePart(addressOf(wanted).slice('/console'.length), rows) : rows;
    const { contract, event } = wanted.table;
    const heading = html`${shown(contract)}: ${shown(event)}`;
    return { title: 'Contract', heading, body: eventView(wanted, live) };
  });
  routes.live('/contracts/:name/:event', async (request) =>
    rowsOf(request, await readEventQuery(request, services), null),
  );
  routes.view('/contracts/:name/:event/csv', async (request) => {
    const wanted = await readEventQuery(request, services);
    const content = await readCsv(wanted, request, services);
    // The page shows the reason.
    if (content === null) return { goTo: addressOf(wanted) };
    const { contract, event } = wanted.table;
    const saveAs = `${contract}-${event}-${wanted.chain.key}.csv`;
    return { content, type: 'text/csv; charset=utf-8', saveAs } satisfies FileAnswer;
  });
}

type EventQuery = Awaited<ReturnType<typeof readEventQuery>>;

const BOUNDS = ['from_block', 'to_block', 'order'] as const;

async function readEventQuery({ parameter, query }: ConsoleRequest, services: ConsoleServices) {
  const chain = chainNamed(services, query('chain'));
  const [name, event] = [parameter('name'), parameter('event')];
  const found = await readEvent(services.explorer.reads, chain, { name, event });
  if (found === null)
    throw new NotFoundError('There is no such contract or event on this chain, or it was removed');
  const { table, indexed } = found;
  const filters = table.parameters.flatMap((column) => {
    const values = indexed.has(column.name) ? columnValues(column) : null;
    return values === null ? [] : [{ column, allowed: values.allowed }];
  });
  const names = [...BOUNDS, ...filters.flatMap(({ column }) => fieldsOf(column))];
  const given: Readonly<Record<string, string>> = Object.fromEntries(
    names.flatMap((field) => (query(field) ? [[field, query(field) ?? '']] : [])),
  );
  const path = `/api/v2.2/contracts/${name}/${event}`;
  const data: DataTable = {
    ...listTable(event, 'Rows', () => path, eventColumns(table)),
    target: () => ({ path, query: { chain: chain.key, ...requestedOf(given, filters) } }),
    idOf: (row: DataRow) => `log-${textAt(row, 'block_number')}-${textAt(row, 'log_index')}`,
  };
  return { chain, table, filters, given, data };
}

function fieldsOf({ name, type }: ParameterColumn): readonly string[] {
  return type === 'numeric' ? [`${name}.gte`, `${name}.lte`] : [name];
}

/** One value instead of a range of one: ranges of several columns are refused. */
function requestedOf(
  given: Readonly<Record<string, string>>,
  filters: readonly { readonly column: ParameterColumn }[],
): Record<string, string> {
  const requested: Record<string, string> = { ...given };
  for (const { column } of filters) {
    const [low = '', high = ''] = fieldsOf(column);
    const value = given[low];
    if (high === '' || value === undefined || value !== given[high]) continue;
    delete requested[low];
    delete requested[high];
    requested[column.name] = value;
  }
  return requested;
}

function subjectOn({ key }: Chain) {
  return { chain: key, address: '', tokenId: null };
}

function addressOf({ table, chain, given }: EventQuery, more: Parameters<typeof writeQuery>[0] = {}): string {
  return `/console/contracts/${table.contract}/${table.event}${writeQuery({ chain: chain.key, ...given, ...more })}`;
}

/** Null: the API refuses the filter, or is unavailable. */
async function readCsv(
  { data, chain, table }: EventQuery,
  { asker }: ConsoleRequest,
  { explorer }: ConsoleServices,
): Promise<string | null> {
  const names = table.parameters.map(({ name }) => name);
  const columns = ['block_number', 'block_timestamp', 'transaction_hash', 'log_index', 'contract_address'];
  const lines: string[][] = [];
  let cursor: string | null = null;
  let length = 0;
  do {
    const page = { of: subjectOn(chain), limit: CSV_ROWS_OF_PAGE, cursor };
    const answer = await readTable(explorer.data, asker, data, page);
    if (answer.kind !== 'rows') return null;
    for (const row of answer.rows) {
      const line = [
        ...columns.map((name) => textAt(row, name) ?? ''),
        ...names.map((name) => cellText(row, name)),
      ];
      length += line.reduce((sum, cell) => sum + cell.length, 0);
      lines.push(line);
    }
    cursor = answer.cursor;
  } while (cursor !== null && lines.length < CSV_ROWS_MAX && length < CSV_TEXT_MAX);
  return csvText([...columns, ...names], lines.slice(0, CSV_ROWS_MAX));
}

function cellText(row: DataRow, name: string): string {
  const value = parameterIn(row, name);
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function eventView(query: EventQuery, rows: Html): Html {
  const { table, chain } = query;
  const { contract, view } = table;
  return html`<p class="soft"><a href="/console/contracts">Contracts</a> · <a href="${contractAddress(contract, chain.key)}">${shown(contract)}, ${chain.key}</a> · <code>${signatureOf(table)}</code></p>
<p>SQL: <code>${view}</code></p>
${filterForm(query)}
<p><a href="${addressOf(query).replace('?', '/csv?')}">CSV</a> ${soft(`of the filter, up to ${plainCount(CSV_ROWS_MAX)} rows`)}</p>
${rows}`;
}

const ORDERS = [
  ['DESC', 'Newest first'],
  ['ASC', 'Oldest first'],
] as const;
const VALUE_MAX = 200;
const LINE = 'maxlength="200" autocomplete="off" spellcheck="false"';

function filterForm({ table, chain, filters, given }: EventQuery): Html {
  const line = (name: string, label: string, title: string): Html =>
    field(name, { label, title, attributes: LINE }, cut(given[name] ?? '', VALUE_MAX));
  const fields = [
    hiddenInputs({ chain: chain.key }),
    ...filters.map(({ column, allowed }) => filterFields(column, allowed, given, line)),
    line('from_block', 'From block', 'a block number'),
    line('to_block', 'To block', 'a block number'),
    field('order', { label: 'Order', options: ORDERS }, given.order ?? 'DESC'),
  ];
  const hasRange = filters.some(({ column }) => column.type === 'numeric');
  return html`${queryForm(eventAddress(table.contract, table.event), 'Filter rows', fields, button('Show'))}
<p class="hint">${filters.length === 0 ? 'No parameter has an index, so rows can be filtered by block only. Add the contract again with indexed parameters.' : 'Filters are parameters with an index.'}${hasRange && ' With a range of numbers, rows are ordered by that number.'}</p>`;
}

function filterFields(
  { name, type }: ParameterColumn,
  allowed: string,
  given: EventQuery['given'],
  line: (name: string, label: string, allowed: string) => Html,
): Html {
  if (type === 'boolean')
    return field(name, { label: name, options: ['true', 'false'], all: 'all' }, given[name]);
  if (type !== 'numeric') return line(name, name, allowed);
  return html`${line(`${name}.gte`, `${name} from`, allowed)}${line(`${name}.lte`, `${name} to`, allowed)}`;
}

/** Columns of a table with rows of `GET /api/v2.2/contracts/{name}/{event}`. */
function eventColumns({ parameters }: EventTable): readonly Column[] {
  return [
    ['Block', block(), 'number'],
    ['Log', text('log_index'), 'number'],
    ['Time', time()],
    ['Transaction', transaction()],
    ['Contract', account('contract_address')],
    ...parameters.map((column): Column => {
      const { name, type } = column;
      if (type === 'numeric') return [name, cellOf(column), 'number'];
      return type === 'text' || type === 'jsonb' ? [name, cellOf(column), 'text'] : [name, cellOf(column)];
    }),
  ];
}

/** Value of a parameter; null: none. */
function parameterIn(row: DataRow, name: string): unknown {
  const values: Readonly<Record<string, unknown>> = Object(row.params);
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null;
}

function cellOf({ name, type, abiType, isHash }: ParameterColumn): Cell {
  if (type === 'bytea')
    return abiType.type === 'address' && !isHash ? account(`params.${name}`) : hexText(`params.${name}`);
  return (row) => {
    const value = parameterIn(row, name);
    if (value === null) return NONE;
    if (typeof value === 'object') return structureView(JSON.stringify(value));
    return type === 'numeric' ? integerView(String(value)) : textView(String(value));
  };
}

const DIGITS_SHOWN = 24;
const GROUPS = new Intl.NumberFormat('en-US');

/** Base units are read by their groups of digits; longer integers are seldom amounts. */
function integerView(digits: string): Html {
  if (!/^-?\d{1,78}$/.test(digits)) return shown(digits);
  const value = BigInt(digits);
  if (digits.length <= DIGITS_SHOWN) return html`${GROUPS.format(value)}`;
  const brief = value === MAX_UINT256 ? '2^256 − 1' : short(digits);
  return opened(brief, digits);
}

const TEXT_SHOWN = 40;
const TEXT_MAX = 1_000;

function textView(value: string): Html {
  if (value.length <= TEXT_SHOWN) return shown(value);
  return opened(shown(value, TEXT_SHOWN), shown(value, TEXT_MAX));
}

const JSON_SHOWN = 30;
const JSON_MAX = 4_000;

function structureView(json: string): Html {
  if (json.length <= JSON_SHOWN) return html`<code>${cut(json)}</code>`;
  return opened(cut(json, JSON_SHOWN), cut(json, JSON_MAX));
}
