import { z } from 'zod';

export interface ToolResult {
  readonly texts: readonly string[];
  readonly structured?: StructuredResult | undefined;
  readonly isError: boolean;
}

interface StructuredResult extends Readonly<Record<string, unknown>> {
  readonly coverage: string;
  readonly notes: readonly string[];
  readonly data: unknown;
}

export function toolResult(coverage: string, notes: readonly string[], data: unknown): ToolResult {
  return {
    texts: [[coverage, ...notes].join('\n'), JSON.stringify(data)],
    structured: { coverage, notes, data },
    isError: false,
  };
}

export const OUTPUT_SCHEMA = {
  type: 'object',
  properties: { coverage: { type: 'string' }, data: {} },
  required: ['coverage', 'data'],
} as const;

export function cutNote(shown: number, rows: number, advice: string): string {
  return `Cut: only the first ${shown} of ${rows} rows follow, because a result has at most ${RESULT_BYTES_MAX} bytes. ${advice}`;
}

type ReadHeader = (name: string) => string | null;

const digits = z.union([z.string(), z.number()]).transform(String).nullish();
const indexedShape = z.looseObject({
  indexed: z.looseObject({ from_block: digits, to_block: digits, complete: z.boolean() }),
});

const byChainShape = z.looseObject({
  chains: z.array(indexedShape.extend({ chain: z.string() })).min(1),
});

/** From the `indexed` blocks or headers of a response. Null if it reports no coverage. */
export function indexedWords(body: unknown, header: ReadHeader): string | null {
  const byChain = byChainShape.safeParse(body).data?.chains;
  if (byChain !== undefined) {
    const sentences = byChain.map(({ chain, indexed: { from_block: from, to_block: to, complete } }) =>
      sentenceOf(from ?? null, to ?? null, complete).replace(/^Coverage/, chain),
    );
    return `Coverage: ${sentences.join(' ')}`;
  }
  const { data } = indexedShape.safeParse(body);
  if (data !== undefined) {
    const { from_block: from, to_block: to, complete } = data.indexed;
    return sentenceOf(from ?? null, to ?? null, complete);
  }
  const complete = header('x-indexed-complete');
  if (complete === null) return null;
  return sentenceOf(header('x-indexed-from-block'), header('x-indexed-to-block'), complete === 'true');
}

function sentenceOf(from: string | null, to: string | null, complete: boolean): string {
  if (from === null || to === null)
    return 'Coverage: no block of this request is indexed yet. An empty result does not mean that nothing happened.';
  return complete
    ? `Coverage: complete. Every requested block is indexed (blocks ${from} to ${to}).`
    : `Coverage: incomplete. Only blocks ${from} to ${to} are indexed, so older data may be missing. The tool gaps shows the rest.`;
}

interface ToolRefusal {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly details?: unknown;
}

export function toolError(refusal: ToolRefusal): ToolResult {
  return { texts: [JSON.stringify({ error: refusal })], isError: true };
}

export function routeError(status: number, body: unknown): ToolResult {
  const answer = typeof body === 'object' && body !== null ? body : {};
  const isSetting = 'details' in answer && settingShape.safeParse(answer.details).success;
  const { code, remedy, message: usual } = isSetting ? NOT_INDEXED : (REFUSALS[status] ?? INTERNAL);
  const message = 'message' in answer && typeof answer.message === 'string' ? answer.message : usual;
  return toolError({ code, message, remedy, ...('details' in answer && { details: answer.details }) });
}

const settingShape = z.looseObject({ reason: z.literal('not-indexed'), configuration_key: z.string() });

const NOT_INDEXED: ToolRefusal = {
  code: 'NOT_INDEXED',
  message: 'The data is not indexed',
  remedy: 'This server does not index such data. Use another tool or chain, or name the setting to the operator.',
};

const INTERNAL: ToolRefusal = {
  code: 'INTERNAL',
  message: 'Internal error',
  remedy: 'Retry once. If the error repeats, report it to the operator, who finds it in the application log.',
};

const UNAVAILABLE: ToolRefusal = {
  code: 'UNAVAILABLE',
  message: 'Temporarily unavailable',
  remedy: 'Wait a few seconds, then call the tool again.',
};

