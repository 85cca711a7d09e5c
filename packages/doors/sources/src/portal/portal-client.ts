import type { BlockRange } from '@chainstead/core';
import { type Clock, isObject } from '@chainstead/core';
import type { HttpStream } from '../http-stream/http-stream.ts';
import type { HttpStreams } from '../http-stream/http-streams.ts';
import { readJson } from '../http-stream/json-lines.ts';
import { readText } from '../http-stream/status-fault.ts';
import { type PortalFields, refusedField, withoutField } from './portal-fields.ts';
import { type PortalSelection, queryText } from './portal-query.ts';

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

  async function getJson(path: string, signal: AbortSignal): Promise<unknown> {
    return readJson(await http.open({ method: 'GET', path }, signal), http.fault);
  }

  function withoutUnknown(fields: PortalFields): PortalFields {
    return { ...fields, block: fields.block.filter((field) => !unknownFields.has(field)) };
  }

  return {
    http,
    clock,
    get knownHead() {
      return knownHead;
    },
    async firstBlock(signal) {
      if (startBlock !== null) return startBlock;
      const json = await getJson('/metadata', signal);
      if (!isObject(json)) throw http.fault('wrong', 'the metadata is not an object');
      startBlock = blockNumber(json.start_block ?? 0, 'start_block');
      return startBlock;
    },
    async finalizedHead(signal) {
      const json = await getJson('/finalized-head', signal);
      if (json === null) return null;
      knownHead = blockNumber(isObject(json) ? json.number : json, 'the finalized head');
      return knownHead;
    },
    async openStream(range, given, signal) {
      let selection = { ...given, fields: withoutUnknown(given.fields) };
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
