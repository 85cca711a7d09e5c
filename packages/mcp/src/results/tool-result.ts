import { RESULT_BYTES_MAX } from './fit-value.ts';

export interface ToolResult {
  /** Texts for the agent: first notes such as the covered blocks, then the data. */
  readonly texts: readonly string[];
  /** The same in the form of the output schema; absent for errors. */
  readonly structured?: StructuredResult | undefined;
  readonly isError: boolean;
}

export interface StructuredResult extends Readonly<Record<string, unknown>> {
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

/** JSON Schema of {@link StructuredResult}, short because each tool repeats it. */
export const OUTPUT_SCHEMA = {
  type: 'object',
  properties: { coverage: { type: 'string' }, data: {} },
  required: ['coverage', 'data'],
} as const;

export function cutNote(shown: number, rows: number, advice: string): string {
  return `Cut: only the first ${shown} of ${rows} rows follow, because a result has at most ${RESULT_BYTES_MAX} bytes. ${advice}`;
}