/** By HTTP status; messages are for responses without one. 202: data is being counted. */
const REFUSALS: Readonly<Record<number, ToolRefusal>> = {
  202: UNAVAILABLE,
  400: {
    code: 'INVALID_PARAMETER',
    message: 'An argument is not valid',
    remedy: 'Correct the arguments that the message names, then call the tool again.',
  },
  404: {
    code: 'NOT_FOUND',
    message: 'There is no such data',
    remedy: 'Check the address, name or chain. Call the tool status to see which chains and blocks are indexed.',
  },
  413: {
    code: 'TOO_LARGE',
    message: 'The request or its result is too large',
    remedy: 'Request less: a shorter list, fewer blocks, or a smaller limit.',
  },
  429: {
    code: 'RATE_LIMITED',
    message: 'Too many requests',
    remedy: 'Wait for the time in the message, then call the tool again.',
  },
  501: {
    code: 'NOT_AVAILABLE',
    message: 'This server does not offer the operation',
    remedy: 'The operator has to change the setting that the message names.',
  },
  503: UNAVAILABLE,
};

/** Bytes of UTF-8, about 7,500 tokens. */
export const RESULT_BYTES_MAX = 30_000;

type Members = Readonly<Record<string, unknown>>;

const LEFT_OUT = /^(?:block_?hash|.*logo.*|thumbnail|page_?size|logs_?bloom|.*_label|.*_entity)$/i;

/** Drops nulls in objects, hashes of blocks, pictures and labels. */
export function compactValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compactValue);
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === null || LEFT_OUT.test(name) ? [] : [[name, compactValue(member)]],
    ),
  );
}

export function shareRepeated(rows: readonly unknown[]): {
  readonly rows: readonly unknown[];
  readonly shared: Members;
} {
  const [first] = rows;
  if (rows.length < 2 || !isMembers(first) || !rows.every(isMembers)) return { rows, shared: {} };
  const shared = Object.entries(first).filter(([name, value]) => {
    const text = JSON.stringify(value);
    return rows.every((row) => JSON.stringify(row[name]) === text);
  });
  if (shared.length === 0 || shared.length === Object.keys(first).length) return { rows, shared: {} };
  const names = new Set(shared.map(([name]) => name));
  return {
    rows: rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name)))),
    shared: Object.fromEntries(shared),
  };
}

/** @returns how many first rows fit as a JSON array @param rows JSON texts */
export function rowsThatFit(rows: readonly string[], bytesMax = RESULT_BYTES_MAX): number {
  let bytes = 2;
  for (const [index, row] of rows.entries()) {
    bytes += Buffer.byteLength(row) + (index === 0 ? 0 : 1);
    if (bytes > bytesMax) return index;
  }
  return rows.length;
}

/** A value too large as JSON is cut to the start of its lists and long texts. */
export function fitValue(
  value: unknown,
  bytesMax = RESULT_BYTES_MAX,
): { readonly value: unknown; readonly note: string | null } {
  if (bytesOf(value) <= bytesMax) return { value, note: null };
  for (const elements of [50, 20, 10, 5, 2, 1, 0]) {
    const characters = Math.max(20, 40 * elements);
    const cut = startOf(value, elements, characters);
    const note = `Cut: the data is larger than ${bytesMax} bytes. Lists show at most ${elements} elements, and texts ${characters} characters.`;
    if (bytesOf(cut) <= bytesMax) return { value: cut, note };
  }
  return { value: null, note: `Cut: the data is larger than ${bytesMax} bytes, and no part of it fits.` };
}

function startOf(value: unknown, elements: number, characters: number): unknown {
  if (typeof value === 'string')
    return value.length > characters ? `${value.slice(0, characters).toWellFormed()}…` : value;
  if (Array.isArray(value))
    return value.slice(0, elements).map((element) => startOf(element, elements, characters));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MEMBERS_MAX)
      .map(([name, member]) => [name.slice(0, 100), startOf(member, elements, characters)]),
  );
}

const MEMBERS_MAX = 100;

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
