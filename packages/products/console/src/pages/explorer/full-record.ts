import { isObject, within } from '@chainstead/core';
import type { InnerApi, InnerAsker } from '@chainstead/http/server';
import { html } from 'hono/html';
import { type Html, nextLink, note, shown, soft } from '../../layout/html.ts';
import { plainCount } from '../../layout/numbers.ts';
import {
  account,
  block,
  type CellPlace,
  type Column,
  coins,
  type DataRow,
  decoded,
  flags,
  hexText,
  listAt,
  nativeTokens,
  outcome,
  text,
  time,
  transaction,
} from './tables/cells.ts';
import { curlLine, curlView, factsView, messageIn, rowsView } from './tables/data-table.ts';

interface FullContext extends FullSubject {
  readonly place: CellPlace;
  readonly origin: string;
}

const ROWS_OF_PART = 10;
const MESSAGE_MAX = 600;

export function fullView(record: FullRecord, answer: FullAnswer, context: FullContext): Html {
  const curl = curlView(curlLine(context.origin, answer.target), 'API request');
  if (answer.kind !== 'record') return html`${unreported(answer)}${curl}`;
  const { body } = answer;
  const parts = record.parts.map((part) => {
    const heading = `${context.place.chain}-${part.name}`;
    const rows = part.rowsOf(body);
    const more = rows.length > ROWS_OF_PART ? partAddress(record, part, context, 0) : null;
    return html`<section aria-labelledby="${heading}"><h3 id="${heading}">${part.title}${rows.length > 0 && html` ${soft(`(${plainCount(rows.length)})`)}`}</h3>
${rowsOrNone(part, body, rows.slice(0, ROWS_OF_PART), context.place)}
${more !== null && html`<p><a href="${more}">All ${plainCount(rows.length)}</a></p>`}</section>`;
  });
  return html`${factsView(record.facts, body, context.place)}${curl}${parts}`;
}

export function partView(
  record: FullRecord,
  part: RecordPart,
  answer: FullAnswer,
  { context, from, rowsMax }: { readonly context: FullContext; readonly from: number; readonly rowsMax: number },
): Html {
  const curl = curlView(curlLine(context.origin, answer.target), 'API request');
  if (answer.kind !== 'record') return html`<h2>${part.title}</h2>${unreported(answer)}${curl}`;
  const rows = part.rowsOf(answer.body);
  const end = from + rowsMax;
  const next = end < rows.length ? partAddress(record, part, context, end) : null;
  return html`<h2>${part.title} ${soft(`(${plainCount(rows.length)})`)}</h2>
${rowsOrNone(part, answer.body, rows.slice(from, end), context.place)}
${nextLink(next, 'Next page')}${curl}`;
}

function rowsOrNone(part: RecordPart, body: DataRow, rows: readonly DataRow[], place: CellPlace): Html {
  return rowsView({ ...part, none: part.none(body) }, rows, place);
}

function unreported(answer: Exclude<FullAnswer, { kind: 'record' }>): Html {
  return answer.kind === 'late'
    ? note('The upstreams take longer than this page waits. Reload the page in a moment.')
    : note(html`Message of the API: ${shown(answer.message, MESSAGE_MAX)}`);
}

function partAddress(record: FullRecord, part: RecordPart, { chain, of }: FullSubject, from: number): string {
  const query = new URLSearchParams({ chain, of, ...(from > 0 && { from: String(from) }) });
  return `/console/look-up/whole/${record.name}/${part.name}?${query}`;
}

type FullAnswer = { readonly target: string } & (
  | { readonly kind: 'record'; readonly body: DataRow }
  | { readonly kind: 'reported'; readonly message: string }
  | { readonly kind: 'late' }
);

interface FullSubject {
  readonly chain: string;
  readonly of: string;
}

export async function readFull(
  data: InnerApi,
  asker: InnerAsker,
  record: FullRecord,
  { chain, of }: FullSubject,
  timeMs: number,
): Promise<FullAnswer> {
  const { path, query } = record.target(of);
  const target = `${path}?${new URLSearchParams({ chain, ...query })}`;
  const given = await within(timeMs, data.get(target, asker), () => null);
  if (given === null) return { target, kind: 'late' };
  const { status, body } = given;
  if (status === 200 && isObject(body)) return { target, kind: 'record', body };
  return { target, kind: 'reported', message: messageIn(body) ?? `The API returned HTTP ${status}` };
}

