import { type BlockRange, type Clock, isObject } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import { type Forms, toCamelCase } from '../conversion/forms.ts';
import { RECEIPT_FORMS, TRANSACTION_FORMS } from '../conversion/receipt-json.ts';
import { HEADER_FORMS } from '../conversion/source-block.ts';
import { type HttpStream, readText } from '../http-stream/http-stream.ts';
import type { HttpStreams } from '../http-stream/http-streams.ts';
import { getJson } from '../http-stream/json-lines.ts';

/** Requests to a Portal. */
export interface PortalClient {
  readonly http: HttpStreams;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Highest finalized block that the portal has named; null: none yet. */
  readonly knownHead: number | null;
  /** @throws SourceError */
  firstBlock(signal: AbortSignal): Promise<number>;
  /** Null: none. @throws SourceError */
  finalizedHead(signal: AbortSignal): Promise<number | null>;
  /** Null: nothing there yet. @throws SourceError */
  openStream(range: BlockRange, selection: PortalSelection, signal: AbortSignal): Promise<PortalStream | null>;
}

export interface PortalStream {
  readonly stream: HttpStream;
  /** Without the fields that were refused. */
  readonly selection: PortalSelection;
}

const FIELD_REFUSALS_MAX = 40;

export function createPortalClient(http: HttpStreams, clock: Pick<Clock, 'sleep'>): PortalClient {
  /** No block of this portal has them. */
  const unknownFields = new Set<string>();
  let knownHead: number | null = null;
  let startBlock: number | null = null;

  function blockNumber(value: unknown, what: string): number {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw http.fault('wrong', `${what} is ${JSON.stringify(value)?.slice(0, 80)}`);
  }

  return {
    http,
    clock,
    get knownHead() {
      return knownHead;
    },
    async firstBlock(signal) {
      if (startBlock !== null) return startBlock;
      const json = await getJson(http, '/metadata', signal);
      if (!isObject(json)) throw http.fault('wrong', 'the metadata is not an object');
      startBlock = blockNumber(json.start_block ?? 0, 'start_block');
      return startBlock;
    },
    async finalizedHead(signal) {
      const json = await getJson(http, '/finalized-head', signal);
      if (json === null) return null;
      knownHead = blockNumber(isObject(json) ? json.number : json, 'the finalized head');
      return knownHead;
    },
    async openStream(range, given, signal) {
      const block = given.fields.block.filter((field) => !unknownFields.has(field));
      let selection: PortalSelection = { ...given, fields: { ...given.fields, block } };
      for (let refusals = 0; ; refusals++) {
        const body = queryText(selection, range);
        const accepted = [200, 204, 400, 409, 422];
        const stream = await http.open({ method: 'POST', path: '/finalized-stream', body, accepted }, signal);
        const { status } = stream;
        if (status === 200) {
          const head = Number(stream.header('x-sqd-finalized-head-number') ?? Number.NaN);
          if (Number.isSafeInteger(head)) knownHead = Math.max(knownHead ?? 0, head);
          return { stream, selection };
        }
        const text = await readText(stream.body);
        if (status === 204) return null;
        // A stream of finalized blocks has no other branch.
        if (status === 409) throw http.fault('wrong', `HTTP 409 for finalized blocks: ${text}`);
        const field = refusedField(text, selection.fields);
        if (field === null || refusals >= FIELD_REFUSALS_MAX)
          throw http.fault('refused', `HTTP ${status}: ${text}`);
        if (field.isUnknown) unknownFields.add(field.name);
        selection = { ...selection, fields: withoutField(selection.fields, field) };
      }
    },
  };
}

type LogFilter = Readonly<Record<string, readonly string[]>>;

export interface PortalSelection {
  readonly fields: PortalFields;
  /** Null: whole blocks. */
  readonly logs: readonly LogFilter[] | null;
}

/** Limits of the Portal. */
const ITEMS_MAX = 100;
export const QUERY_BYTES_MAX = 262_144;
const ADDRESSES_PER_ITEM = 1_000;
/** Bytes of all other members. */
const RESERVED_BYTES = 8_192;

