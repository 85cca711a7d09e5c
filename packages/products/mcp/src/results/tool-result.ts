import { z } from 'zod';
import { RESULT_BYTES_MAX } from './fit-value.ts';

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
