import type { ChainSource, JsonObject, SourceBlock } from '../nodes/chain-source.ts';
import { PORTAL_FIELDS, type PortalBlock, portalBlock, selected } from './portal-rows.ts';
import { createSourceFaults, type SourceFaultSettings, type SourceFaults } from './source-faults.ts';
import { type SourceAnswer, type SourceRequest, type SourceServer, startSourceServer } from './source-server.ts';

export interface ServeSourceOptions {
  readonly faults?: Partial<SourceFaultSettings>;
  /** Default 1. */
  readonly seed?: number;
  /** Default: any free one. */
  readonly port?: number;
}

const DATASET_PATH = '/datasets/testkit';
const QUERY_MEMBERS = new Set(
  ['type', 'fromBlock', 'toBlock', 'parentBlockHash', 'includeAllBlocks', 'fields'].concat([
    'transactions',
    'logs',
    'traces',
    'stateDiffs',
  ]),
);
const QUERY_BYTES_MAX = 262_144;
const ITEMS_MAX = 100;
const TABLES: Readonly<Record<string, string>> = { block: 'blocks', transaction: 'transactions', log: 'logs' };

interface Query {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly isWhole: boolean;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly transactions: readonly Filter[];
  readonly logs: readonly Filter[];
}

type Filter = Readonly<Record<string, readonly string[]>>;

/** An SQD Portal over the finalized blocks of a chain. `url` is that of its dataset. */
export async function servePortal(source: ChainSource, options: ServeSourceOptions = {}): Promise<SourceServer> {
  const faults = createSourceFaults(options.seed ?? 1, options.faults);
  const server = await startSourceServer({
    faults,
    port: options.port ?? 0,
    isQuery: ({ method }) => method === 'POST',
    answer: (request) => answerOf(source, faults, request),
  });
  return { ...server, url: `${server.url}${DATASET_PATH}` };
}

function answerOf(source: ChainSource, faults: SourceFaults, { path, body }: SourceRequest): SourceAnswer {
  const head = source.finalized === null ? undefined : source.blockAt(source.finalized);
  const headJson = head === undefined ? null : { number: head.number, hash: head.hash };
  if (path === `${DATASET_PATH}/finalized-head` || path === `${DATASET_PATH}/head`) return json(headJson);
  if (path === `${DATASET_PATH}/metadata` || path === DATASET_PATH)
    return json({ dataset: 'testkit', aliases: [], real_time: true, start_block: source.firstBlock });
  if (path !== `${DATASET_PATH}/finalized-stream`) return text(404, 'Unknown dataset');
  const query = parseQuery(body, faults.settings);
  if ('status' in query) return query;
  const last = Math.min(
    query.toBlock,
    head?.number ?? -1,
    faults.settings.servedTo ?? Number.POSITIVE_INFINITY,
    query.fromBlock + (faults.settings.pageBlocks ?? Number.POSITIVE_INFINITY) - 1,
  );
  const blocks = consecutive(source, query.fromBlock, last);
  if (blocks.length === 0 || faults.roll('empty')) return { status: 204, lines: [] };
  const headers: Record<string, string> = {
    'x-sqd-finalized-head-number': String(head?.number ?? 0),
    'x-sqd-finalized-head-hash': head?.hash ?? '',
  };
  return { status: 200, headers, lines: linesOf(blocks, query, faults.settings.tamper) };
}

/** Up to the first block that the source lacks. */
function consecutive(source: ChainSource, from: number, to: number): SourceBlock[] {
  const blocks: SourceBlock[] = [];
  for (let number = from; number <= to; number++) {
    const block = source.blockAt(number);
    if (block === undefined) break;
    blocks.push(block);
  }
  return blocks;
}

function linesOf(blocks: readonly SourceBlock[], query: Query, tamper: SourceFaultSettings['tamper']): string[] {
  return blocks.flatMap((block, index) => {
    const { header, transactions, logs } = portalBlock(block);
    const rows: PortalBlock = {
      header,
      transactions: query.transactions.length > 0 ? transactions : [],
      logs: logs.filter((log) => query.logs.some((filter) => matches(log, filter))),
    };
    const isCursor = index === 0 || index === blocks.length - 1;
    if (!query.isWhole && !isCursor && rows.logs.length === 0 && rows.transactions.length === 0) return [];
    const line = lineOf(rows, query.fields);
    const sent = tamper === null ? line : tamper(line);
    return sent === null ? [] : [JSON.stringify(sent)];
  });
}

function lineOf({ header, transactions, logs }: PortalBlock, fields: Query['fields']): JsonObject {
  const line: Record<string, unknown> = {
    header: selected(header, [...new Set(['number', 'hash', ...(fields.block ?? [])])]),
  };
  if (transactions.length > 0)
    line.transactions = transactions.map((row) => selected(row, fields.transaction ?? []));
  if (logs.length > 0) line.logs = logs.map((row) => selected(row, fields.log ?? []));
  return line;
}

/** Values of a member are alternatives; an empty list matches nothing. */
function matches(log: JsonObject, filter: Filter): boolean {
  const topics = log.topics as readonly string[];
  return Object.entries(filter).every(([member, values]) => {
    const value = member === 'address' ? String(log.address) : topics[Number(member.slice('topic'.length))];
    return value !== undefined && values.some((wanted) => wanted.toLowerCase() === value.toLowerCase());
  });
}

function parseQuery(body: string, { missingColumns }: SourceFaultSettings): Query | SourceAnswer {
  if (Buffer.byteLength(body) > QUERY_BYTES_MAX) return text(400, 'Query is too large');
  const query: JsonObject = JSON.parse(body);
  const unknown = Object.keys(query).find((name) => !QUERY_MEMBERS.has(name));
  if (unknown !== undefined) return text(400, `unknown field \`${unknown}\``);
  const { fromBlock, toBlock = Number.MAX_SAFE_INTEGER, fields = {} } = query;
  if (typeof fromBlock !== 'number' || typeof toBlock !== 'number') return text(400, 'missing field `fromBlock`');
  if (toBlock < fromBlock) return text(400, 'got "toBlock" < "fromBlock"');
  const chosen: Record<string, string[]> = {};
  for (const [table, names] of Object.entries(fields as Readonly<Record<string, JsonObject>>)) {
    chosen[table] = Object.keys(names);
    const refused = chosen[table].find((name) => PORTAL_FIELDS[table]?.has(name) !== true);
    if (refused !== undefined) return text(400, `unknown field \`${refused}\``);
    const column = chosen[table].find((name) => missingColumns.includes(`${TABLES[table]}.${name}`));
    if (column !== undefined)
      return text(400, `column '${snakeCase(column)}' is not found in '${TABLES[table] ?? table}'`);
  }
  const transactions = (query.transactions ?? []) as readonly Filter[];
  const logs = (query.logs ?? []) as readonly Filter[];
  if (transactions.length + logs.length > ITEMS_MAX) return text(400, `only ${ITEMS_MAX} items are allowed`);
  return { fromBlock, toBlock, isWhole: query.includeAllBlocks === true, fields: chosen, transactions, logs };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function json(value: unknown): SourceAnswer {
  return { status: 200, lines: [JSON.stringify(value)], headers: { 'content-type': 'application/json' } };
}

function text(status: number, message: string): SourceAnswer {
  return { status, lines: [message], headers: { 'content-type': 'text/plain' } };
}
