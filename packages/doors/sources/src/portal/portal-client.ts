import { type BlockRange, type Clock, isObject } from '@chainstead/core';
import type { Json } from '../conversion/forms.ts';
import type { HttpStream, HttpStreams } from '../http-stream/http-streams.ts';
import { readJson, readJsonLines } from '../http-stream/json-lines.ts';
import { readText } from '../http-stream/status-fault.ts';
import { SourceError } from '../source-error.ts';
import { type CheckedLine, createLineChecks, type LineChecks } from './line-checks.ts';
import { type PortalFields, refusedField, withoutField } from './portal-fields.ts';
import { type PortalSelection, queryText } from './portal-query.ts';

export interface PortalLine extends CheckedLine {
  /** Those that the portal has for this block. */
  readonly fields: PortalFields;
}

export interface PortalClient {
  /** @throws SourceError */
  firstBlock(signal: AbortSignal): Promise<number>;
  /** Null: none. @throws SourceError */
  finalizedHead(signal: AbortSignal): Promise<number | null>;
  /** Ends early if the portal has no more blocks. @throws SourceError */
  lines(range: BlockRange, selection: PortalSelection, signal: AbortSignal): AsyncGenerator<PortalLine[]>;
  /** Fields that this portal does not know at all. */
  readonly unknownFields: ReadonlySet<string>;
}

/** The seam between archive and newer blocks, or a replica that lags. */
const EMPTY_RETRY_MS = [1_000, 2_000, 4_000, 8_000];
const EMPTY_PAUSE_MS = 60_000;
const FIELD_REFUSALS_MAX = 40;
/** Whole blocks go on one by one; lines with a few logs are joined to pages. */
const PAGE_LINES_MAX = 1_000;
const PAGE_LOGS_MAX = 5_000;

export function createPortalClient(http: HttpStreams, clock: Pick<Clock, 'sleep'>): PortalClient {
  const unknownFields = new Set<string>();
  let head: number | null = null;

  async function finalizedHead(signal: AbortSignal): Promise<number | null> {
    const json = await readJson(await http.open({ method: 'GET', path: '/finalized-head' }, signal), http.fault);
    if (json === null) return null;
    const number = isObject(json) ? json.number : undefined;
    head = blockNumber(number, 'the finalized head');
    return head;
  }

  function blockNumber(value: unknown, what: string): number {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw http.fault('wrong', `${what} is ${JSON.stringify(value)?.slice(0, 80)}`);
  }

  /** Null: nothing there yet. */
  async function openStream(
    range: BlockRange,
    given: PortalSelection,
    signal: AbortSignal,
  ): Promise<{ readonly stream: HttpStream; readonly selection: PortalSelection } | null> {
    let selection = given;
    for (let refusals = 0; ; refusals++) {
      const stream = await http.open(
        {
          method: 'POST',
          path: '/finalized-stream',
          body: queryText(selection, range),
          accepted: [200, 204, 400, 409, 422],
        },
        signal,
      );
      if (stream.status === 200) {
        const seen = Number(stream.header('x-sqd-finalized-head-number') ?? Number.NaN);
        if (Number.isSafeInteger(seen)) head = Math.max(head ?? 0, seen);
        return { stream, selection };
      }
      const text = await readText(stream.body);
      if (stream.status === 204) return null;
      // A stream of finalized blocks has no other branch.
      if (stream.status === 409) throw http.fault('wrong', `HTTP 409 for finalized blocks: ${text}`);
      const field = refusedField(text, selection.fields);
      if (field === null || refusals >= FIELD_REFUSALS_MAX)
        throw http.fault('refused', `HTTP ${stream.status}: ${text}`);
      if (field.isUnknown) unknownFields.add(field.name);
      selection = { ...selection, fields: withoutField(selection.fields, field) };
    }
  }

  async function* lines(
    range: BlockRange,
    given: PortalSelection,
    signal: AbortSignal,
  ): AsyncGenerator<PortalLine[]> {
    const isWhole = given.logs === null;
    const checks = createLineChecks(range, isWhole, http.fault);
    let selection = given;
    let empty = 0;
    while (checks.next <= range.to) {
      const from = checks.next;
      const opened = await openStream({ from, to: range.to }, selection, signal);
      if (opened !== null) {
        selection = opened.selection;
        yield* batches(opened.stream, { fields: selection.fields, isWhole }, checks);
      }
      if (checks.next > from) {
        empty = 0;
        continue;
      }
      head ??= await finalizedHead(signal);
      if (head === null || head < from) return;
      const pauseMs = EMPTY_RETRY_MS[empty++];
      if (pauseMs === undefined)
        throw http.fault('busy', `no block ${from}, with ${head} as its finalized head`, EMPTY_PAUSE_MS);
      await clock.sleep(pauseMs, signal);
    }
  }

  async function* batches(
    stream: HttpStream,
    { fields, isWhole }: { readonly fields: PortalFields; readonly isWhole: boolean },
    checks: LineChecks,
  ): AsyncGenerator<PortalLine[]> {
    let batch: PortalLine[] = [];
    let logs = 0;
    const start = checks.next;
    try {
      for await (const json of readJsonLines(stream.body, http.fault)) {
        const line = checks.accept(json);
        batch.push({ ...line, fields });
        logs += line.logs.length;
        if (isWhole || batch.length >= PAGE_LINES_MAX || logs >= PAGE_LOGS_MAX) {
          yield batch;
          batch = [];
          logs = 0;
        }
      }
    } catch (error) {
      // Blocks before a cut are whole: the next request continues after them.
      const isCut = error instanceof SourceError && error.facts.fault === 'unavailable' && checks.next > start;
      if (!isCut) throw error;
    }
    if (batch.length > 0) yield batch;
  }

  return {
    unknownFields,
    finalizedHead,
    lines,
    async firstBlock(signal) {
      const stream = await http.open({ method: 'GET', path: '/metadata' }, signal);
      const json: unknown = await readJson(stream, http.fault);
      if (!isObject(json)) throw http.fault('wrong', 'the metadata is not an object');
      return blockNumber((json as Json).start_block ?? 0, 'start_block');
    },
  };
}
