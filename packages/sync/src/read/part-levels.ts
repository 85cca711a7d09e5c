/** Proof levels of read blocks, for datasets by the block part they depend on. */
import type { Coverage } from '../coverage/coverage.ts';
import { BLOCK_PARTS, type BlockPart, type PartProof } from '../dataset/whole-block.ts';
import type { ProvenBlock, ProvenLevel } from './proven-block.ts';

/** The fields that coverage needs; the block's contents may be released by then. */
export interface LevelledBlock extends ProvenLevel, Pick<ProvenBlock, 'parts'> {}

/** Coverage by part: the ranges that datasets of this part could be decoded in. */
export type RangeLevels = Readonly<Partial<Record<BlockPart, readonly Coverage[]>>>;

/** Returns coverage of ascending blocks. Blocks without the part are in no range. */
export function levelsOf(part: BlockPart, blocks: readonly LevelledBlock[]): Coverage[] {
  return runsOfSameLevel(
    blocks.flatMap((block) => {
      const proof = proofOf(part, block);
      if (proof === undefined || proof.level === 'unavailable') return [];
      return [{ header: block.header, upstream: block.upstream, level: proof.level, reason: proof.reason }];
    }),
  );
}

/** Returns the levels of every part that was read. */
export function rangeLevels(blocks: readonly LevelledBlock[]): RangeLevels {
  const read = BLOCK_PARTS.filter((part) => blocks.some((block) => proofOf(part, block) !== undefined));
  return Object.fromEntries(read.map((part) => [part, levelsOf(part, blocks)]));
}

/** Returns undefined if the part was not read. */
function proofOf(part: BlockPart, { level, reason, parts }: LevelledBlock): PartProof | undefined {
  return parts[part] ?? (part === 'logs' ? { level, reason } : undefined);
}

/** Joins adjacent blocks with the same level, reason and, if unproven, source into one coverage record. */
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