export interface FullRecord {
  readonly name: string;
  target(of: string): { readonly path: string; readonly query: Readonly<Record<string, string>> };
  readonly facts: readonly Column[];
  readonly parts: readonly RecordPart[];
}

export interface RecordPart {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  rowsOf(body: DataRow): readonly DataRow[];
  none(body: DataRow): string;
}

const INPUT_SHOWN = 400;
const VALUE_SHOWN = 300;

const call: RecordPart = {
  name: 'call',
  title: 'Call',
  columns: [
    ['Parameter', text('name'), 'text'],
    ['Type', text('type')],
    ['Value', text('value', VALUE_SHOWN), 'text'],
  ],
  rowsOf: (body) => listAt(body, 'decoded_call.params'),
  none: ({ decoded_call: known }) =>
    isObject(known) ? 'The call has no parameters.' : 'No call, or its function is unknown.',
};

const logs: RecordPart = {
  name: 'logs',
  title: 'Logs',
  columns: [
    ['Log', text('log_index'), 'number'],
    ['Contract', account('address')],
    ['Event', decoded('decoded_event'), 'text'],
    ['Topics', hexText('topic0', 'topic1', 'topic2', 'topic3')],
  ],
  rowsOf: (body) => listAt(body, 'logs'),
  none: () => 'No logs.',
};

const internal: RecordPart = {
  name: 'internal',
  title: 'Internal transactions',
  columns: [
    ['Type', text('type')],
    ['From', account('from')],
    ['To', account('to')],
    ['Value', coins('value'), 'number'],
    ['Gas used', text('gas_used'), 'number'],
    ['Input', hexText('input')],
    ['Error', text('error')],
  ],
  rowsOf: (body) => listAt(body, 'internal_transactions'),
  none: ({ internal_transactions: reported }) =>
    reported === null ? 'No upstream of the chain has traces.' : 'No internal transactions.',
};

export const TRANSACTION: FullRecord = {
  name: 'transaction',
  target: (hash) => ({
    path: `/api/v2.2/transaction/${hash}/verbose`,
    query: { include: 'internal_transactions' },
  }),
  facts: [
    ['Time', time()],
    ['Outcome', outcome()],
    ['From', account('from_address', 'from_address_label')],
    ['To', account('to_address', 'to_address_label')],
    ['Created contract', account('receipt_contract_address')],
    ['Value', coins('value')],
    ['Method', text('decoded_call.signature')],
    ['Fee', nativeTokens('transaction_fee')],
    ['Gas used', text('receipt_gas_used')],
    ['Gas limit', text('gas')],
    ['Nonce', text('nonce')],
    ['Index', text('transaction_index')],
    ['Block', block()],
    ['Proof', text('proof')],
    ['Confirmations', text('confirmations')],
    ['Input', text('input', INPUT_SHOWN)],
  ],
  parts: [call, logs, internal],
};

const transactions: RecordPart = {
  name: 'transactions',
  title: 'Transactions',
  columns: [
    ['Index', text('transaction_index'), 'number'],
    ['Transaction', transaction('hash')],
    ['From', account('from_address', 'from_address_label')],
    ['To', account('to_address', 'to_address_label')],
    ['Method', text('method_label', 60)],
    ['Value', coins('value'), 'number'],
    ['Fee', nativeTokens('transaction_fee'), 'number'],
    ['Outcome', outcome()],
  ],
  rowsOf: (body) => listAt(body, 'transactions'),
  none: () => 'No transactions.',
};

export const BLOCK: FullRecord = {
  name: 'block',
  target: (number) => ({ path: `/api/v2.2/block/${number}`, query: {} }),
  facts: [
    ['Time', time('timestamp')],
    ['Hash', text('hash')],
    ['Parent hash', text('parent_hash')],
    ['Produced by', account('miner')],
    ['Gas used', text('gas_used')],
    ['Gas limit', text('gas_limit')],
    ['Base fee, wei', text('base_fee_per_gas')],
    ['Size, bytes', text('size')],
    ['Proof', text('proof')],
    ['Notes', flags({ finalized: 'final' })],
  ],
  parts: [transactions],
};
