import { type BlockRange, rangeSize } from '@chainstead/core';
import { defineApiError } from '@chainstead/http';
import type { BlockPreview, PreviewBlock } from '../stream-services.ts';

export interface RangePreview {
  readonly range: BlockRange;
  readonly looked: number;
  readonly absent: readonly number[];
  /** Blocks. Each would have sent one webhook, and another once confirmed. */
  readonly matched: number;
  readonly items: Readonly<Record<string, number>>;
  readonly webhooks: readonly { readonly blockNumber: number; readonly body: string }[];
}

export const PREVIEW_BLOCKS_MAX = 100;
const WEBHOOKS_SHOWN = 10;
const READS_IN_FLIGHT = 8;
const DEADLINE_MS = 12_000;

export class PreviewTooLongError extends defineApiError('PREVIEW_TOO_LONG', (blocks: number) => ({
  status: 400,
  message: `The range has ${blocks} blocks, but a preview looks at ${PREVIEW_BLOCKS_MAX} at most: choose a shorter range, or replay the stream with a historical job`,
  details: { blocks, limit: PREVIEW_BLOCKS_MAX },
})) {}

/** @throws PreviewTooLongError, and errors of `previewBlock` if no node responds */
export async function previewRange(
  previewBlock: PreviewBlock,
  request: Omit<Parameters<PreviewBlock>[0], 'blockNumber'> & { readonly range: BlockRange },
  deadlineMs: number = DEADLINE_MS,
): Promise<RangePreview> {
  const { range, ...requested } = request;
  if (rangeSize(range) > PREVIEW_BLOCKS_MAX) throw new PreviewTooLongError(rangeSize(range));
  const started = performance.now();
  const read: { readonly number: number; readonly preview: BlockPreview }[] = [];
  for (let from = range.from; from <= range.to; from += READS_IN_FLIGHT) {
    const numbers = Array.from(
      { length: Math.min(READS_IN_FLIGHT, range.to - from + 1) },
      (_, index) => from + index,
    );
    const previews = await Promise.all(
      numbers.map(async (number) => ({
        number,
        preview: await previewBlock({ ...requested, blockNumber: number }),
      })),
    );
    read.push(...previews);
    if (performance.now() - started > deadlineMs) break;
  }
  const bodies = read.flatMap(({ number, preview }) =>
    preview.found && preview.body !== null ? [{ number, body: preview.body }] : [],
  );
  return {
    range,
    looked: read.length,
    absent: read.filter(({ preview }) => !preview.found).map(({ number }) => number),
    matched: bodies.length,
    items: countItems(bodies.map(({ body }) => body)),
    webhooks: bodies
      .slice(0, WEBHOOKS_SHOWN)
      .map(({ number, body }) => ({ blockNumber: number, body: JSON.stringify(body) })),
  };
}

function countItems(bodies: readonly Readonly<Record<string, unknown>>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const body of bodies)
    for (const [name, list] of Object.entries(body))
      if (Array.isArray(list) && name !== 'abi') counts[name] = (counts[name] ?? 0) + list.length;
  return counts;
}
