import type { ChainStatus } from '@chainstead/sync/ingest';

type SourceStatus = ChainStatus['sources'][number];
type UseStatus = SourceStatus['uses']['blocks'];

export function renderSources(
  { sources, unknownHead }: Pick<ChainStatus, 'sources' | 'unknownHead'>,
  now: number,
): string[] {
  // An ended process reads nothing.
  if (unknownHead?.isSilent === true) return [];
  return sources.map(
    ({ name, uses: { blocks, logs } }) =>
      `  source      ${name}: ${useText('whole blocks', blocks, now)}; ${useText('blocks of logs', logs, now)}`,
  );
}

function useText(noun: string, { blocks, reason, until }: UseStatus, now: number): string {
  if (until === null || until <= now) return `${blocks} ${noun}`;
  const time = new Date(until).toISOString().slice(11, 16);
  return `${blocks} ${noun}, left alone until ${time} UTC: ${reason}`;
}

export function sourceJson({ name, available, uses }: SourceStatus): Readonly<Record<string, unknown>> {
  return { name, available, blocks: useJson(uses.blocks), logs: useJson(uses.logs) };
}

function useJson({ blocks, failures, reason, until }: UseStatus): Readonly<Record<string, unknown>> {
  const leftAloneUntil = until === null ? null : new Date(until).toISOString();
  return { blocks_read: blocks, failures, reason, left_alone_until: leftAloneUntil };
}
