import { type BlockRange, rangeSize } from '@chainstead/core';
import { ApiError } from '@chainstead/http';
import type { BlockPreview, PreviewBlock } from '../stream-services.ts';

/** What a configuration would have sent of blocks. */
export interface RangePreview {
  readonly range: BlockRange;
  /** Blocks of the range that were looked at, from its first on. */
  readonly looked: number;
  /** Blocks that no node has: above the head, or no longer kept. */
  readonly absent: readonly number[];
  /** Blocks that matched: each would have sent a webhook, and once more when it was confirmed. */
  readonly matched: number;
  /** Items of all webhooks, by their list in the body. */
  readonly items: Readonly<Record<string, number>>;
  /** The first ones. */
  readonly webhooks: readonly PreviewedWebhook[];
}

export interface PreviewedWebhook {
  readonly blockNumber: number;
  /** As it would have been sent, to the byte. */
  readonly body: string;
}

/** Blocks of one preview: each is read whole from a node. */
export const PREVIEW_BLOCKS_MAX = 100;
const WEBHOOKS_SHOWN = 10;
const READS_IN_FLIGHT = 8;
/** Then no further blocks are begun: whoever asks waits. Milliseconds. */
const DEADLINE_MS = 12_000;

/** A 400: more blocks than a preview looks at. */
export class PreviewTooLongError extends ApiError {
  constructor(blocks: number) {
    super({
      code: 'PREVIEW_TOO_LONG',
      status: 400,
      message: `The range has ${blocks} blocks, a preview looks at ${PREVIEW_BLOCKS_MAX}: choose a smaller one, or replay the stream over it by a historical job`,
      details: { blocks, limit: PREVIEW_BLOCKS_MAX },
    });
  }
}

/**
 * Makes the webhooks of a range of blocks by what makes real ones. Nothing is sent or kept.
 * @throws PreviewTooLongError, and what `previewBlock` throws where no node answers
 */
export async function previewRange(
  previewBlock: PreviewBlock,
  request: Omit<Parameters<PreviewBlock>[0], 'blockNumber'> & { readonly range: BlockRange },
  deadlineMs: number = DEADLINE_MS,
): Promise<RangePreview> {
  const { range, ...asked } = request;
  if (rangeSize(range) > PREVIEW_BLOCKS_MAX) throw new PreviewTooLongError(rangeSize(range));
  const started = performance.now();
  const found: { readonly number: number; readonly preview: BlockPreview }[] = [];
  for (let from = range.from; from <= range.to; from += READS_IN_FLIGHT) {
    const numbers = Array.from({ length: Math.min(READS_IN_FLIGHT, range.to - from + 1) }, (_, index) => from + index);
    const previews = await Promise.all(
      numbers.map(async (number) => ({ number, preview: await previewBlock({ ...asked, blockNumber: number }) })),
    );
    found.push(...previews);
    if (performance.now() - started > deadlineMs) break;
  }
  const bodies = found.flatMap(({ number, preview }) =>
    preview.found && preview.body !== null ? [{ number, body: preview.body }] : [],
  );
  return {
    range,
    looked: found.length,
    absent: found.filter(({ preview }) => !preview.found).map(({ number }) => number),
    matched: bodies.length,
    items: countItems(bodies.map(({ body }) => body)),
    webhooks: bodies
      .slice(0, WEBHOOKS_SHOWN)
      .map(({ number, body }) => ({ blockNumber: number, body: JSON.stringify(body) })),
  };
}

/** Lists of the body itself; `abi` says what was asked for, and tells of no item. */
function countItems(bodies: readonly Readonly<Record<string, unknown>>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const body of bodies)
    for (const [name, list] of Object.entries(body))
      if (Array.isArray(list) && name !== 'abi') counts[name] = (counts[name] ?? 0) + list.length;
  return counts;
}
