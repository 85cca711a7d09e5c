import type { InnerApi } from '@chainstead/http/server';
import { z } from 'zod';
import {
  compactValue,
  cutNote,
  fitValue,
  indexedWords,
  RESULT_BYTES_MAX,
  routeError,
  rowsThatFit,
  shareRepeated,
  type ToolResult,
  toolError,
  toolResult,
} from '../results/tool-result.ts';
import type { CuratedOperation } from './curated-operations.ts';
import {
  type ApiOperation,
  dateOf,
  dateRange,
  LIMIT_DEFAULT,
  RANGE_DESCRIPTION,
  schemaOf,
  takesDates,
} from './operation-schema.ts';
import type { Tool, ToolArguments, ToolCaller } from './tool.ts';

const SMALLER_PAGES_MAX = 3;
const SHARE_OF_LIMIT = 0.8;

export interface OperationContext {
  readonly api: InnerApi;
  readonly onlyChain: string | null;
  /** Words for routes that report no coverage. Undefined: all chains. */
  coverage(chain: string | undefined): Promise<string>;
  now(): number;
}

export function operationTool(
  curated: CuratedOperation,
  described: ApiOperation,
  context: OperationContext,
): Tool {
  const operation = { ...described, fixed: curated.fixed };
  const isPaged = ['limit', 'cursor'].every((name) => operation.parameters.some(({ shown }) => shown === name));
  return {
    name: curated.tool,
    description: curated.description,
    inputSchema: schemaOf(operation),
    async call(given, caller) {
      const filled = fillArguments(operation, given, context);
      if (filled === null)
        return toolError({
          code: 'INVALID_PARAMETER',
          message: `range is not valid, or given with dates`,
          remedy: RANGE_DESCRIPTION,
        });
      const { cursor, skipped } = splitCursor(filled.cursor);
      const asked = { ...filled, cursor };
      let page = await request(context.api, operation, asked, caller);
      // A smaller page has its own cursor. The limit of a given cursor can't be changed.
      for (
        let tries = 0;
        isPaged && cursor === undefined && skipped === 0 && tries < SMALLER_PAGES_MAX;
        tries++
      ) {
        const limit = smallerLimit(page);
        if (limit === null) break;
        page = await request(context.api, operation, { ...asked, limit }, caller);
      }
      if (page.status !== 200) return routeError(page.status, withShownNames(page.body, operation));
      const coverage =
        indexedWords(page.body, page.header) ??
        (await context.coverage(typeof filled.chain === 'string' ? filled.chain : undefined));
      return show(page.body, coverage, { cursor, skipped });
    },
  };
}

export interface RouteResponse {
  readonly status: number;
  readonly body: unknown;
  readonly header: (name: string) => string | null;
}

export async function request(
  api: InnerApi,
  operation: ApiOperation,
  given: ToolArguments,
  caller: ToolCaller,
): Promise<RouteResponse> {
  const { status, body, headers } = await api.get(targetOf(operation, given), caller);
  return { status, body, header: (name) => headers.get(name) };
}

/** Adds the only chain, the limit and the times of a range. Null: invalid range. */
export function fillArguments(
  operation: ApiOperation,
  given: ToolArguments,
  { onlyChain, now }: Pick<OperationContext, 'onlyChain' | 'now'>,
): ToolArguments | null {
  const { range: words, ...others } = given;
  const has = (name: string): boolean => operation.parameters.some(({ shown }) => shown === name);
  const filled: Record<string, unknown> = { ...others };
  if (onlyChain !== null && has('chain')) filled.chain ??= onlyChain;
  // The route's cursor has both already, and times of a later call would contradict it.
  if (splitCursor(given.cursor).cursor !== undefined) {
    const { limit: _limit, from_date: _from, to_date: _to, ...continued } = filled;
    return continued;
  }
  if (has('limit')) filled.limit ??= LIMIT_DEFAULT;
  for (const name of ['date', 'from_date', 'to_date'])
    if (has(name) && typeof filled[name] === 'string') filled[name] = dateOf(filled[name], now());
  if (words === undefined || !takesDates(operation)) return filled;
  const range = typeof words === 'string' ? dateRange(words, now()) : null;
  if (range === null || given.from_date !== undefined || given.to_date !== undefined) return null;
  const needsEnd = operation.parameters.some(({ shown, isRequired }) => shown === 'to_date' && isRequired);
  return { ...filled, from_date: range.from, ...((range.hasEnd || needsEnd) && { to_date: range.to }) };
}

