import { type BlockRange, type Clock, isObject } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import { type Forms, toSnakeCase } from '../conversion/forms.ts';
import { RECEIPT_FORMS, TRANSACTION_FORMS } from '../conversion/receipt-json.ts';
import { HEADER_FORMS } from '../conversion/source-block.ts';
import { readText } from '../http-stream/http-stream.ts';
import type { HttpStreams } from '../http-stream/http-streams.ts';
import { getJson, readJsonBody } from '../http-stream/json-lines.ts';
import { SourceError } from '../source-error.ts';
import { type HyperSyncPage, readPage } from './hypersync-page.ts';

export interface HyperSyncClient {
  readonly http: HttpStreams;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Null: none yet. @throws SourceError */
  height(signal: AbortSignal): Promise<number | null>;
  /** From `range.from`, as far as the service likes. @throws SourceError */
  page(range: BlockRange, selection: HyperSyncSelection, signal: AbortSignal): Promise<HyperSyncPage>;
}

const TOO_LARGE = 413;

export function createHyperSyncClient(
  http: HttpStreams,
  { chainId, clock }: { readonly chainId: number; readonly clock: Pick<Clock, 'sleep'> },
): HyperSyncClient {
  let isChecked = false;
  /** Blocks of a request, after a response was refused as too large. */
  let blocksMax = Number.POSITIVE_INFINITY;

  async function checkChain(signal: AbortSignal): Promise<void> {
    if (isChecked) return;
    const json = await getJson(http, '/chain_id', signal);
    const given = isObject(json) ? Number(json.chain_id) : Number.NaN;
    if (given !== chainId) throw http.fault('refused', `serves chain ${given}, not ${chainId}`);
    isChecked = true;
  }

  return {
    http,
    clock,
    async height(signal) {
      await checkChain(signal);
      const json = await getJson(http, '/height', signal);
      const height = isObject(json) ? json.height : undefined;
      if (height === null) return null;
      if (typeof height !== 'number' || !Number.isSafeInteger(height) || height < 0)
        throw http.fault('wrong', 'the height is not a block number');
      return height;
    },
    async page({ from, to }, selection, signal) {
      await checkChain(signal);
      for (;;) {
        const asked = { from, to: Math.min(to, from + blocksMax - 1) };
        const blocks = asked.to - from + 1;
        const stream = await http.open(
          { method: 'POST', path: '/query', body: queryText(selection, asked), accepted: [200, TOO_LARGE] },
          signal,
        );
        if (stream.status === TOO_LARGE) {
          const text = await readText(stream.body);
          if (blocks === 1) throw http.fault('unavailable', `HTTP ${TOO_LARGE} for block ${from} alone: ${text}`);
        } else {
          const body = await readJsonBody(stream, http.fault).catch((error: unknown) => {
            if (blocks > 1 && error instanceof SourceError && error.facts.fault === 'too-large') return null;
            throw error;
          });
          if (body !== null) {
            const page = readPage(body, asked, http.fault);
            blocksMax *= 2;
            return page;
          }
        }
        blocksMax = Math.floor(blocks / 2);
      }
    },
  };
}

/** Fields since Pectra and Amsterdam, and of Celo, which HyperSync does not have. */
export const ABSENT_FIELDS: ReadonlySet<string> = new Set([
  'requestsHash',
  'blockAccessListHash',
  'slotNumber',
  'feeCurrency',
]);

const namesOf = (forms: Forms): readonly string[] =>
  Object.keys(forms)
    .filter((name) => !ABSENT_FIELDS.has(name))
    .map(toSnakeCase);
const PLACE = ['block_hash', 'block_number', 'transaction_index'];
const LOG = [...PLACE, ...'log_index transaction_hash address data topic0 topic1 topic2 topic3'.split(' ')];

/** A page ends after the block that reaches one of them. */
const PAGE_LIMITS = { max_num_blocks: 2_000, max_num_transactions: 20_000, max_num_logs: 50_000 };

/** Everything of the request but the range. */
export type HyperSyncSelection = Readonly<Record<string, unknown>> & { readonly include_all_blocks: boolean };

export const WHOLE_BLOCKS: HyperSyncSelection = {
  include_all_blocks: true,
  transactions: [{}],
  logs: [{}],
  join_mode: 'JoinNothing',
  field_selection: {
    block: namesOf(HEADER_FORMS),
    transaction: [...PLACE, ...namesOf({ ...TRANSACTION_FORMS, ...RECEIPT_FORMS })],
    log: LOG,
  },
};

/** Blocks of the logs come with them. An empty inner list matches any. */
export function filteredLogs({
  topics,
  indexed = [],
  addresses = [],
}: Omit<LogsQuery, 'range'>): HyperSyncSelection {
  const positions = [topics, ...indexed.map((wanted) => wanted ?? [])];
  const address = addresses.length === 0 ? {} : { address: addresses };
  return {
    include_all_blocks: false,
    logs: [{ ...address, topics: positions }],
    join_mode: 'Default',
    field_selection: { block: ['number', 'hash', 'parent_hash', 'timestamp'], log: LOG },
  };
}

/** `to_block` is exclusive. */
function queryText(selection: HyperSyncSelection, { from, to }: BlockRange): string {
  return JSON.stringify({ from_block: from, to_block: to + 1, ...selection, ...PAGE_LIMITS });
}
