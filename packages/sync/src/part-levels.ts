/** How far blocks that were read are proven, for datasets by the part of a block that they rest on. */
import type { Coverage } from './coverage.ts';
import type { ProvenBlock, ProvenLevel } from './proven-block.ts';
import { BLOCK_PARTS, type BlockPart, type PartProof } from './whole-block.ts';

/** What coverage is made of; the block's contents may be gone by then. */
export interface LevelledBlock extends ProvenLevel, Pick<ProvenBlock, 'parts'> {}

/** Coverage by part: the ranges in which datasets that rest on it could be decoded. */
export type RangeLevels = Readonly<Partial<Record<BlockPart, readonly Coverage[]>>>;

/** Blocks ascend. Those that lack the part are in no range. */
export function levelsOf(part: BlockPart, blocks: readonly LevelledBlock[]): Coverage[] {
  return runsOfSameLevel(
    blocks.flatMap((block) => {
      const proof = proofOf(part, block);
      if (proof === undefined || proof.level === 'unavailable') return [];
      return [{ header: block.header, upstream: block.upstream, level: proof.level, reason: proof.reason }];
    }),
  );
}

/** The levels of every part that was read. */
export function rangeLevels(blocks: readonly LevelledBlock[]): RangeLevels {
  const read = BLOCK_PARTS.filter((part) => blocks.some((block) => proofOf(part, block) !== undefined));
  return Object.fromEntries(read.map((part) => [part, levelsOf(part, blocks)]));
}

/** Undefined: it was not read. */
function proofOf(part: BlockPart, { level, reason, parts }: LevelledBlock): PartProof | undefined {
  return part === 'logs' ? { level, reason } : parts[part];
}

/** Neighbouring blocks of the same level, reason and (where it matters) source as one coverage record. */
function runsOfSameLevel(blocks: readonly ProvenLevel[]): Coverage[] {
  const runs: (Coverage & { readonly range: { from: number; to: number } })[] = [];
  for (const { header, level, reason, upstream: source } of blocks) {
    const upstream = level === 'unproven' ? source : null;
    const last = runs.at(-1);
    const goesOn =
      last !== undefined &&
      last.range.to + 1 === header.number &&
      last.proof === level &&
      last.reason === reason &&
      last.upstream === upstream;
    if (goesOn) last.range.to = header.number;
    else runs.push({ range: { from: header.number, to: header.number }, proof: level, reason, upstream });
  }
  return runs;
}