export function targetOf({ path, parameters, fixed }: ApiOperation, given: ToolArguments): string {
  let target = path;
  const query = new URLSearchParams(fixed);
  for (const { name, shown, place } of parameters) {
    const value = given[shown];
    if (value === undefined || value === null) continue;
    if (place === 'path') target = target.replace(`{${name}}`, () => encodeURIComponent(textOf(value)));
    else for (const [key, text] of entriesOf(name, value)) query.append(key, text);
  }
  const text = query.toString();
  return text === '' ? target : `${target}?${text}`;
}

function entriesOf(name: string, value: unknown): (readonly [name: string, text: string])[] {
  if (Array.isArray(value)) return value.map((item: unknown) => [name, textOf(item)]);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([member, item]) => [member, textOf(item)]);
  return [[name, textOf(value)]];
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function withShownNames(body: unknown, { parameters }: ApiOperation): unknown {
  if (typeof body !== 'object' || body === null || !('message' in body) || typeof body.message !== 'string')
    return body;
  let { message } = body;
  for (const { name, shown } of parameters)
    if (name !== shown) message = message.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), shown);
  return { ...body, message };
}

interface PagePlace {
  readonly cursor: string | undefined;
  readonly skipped: number;
}

/** Format: the page's cursor, `~`, rows shown. */
function splitCursor(given: unknown): PagePlace {
  if (typeof given !== 'string') return { cursor: undefined, skipped: 0 };
  const [cursor = '', skipped = '0'] = given.split('~');
  return { cursor: cursor === '' ? undefined : cursor, skipped: /^\d{1,5}$/.test(skipped) ? Number(skipped) : 0 };
}

const pageShape = z.looseObject({ result: z.array(z.unknown()), cursor: z.string().nullish() });

function smallerLimit({ body }: RouteResponse): number | null {
  const { data } = pageShape.safeParse(body);
  if (data === undefined || data.result.length < 2) return null;
  const { rows, shared } = shareRepeated(data.result.map(compactValue));
  const bytes = Buffer.byteLength(JSON.stringify([...rows, shared]));
  if (bytes <= RESULT_BYTES_MAX) return null;
  return Math.max(
    1,
    Math.min(rows.length - 1, Math.floor((rows.length * RESULT_BYTES_MAX * SHARE_OF_LIMIT) / bytes)),
  );
}

function show(body: unknown, coverage: string, place: PagePlace): ToolResult {
  if (Array.isArray(body)) return showList(body.map(compactValue), coverage);
  const { data: page } = pageShape.safeParse(body);
  if (page !== undefined) return showPage(page, coverage, place);
  const { value, note } = fitValue(compactValue(body));
  return toolResult(coverage, note === null ? [] : [`${note} Narrow the request.`], value);
}

function showList(rows: readonly unknown[], coverage: string): ToolResult {
  const count = rowsThatFit(rows.map((row) => JSON.stringify(row)));
  const shown = count === 0 && rows.length > 0 ? fitValue(rows) : { value: rows.slice(0, count), note: null };
  const notes = count === rows.length ? [] : [shown.note ?? cutNote(count, rows.length, 'Narrow the request.')];
  return toolResult(coverage, notes, shown.value);
}

const FRAME_BYTES = 2_000;

function showPage(
  page: z.infer<typeof pageShape>,
  coverage: string,
  { cursor: own, skipped }: PagePlace,
): ToolResult {
  const { result, cursor: next, indexed: _indexed, ...others } = page;
  const { rows, shared } = shareRepeated(result.slice(skipped).map(compactValue));
  const frame = fitValue(
    compactValue({ ...others, ...(Object.keys(shared).length > 0 && { all_rows: shared }) }),
    8_000,
  );
  const room = RESULT_BYTES_MAX - FRAME_BYTES - Buffer.byteLength(JSON.stringify(frame.value));
  const count = rowsThatFit(
    rows.map((row) => JSON.stringify(row)),
    room,
  );
  const isLarge = count === 0 && rows.length > 0;
  const only = fitValue(rows[0], room);
  const shown = isLarge ? [only.value] : rows.slice(0, count);
  const cursor = shown.length < rows.length ? `${own ?? ''}~${skipped + shown.length}` : next;
  const notes = [
    ...(frame.note === null ? [] : [frame.note]),
    ...(isLarge ? [only.note ?? ''] : []),
    ...(typeof cursor === 'string'
      ? ['More rows exist: call this tool again with the same arguments and `cursor` from the result.']
      : []),
  ];
  return toolResult(coverage, notes, {
    ...(frame.value as object),
    result: shown,
    ...(typeof cursor === 'string' && { cursor }),
  });
}