/** `toBlock` is inclusive. */
export function queryText({ fields, logs }: PortalSelection, { from, to }: BlockRange): string {
  const chosen = Object.fromEntries(
    Object.entries(fields)
      .filter(([, names]) => names.length > 0)
      .map(([table, names]) => [table, Object.fromEntries(names.map((name) => [name, true]))]),
  );
  const rows = logs === null ? { includeAllBlocks: true, transactions: [{}], logs: [{}] } : { logs };
  return JSON.stringify({ type: 'evm', fromBlock: from, toBlock: to, fields: chosen, ...rows });
}

/**
 * An empty list would match nothing: it is left out. Too many addresses are read as all addresses: the reader filters
 * in any case.
 */
export function logFilters({ topics, indexed = [], addresses = [] }: Omit<LogsQuery, 'range'>): LogFilter[] {
  const positions: Record<string, readonly string[]> = {};
  if (topics.length > 0) positions.topic0 = topics;
  for (const [index, wanted] of indexed.entries()) if (wanted !== null) positions[`topic${index + 1}`] = wanted;
  if (addresses.length === 0) return [positions];
  const filters: LogFilter[] = [];
  for (let at = 0; at < addresses.length; at += ADDRESSES_PER_ITEM) {
    const address = addresses.slice(at, at + ADDRESSES_PER_ITEM).map((text) => text.toLowerCase());
    filters.push({ address, ...positions });
  }
  const fits = filters.length <= ITEMS_MAX && JSON.stringify(filters).length <= QUERY_BYTES_MAX - RESERVED_BYTES;
  return fits ? filters : [positions];
}

/** Names of the Portal (evm), which are those of JSON-RPC. */
type FieldTable = 'block' | 'transaction' | 'log';
export type PortalFields = Readonly<Record<FieldTable, readonly string[]>>;

const ABSENT =
  'sendCount sendRoot mint sourceHash feeCurrency root depositNonce depositReceiptVersion gasUsedForL1'.split(
    ' ',
  );
const namesOf = (forms: Forms): readonly string[] => Object.keys(forms).filter((name) => !ABSENT.includes(name));

/** With fields of Amsterdam: a portal without them says so once. */
const BLOCK = namesOf(HEADER_FORMS);
const TRANSACTION = ['transactionIndex', ...namesOf({ ...TRANSACTION_FORMS, ...RECEIPT_FORMS })];
const LOG = ['logIndex', 'transactionIndex', 'transactionHash', 'address', 'data', 'topics'];

export const BLOCK_FIELDS: PortalFields = { block: BLOCK, transaction: TRANSACTION, log: LOG };
export const LOG_FIELDS: PortalFields = {
  block: ['number', 'hash', 'parentHash', 'timestamp'],
  transaction: [],
  log: LOG,
};

/** Without these no row has a place. */
const NEEDED: ReadonlySet<string> = new Set([
  ...['block.number', 'block.hash', 'block.parentHash', 'block.timestamp'],
  ...['transaction.transactionIndex', 'transaction.hash', 'log.logIndex', 'log.transactionIndex'],
  ...['log.transactionHash', 'log.address', 'log.data', 'log.topics'],
]);

interface RefusedField {
  readonly tables: readonly FieldTable[];
  readonly name: string;
  /** No portal of this version has it; otherwise these blocks lack it. */
  readonly isUnknown: boolean;
}

const TABLES: Readonly<Record<string, FieldTable>> = {
  blocks: 'block',
  block: 'block',
  transactions: 'transaction',
  transaction: 'transaction',
  logs: 'log',
  log: 'log',
};

/** Read from the text of a 400; null: another problem, or a field that every block needs. */
function refusedField(text: string, fields: PortalFields): RefusedField | null {
  const column = /column [`'"](\w+)[`'"] is not found in [`'"](\w+)[`'"]/.exec(text);
  const unknown = /unknown field [`'"](\w+)[`'"]/.exec(text);
  const name = toCamelCase(column?.[1] ?? unknown?.[1] ?? '');
  const table = TABLES[column?.[2] ?? ''];
  const candidates: readonly FieldTable[] = table === undefined ? ['block', 'transaction', 'log'] : [table];
  const tables = candidates.filter((key) => fields[key].includes(name) && !NEEDED.has(`${key}.${name}`));
  return tables.length === 0 ? null : { tables, name, isUnknown: column === null };
}

function withoutField(fields: PortalFields, { tables, name }: RefusedField): PortalFields {
  const left = (table: FieldTable) =>
    tables.includes(table) ? fields[table].filter((field) => field !== name) : fields[table];
  return { block: left('block'), transaction: left('transaction'), log: left('log') };
}
