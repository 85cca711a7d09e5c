import type { Coverage } from '../coverage/coverage.ts';
import { BLOCK_PARTS, type BlockPart, type PartProof } from '../dataset/whole-block.ts';
import type { ProvenBlock, ProvenLevel } from './proven-block.ts';

export interface LevelledBlock extends ProvenLevel, Pick<ProvenBlock, 'parts'> {}

export type RangeLevels = Readonly<Partial<Record<BlockPart, readonly Coverage[]>>>;

/** Joins ascending blocks of equal level, reason and source. Skips unavailable parts. */
export function levelsOf(part: BlockPart, blocks: readonly LevelledBlock[]): Coverage[] {
  const runs: (Coverage & { readonly range: { from: number; to: number } })[] = [];
  for (const block of blocks) {
    const proof = proofOf(part, block);
    // Invariant: PROOF-RECEIPTS-ROOT
    if (proof === undefined || proof.level === 'unavailable') continue;
    const { number } = block.header;
    const { level, reason } = proof;
    // Nodes take turns block by block: their names would split each range.
    const upstream = level === 'unproven' || block.isFromSource === true ? block.upstream : null;
    const last = runs.at(-1);
    const isSame = last?.proof === level && last.reason === reason && last.upstream === upstream;
    if (isSame && last.range.to + 1 === number) last.range.to = number;
    else runs.push({ range: { from: number, to: number }, proof: level, reason, upstream });
  }
  return runs;
}

export function rangeLevels(blocks: readonly LevelledBlock[]): RangeLevels {
  const read = BLOCK_PARTS.filter((part) => blocks.some((block) => proofOf(part, block) !== undefined));
  return Object.fromEntries(read.map((part) => [part, levelsOf(part, blocks)]));
}

function proofOf(part: BlockPart, { level, reason, parts }: LevelledBlock): PartProof | undefined {
  return parts[part] ?? (part === 'logs' ? { level, reason } : undefined);
}
