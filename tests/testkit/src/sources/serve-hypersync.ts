import type { ChainSource, JsonObject, SourceBlock } from '../nodes/chain-source.ts';
import { type HyperSyncBlock, hyperSyncBlock, selectedColumns } from './hypersync-rows.ts';
import type { ServeSourceOptions } from './serve-portal.ts';
import { createSourceFaults, type SourceFaults } from './source-faults.ts';
import { type SourceAnswer, type SourceRequest, type SourceServer, startSourceServer } from './source-server.ts';

interface LogFilter {
  readonly address?: readonly string[];
  readonly topics?: readonly (readonly string[])[];
}

interface Query {
  readonly from_block: number;
  readonly to_block?: number;
  readonly include_all_blocks?: boolean;
  readonly logs?: readonly LogFilter[];
  readonly transactions?: readonly unknown[];
  readonly max_num_blocks?: number;
  readonly field_selection: Readonly<Record<string, readonly string[]>>;
}

/** A HyperSync over the finalized blocks of a chain. @param options.token required for queries; default: none */
export async function serveHyperSync(
  source: ChainSource,
  options: ServeSourceOptions & { readonly token?: string } = {},
): Promise<SourceServer> {
  const faults = createSourceFaults(options.seed ?? 1, options.faults);
  return startSourceServer({
    faults,
    port: options.port ?? 0,
    isQuery: ({ path }) => path === '/query',
    answer: (request) => answerOf(source, faults, request, options.token),
  });
}

function answerOf(
  source: ChainSource,
  faults: SourceFaults,
  { path, body, headers }: SourceRequest,
  token: string | undefined,
): SourceAnswer {
  const { settings } = faults;
  if (path === '/height') return json(200, { height: source.finalized });
  if (path === '/chain_id') return json(200, { chain_id: settings.wrongChainId ?? source.chainId });
  if (path !== '/query') return json(404, { error: 'not found' });
  if (token !== undefined && headers.authorization !== `Bearer ${token}`)
    return json(401, { error: `unauthorized: ${headers.authorization ?? 'no token'}` });
  const query: Query = JSON.parse(body);
  const from = query.from_block;
  const head = Math.min(source.finalized ?? -1, settings.servedTo ?? Number.POSITIVE_INFINITY);
  const to = Math.min((query.to_block ?? Number.POSITIVE_INFINITY) - 1, source.finalized ?? -1);
  if (settings.tooLargeBlocks !== null && to - from + 1 > settings.tooLargeBlocks)
    return json(413, { error: 'response too large' });
  const limit = Math.min(settings.pageBlocks ?? Number.POSITIVE_INFINITY, query.max_num_blocks ?? 1_000);
  const blocks: SourceBlock[] = [];
  for (let number = from; number <= Math.min(to, head, from + limit - 1); number++) {
    const block = source.blockAt(number);
    if (block === undefined) break;
    blocks.push(block);
  }
  if (faults.roll('empty')) blocks.length = 0;
  return json(200, {
    data: batchesOf(blocks, query, faults),
    archive_height: blocks.length === 0 ? Math.min(head, from - 1) : head,
    next_block: from + blocks.length,
    total_execution_time: 1,
    rollback_guard: guardOf(blocks),
  });
}

/** Two batches, the later blocks first, with a row of the other: readers must merge and sort. */
function batchesOf(blocks: readonly SourceBlock[], query: Query, faults: SourceFaults): JsonObject[] {
  const { nestedLists, tamper } = faults.settings;
  const lines = blocks.flatMap((block) => {
    const line = chosen(hyperSyncBlock(block, nestedLists), query);
    const sent = line === null || tamper === null ? line : tamper({ ...line });
    return sent === null ? [] : [sent as unknown as HyperSyncBlock];
  });
  const half = lines.length >> 1;
  const batches = half === 0 ? [lines] : [lines.slice(half), lines.slice(0, half + 1)];
  return batches.map((batch) => ({
    blocks: batch.map(({ header }) => header),
    transactions: batch.flatMap(({ transactions }) => transactions).toReversed(),
    logs: batch.flatMap(({ logs }) => logs),
    traces: [],
  }));
}

function chosen({ header, transactions, logs }: HyperSyncBlock, query: Query): HyperSyncBlock | null {
  const { block = [], transaction = [], log = [] } = query.field_selection;
  const matching = logs.filter((row) => (query.logs ?? []).some((filter) => matches(row, filter)));
  if (query.include_all_blocks !== true && matching.length === 0) return null;
  return {
    header: selectedColumns(header, block),
    transactions:
      (query.transactions ?? []).length === 0 ? [] : transactions.map((row) => selectedColumns(row, transaction)),
    logs: matching.map((row) => selectedColumns(row, log)),
  };
}

/** An empty list matches any. */
function matches(row: JsonObject, { address = [], topics = [] }: LogFilter): boolean {
  const isOne = (wanted: readonly string[], value: unknown) =>
    wanted.length === 0 || wanted.some((text) => text.toLowerCase() === value);
  return isOne(address, row.address) && topics.every((wanted, at) => isOne(wanted, row[`topic${at}`]));
}

function guardOf(blocks: readonly SourceBlock[]): JsonObject | null {
  const [first] = blocks;
  const last = blocks.at(-1);
  if (first === undefined || last === undefined) return null;
  return {
    block_number: last.number,
    timestamp: Number(last.header.timestamp),
    hash: last.hash,
    first_block_number: first.number,
    first_parent_hash: first.header.parentHash,
  };
}

function json(status: number, value: unknown): SourceAnswer {
  return { status, lines: [JSON.stringify(value)], headers: { 'content-type': 'application/json' } };
}
