import type { BlockRange } from '@chainstead/core';
import { readJsonLines } from '../http-stream/json-lines.ts';
import { SourceError } from '../source-error.ts';
import { type CheckedLine, createLineChecks, type LineChecks } from './line-checks.ts';
import type { PortalClient, PortalStream } from './portal-client.ts';
import type { PortalFields } from './portal-fields.ts';
import type { PortalSelection } from './portal-query.ts';

export interface PortalLine extends CheckedLine {
  /** Those that the portal has for this block. */
  readonly fields: PortalFields;
  readonly bytes: number;
}

/** The seam between archive and newer blocks, or a replica that lags. */
const EMPTY_RETRY_MS = [1_000, 2_000, 4_000, 8_000];
const EMPTY_PAUSE_MS = 60_000;
/** Whole blocks come one by one; lines with a few logs are joined to pages. */
const PAGE_LINES_MAX = 1_000;
const PAGE_LOGS_MAX = 5_000;
const PAGE_BYTES_MAX = 8 * 1024 * 1024;

/** Over as many requests as it takes. Ends early if the portal has no more blocks. @throws SourceError */
export async function* portalLines(
  client: PortalClient,
  range: BlockRange,
  selection: PortalSelection,
  signal: AbortSignal,
): AsyncGenerator<PortalLine[]> {
  const { http, clock } = client;
  const checks = createLineChecks(range, selection.logs === null, http.fault);
  let empty = 0;
  while (checks.next <= range.to) {
    const from = checks.next;
    // Later blocks may have the columns that the first ones lack.
    const opened = await client.openStream({ from, to: range.to }, selection, signal);
    if (opened !== null) yield* pages(client, opened, checks);
    if (checks.next > from) {
      empty = 0;
      continue;
    }
    const head = client.knownHead ?? (await client.finalizedHead(signal));
    if (head === null || head < from) return;
    const pauseMs = EMPTY_RETRY_MS[empty++];
    if (pauseMs === undefined)
      throw http.fault('busy', `no block ${from}, with ${head} as its finalized head`, EMPTY_PAUSE_MS);
    await clock.sleep(pauseMs, signal);
  }
}

async function* pages(
  { http }: PortalClient,
  { stream, selection: { fields, logs: filters } }: PortalStream,
  checks: LineChecks,
): AsyncGenerator<PortalLine[]> {
  let page: PortalLine[] = [];
  let logs = 0;
  let size = 0;
  const start = checks.next;
  try {
    for await (const { json, bytes } of readJsonLines(stream.body, http.fault)) {
      const line = checks.accept(json);
      page.push({ ...line, fields, bytes });
      logs += line.logs.length;
      size += bytes;
      const isFull = page.length >= PAGE_LINES_MAX || logs >= PAGE_LOGS_MAX || size >= PAGE_BYTES_MAX;
      if (filters === null || isFull) {
        yield page;
        page = [];
        logs = 0;
        size = 0;
      }
    }
  } catch (error) {
    // Blocks before a cut are whole: the next request continues after them.
    const isCut = error instanceof SourceError && error.facts.fault === 'unavailable' && checks.next > start;
    if (!isCut) throw error;
  }
  if (page.length > 0) yield page;
}
