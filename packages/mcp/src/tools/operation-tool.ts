import type { InnerApi } from '@chainstead/http';
import { z } from 'zod';
import { fitRows, fitText, RESULT_BYTES_MAX } from '../results/fit-text.ts';
import { indexedWords } from '../results/indexed-words.ts';
import { routeError } from '../results/tool-error.ts';
import type { ToolResult } from '../results/tool-result.ts';
import type { CuratedOperation } from './curated-operations.ts';
import { LIMIT_DEFAULT, type Operation, schemaOf } from './operation-schema.ts';
import type { Tool, ToolArguments, ToolCaller } from './tool.ts';

/** Pages are requested again with fewer rows at most this often until they fit. */
const SMALLER_PAGES_MAX = 3;
/** Share of the limit that a smaller page aims at: rows differ in size. */
const SHARE_OF_LIMIT = 0.8;

/** Returns a tool that requests an operation from the API's own routes, on behalf of the caller. */
export function operationTool(curated: CuratedOperation, operation: Operation, api: InnerApi): Tool {
  const isPaged = ['limit', 'cursor'].every((name) => operation.parameters.some((one) => one.name === name));
  return {
    name: curated.tool,
    description: curated.description,
    inputSchema: schemaOf(operation),
    async call(given, caller) {
      let page = await request(api, operation, withLimit(operation, given), caller);
      // A smaller page has its own cursor, so no row is lost. The limit of a given cursor can't be changed.
      for (let tries = 0; isPaged && given.cursor === undefined && tries < SMALLER_PAGES_MAX; tries++) {
        const limit = smallerLimit(page);
        if (limit === null) break;
        page = await request(api, operation, { ...given, limit }, caller);
      }
      return page.status === 200 ? show(page, isPaged) : routeError(page.status, page.body);
    },
  };
}

interface Page {
  readonly status: number;
  readonly body: unknown;
  readonly header: (name: string) => string | null;
}

async function request(api: InnerApi, operation: Operation, given: ToolArguments, caller: ToolCaller): Promise<Page> {
  const { status, body, headers } = await api.get(targetOf(operation, given), caller);
  return { status, body, header: (name) => headers.get(name) };
}

function withLimit({ parameters }: Operation, given: ToolArguments): ToolArguments {
  const hasLimit = parameters.some(({ name }) => name === 'limit');
  return hasLimit && given.limit === undefined && given.cursor === undefined
    ? { ...given, limit: LIMIT_DEFAULT }
    : given;
}

/** Returns path and query of a request. */
export function targetOf({ path, parameters }: Operation, given: ToolArguments): string {
  let target = path;
  const query = new URLSearchParams();
  for (const { name, place } of parameters) {
    const value = given[name];
    if (value === undefined || value === null) continue;
    if (place === 'path') target = target.replace(`{${name}}`, () => encodeURIComponent(textOf(value)));
    else for (const [key, text] of entriesOf(name, value)) query.append(key, text);
  }
  const text = query.toString();
  return text === '' ? target : `${target}?${text}`;
}

/** A list is repeated, and members of an object are parameters themselves, as the document declares. */
function entriesOf(name: string, value: unknown): (readonly [name: string, text: string])[] {
  if (Array.isArray(value)) return value.map((item: unknown) => [name, textOf(item)]);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([member, item]) => [member, textOf(item)]);
  return [[name, textOf(value)]];
}

/** Values of another kind are shown to the route, which refuses them by name. */
function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const pageShape = z.looseObject({ result: z.array(z.unknown()), cursor: z.string().nullish() });

/** @returns null if the page fits, or has no rows to leave out */
function smallerLimit({ body }: Page): number | null {
  const rows = pageShape.safeParse(body).data?.result.length ?? 0;
  if (rows < 2) return null;
  const bytes = Buffer.byteLength(JSON.stringify(body));
  if (bytes <= RESULT_BYTES_MAX) return null;
  return Math.max(1, Math.min(rows - 1, Math.floor((rows * RESULT_BYTES_MAX * SHARE_OF_LIMIT) / bytes)));
}

function show({ body, header }: Page, isPaged: boolean): ToolResult {
  const coverage = indexedWords(body, header);
  const data = Array.isArray(body)
    ? fitRows(body.map((row: unknown) => JSON.stringify(row)))
    : fitText(JSON.stringify(body));
  const cursor = pageShape.safeParse(body).data?.cursor;
  const notes = [
    coverage ?? 'Coverage: not reported by this tool. The tool status shows the indexed blocks.',
    ...(data.isCut ? [cutNote(data.shown, Array.isArray(body) ? body.length : null, isPaged)] : []),
    ...(typeof cursor === 'string' && !data.isCut
      ? ['More rows exist: call this tool again with `cursor` from the result.']
      : []),
  ];
  return { texts: [notes.join('\n'), data.text], isError: false };
}

function cutNote(shown: number | null, rows: number | null, isPaged: boolean): string {
  const part =
    shown === null || rows === null
      ? `Cut: the data is larger than ${RESULT_BYTES_MAX} bytes, so only its start follows, which is no valid JSON.`
      : `Cut: only the first ${shown} of ${rows} rows follow, because all of them are larger than ${RESULT_BYTES_MAX} bytes.`;
  return `${part} ${isPaged ? 'Call this tool again with a smaller `limit` and without `cursor`.' : 'Narrow the request.'}`;
}
