import type { Address, BlockRange, Hash } from '@chainstead/core';
import { createJsonSlab } from './json-slab.ts';

/** A log as the text that a node answers. */
export interface BenchLog {
  readonly topic0: Hash;
  readonly address: Address;
  readonly text: string;
}

/** Every log of a chain, serialised, from which those of any topics are picked without parsing them. */
export interface BenchLogs {
  /** The logs of a block in order. Blocks come in order, from 0. */
  add(block: number, logs: readonly BenchLog[]): void;
  /** How many logs in all have this topic0. */
  total(topic0: Hash): number;
  /**
   * @param topics alternatives for topic0; null: any
   * @param addresses alternatives for the emitter; null: any
   */
  select(topics: ReadonlySet<string> | null, addresses?: ReadonlySet<string> | null): SelectedLogs;
}

/** The logs of some topics. */
export interface SelectedLogs {
  count(range: BlockRange): number;
  /** The highest block up to which a range from `from` holds no more than so many; below `from` when there is none. */
  lastWithin(from: number, results: number): number;
  /** Those of a range, as the inside of a JSON array. */
  read(range: BlockRange): Uint8Array[];
}

/** @param blocks from 0 on. @param logsMax of the whole chain */
export function createBenchLogs(blocks: number, logsMax: number): BenchLogs {
  const slab = createJsonSlab();
  const starts = new Float64Array(blocks + 1);
  const ends = new Float64Array(blocks + 1);
  /** The place in `kinds` and `lengths` of each block's first log. */
  const firsts = new Uint32Array(blocks + 1);
  const kinds = new Uint8Array(logsMax);
  const lengths = new Uint32Array(logsMax);
  /** Number of each log's emitter in `emitters`. */
  const origins = new Uint32Array(logsMax);
  const emitters = new Map<string, number>();
  /** By topic0: its number, and how many logs of it there are up to and with each block. */
  const topics = new Map<string, { readonly kind: number; readonly counts: Float64Array }>();
  let added = 0;

  function topicOf(topic0: Hash): { readonly kind: number; readonly counts: Float64Array } {
    const known = topics.get(topic0);
    if (known !== undefined) return known;
    const made = { kind: topics.size, counts: new Float64Array(blocks) };
    topics.set(topic0, made);
    return made;
  }

  function add(block: number, logs: readonly BenchLog[]): void {
    for (const { counts } of topics.values()) counts[block] = counts[block - 1] ?? 0;
    let text = '';
    for (const log of logs) {
      const { kind, counts } = topicOf(log.topic0);
      counts[block] = (counts[block] ?? 0) + 1;
      kinds[added] = kind;
      const emitter = emitters.get(log.address) ?? emitters.size;
      emitters.set(log.address, emitter);
      origins[added] = emitter;
      lengths[added++] = log.text.length + 1;
      text += `,${log.text}`;
    }
    const start = slab.append(text);
    starts[block] = start;
    ends[block] = start + text.length;
    firsts[block + 1] = added;
  }

  function select(
    wanted: ReadonlySet<string> | null,
    addresses: ReadonlySet<string> | null = null,
  ): SelectedLogs {
    const chosen = [...topics].filter(([topic0]) => wanted?.has(topic0) ?? true).map(([, topic]) => topic);
    const isChosenKind = new Uint8Array(topics.size);
    for (const { kind } of chosen) isChosenKind[kind] = 1;
    const isChosenEmitter = new Uint8Array(emitters.size).fill(addresses === null ? 1 : 0);
    for (const address of addresses ?? []) isChosenEmitter[emitters.get(address) ?? emitters.size] = 1;
    const isChosen = (log: number): boolean =>
      isChosenKind[kinds[log] ?? 0] === 1 && isChosenEmitter[origins[log] ?? 0] === 1;
    const upTo = addresses === null ? ofTopics(chosen) : runningCount(isChosen);

    /** What is chosen and stands side by side is one piece. */
    function pick({ from, to }: BlockRange): Uint8Array[] {
      const pieces: Uint8Array[] = [];
      let runStart = starts[from] ?? 0;
      let at = runStart;
      const endRun = (): void => {
        if (at > runStart) pieces.push(...slab.slice(runStart, at));
      };
      for (let block = from; block <= to; block++) {
        // Between two blocks there may be a gap, which slices leave out.
        if (at === runStart) runStart = starts[block] ?? 0;
        at = starts[block] ?? 0;
        const end = firsts[block + 1] ?? 0;
        for (let log = firsts[block] ?? 0; log < end; log++) {
          const length = lengths[log] ?? 0;
          if (isChosen(log)) at += length;
          else {
            endRun();
            at += length;
            runStart = at;
          }
        }
      }
      endRun();
      return [Buffer.concat(pieces)];
    }

    return {
      count: ({ from, to }) => upTo(to) - upTo(from - 1),
      lastWithin: (from, results) => lastBlock(blocks, (block) => upTo(block) <= results + upTo(from - 1)),
      read: (range) =>
        withoutFirstByte(
          addresses === null && chosen.length === topics.size
            ? slab.slice(starts[range.from] ?? 0, ends[range.to] ?? 0)
            : pick(range),
        ),
    };
  }

  /** Counts logs up to and with a block, by topics that are counted already. */
  function ofTopics(chosen: readonly { readonly counts: Float64Array }[]): (block: number) => number {
    return (block) =>
      chosen.reduce((sum, { counts }) => sum + (block < 0 ? 0 : (counts[Math.min(block, blocks - 1)] ?? 0)), 0);
  }

  /** Counts logs up to and with a block, one by one. */
  function runningCount(isChosen: (log: number) => boolean): (block: number) => number {
    const counts = new Uint32Array(blocks);
    let count = 0;
    for (let block = 0; block < blocks; block++) {
      for (let log = firsts[block] ?? 0; log < (firsts[block + 1] ?? 0); log++) if (isChosen(log)) count += 1;
      counts[block] = count;
    }
    return (block) => (block < 0 ? 0 : (counts[Math.min(block, blocks - 1)] ?? 0));
  }

  return {
    add,
    total: (topic0) => topics.get(topic0)?.counts.at(-1) ?? 0,
    select,
  };
}

/** Each log has a comma in front of it; the first one's is left out. */
function withoutFirstByte(pieces: Uint8Array[]): Uint8Array[] {
  return pieces.map((piece, index) => (index === 0 ? piece.subarray(1) : piece));
}

/** The last block for which something is true that is true up to some block; -1 when there is none. */
function lastBlock(blocks: number, isTrue: (block: number) => boolean): number {
  let low = 0;
  let high = blocks;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isTrue(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
