import type { Chain } from '@chainstead/chains';
import { type Clock, type Finding, findingsOf, type Hash } from '@chainstead/core';
import { lagTolerance } from '../lag-watch.ts';
import type { NodeProbe } from './node-probe.ts';
import { isBlock, probeBlock, quantityOf } from './read-answers.ts';

/** A block that is known to belong to the chain. */
export interface KnownBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Who says so: `what is indexed`, or a node's name. */
  readonly source: string;
}

/** How far other nodes of the chain are. */
export interface OtherHead {
  readonly name: string;
  readonly head: number;
}

const head = findingsOf('head');
const finalized = findingsOf('finalized tag');
const branch = findingsOf('same chain');

/** Older is not at the head, where nobody else says how far the chain is. */
const AGE_MIN_SECONDS = 60;
const AGE_BLOCK_TIMES = 20;
/** So far behind the others it is of no use for following. */
const FAR_BEHIND_MS = 10 * 60_000;

/** The newest block that the node gives, and whether it is the chain's. @returns null as number where it gives none */
export async function checkHead({
  chain,
  probe,
  others,
  clock,
}: {
  chain: Chain;
  probe: NodeProbe;
  others: readonly OtherHead[];
  clock: Clock;
}): Promise<{ readonly number: number | null; readonly findings: readonly Finding[] }> {
  const announced = quantityOf(await probe.ask('eth_blockNumber', []));
  const latest = await probeBlock(probe, 'latest');
  if (!isBlock(latest)) {
    const problem = latest === null ? 'there is none' : latest.problem;
    const found = head.bad(
      `no newest block: ${problem}`,
      'Nothing can be followed from it.',
      'Let it synchronise first.',
    );
    return { number: null, findings: [found] };
  }
  const { number, timestamp } = latest.header;
  const findings = [newness(chain, { number, age: clock.now() / 1_000 - timestamp }, others)];
  const syncing = await probe.ask('eth_syncing', []);
  if (syncing.ok && typeof syncing.result === 'object' && syncing.result !== null)
    findings.push(
      head.warning(
        'it says that it still synchronises',
        'Its head lags, and answers about old blocks may be missing.',
        'Wait until it is done, or keep it beside another node.',
      ),
    );
  if (announced !== null && announced > number + lagTolerance(chain)) {
    const given = await probeBlock(probe, announced);
    if (!isBlock(given))
      findings.push(
        head.warning(
          `it announces block ${announced}, and gives none above ${number}`,
          'Only blocks that are really given count, so it costs calls in vain.',
          'Where it is several nodes behind a balancer, one of them lags: see to it, or name the others.',
        ),
      );
  }
  return { number, findings };
}

function newness(
  chain: Chain,
  { number, age }: { readonly number: number; readonly age: number },
  others: readonly OtherHead[],
): Finding {
  const shown = `block ${number}, ${ageText(age)} old`;
  const best = others.reduce<OtherHead | null>(
    (one, other) => (one === null || other.head > one.head ? other : one),
    null,
  );
  if (best === null) {
    const tooOld = Math.max(AGE_MIN_SECONDS, (AGE_BLOCK_TIMES * chain.blockTimeMs) / 1_000);
    if (age <= tooOld) return head.ok(shown);
    return head.warning(
      shown,
      'Either the chain stands still, or the node is not at its head: no other node was there to compare.',
      'Look whether it has peers and synchronises.',
    );
  }
  const behind = best.head - number;
  if (behind <= lagTolerance(chain)) return head.ok(`${shown}; of others ${best.name} is at ${best.head}`);
  const found = `${shown}: ${behind} blocks behind ${best.name}`;
  const meaning = 'Others are asked before it; alone it would keep the chain behind.';
  const remedy = 'Look whether it has peers, keeps up with its disk, and synchronises.';
  return behind * chain.blockTimeMs > FAR_BEHIND_MS
    ? head.bad(found, meaning, remedy)
    : head.warning(found, meaning, remedy);
}

function ageText(seconds: number): string {
  if (seconds < 0) return 'no second';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** Whether the node tells what can't change any more. */
export async function checkFinalized(chain: Chain, probe: NodeProbe, headNumber: number): Promise<Finding> {
  if (!chain.finalizedTag) return finalized.ok('means nothing on this chain, and is not asked for');
  const block = await probeBlock(probe, 'finalized');
  if (isBlock(block))
    return finalized.ok(`block ${block.header.number}, ${headNumber - block.header.number} below the head`);
  return finalized.warning(
    `not known to it${block === null ? '' : `: ${block.problem}`}`,
    `What is final is then told by depth alone (${chain.confirmations} blocks), unless another node knows the tag.`,
    'Use a node with a consensus client beside it, or another provider.',
  );
}

/** Whether blocks that are known to belong to the chain are the same there. */
export async function checkBranch(probe: NodeProbe, known: readonly KnownBlock[]): Promise<Finding> {
  const same: KnownBlock[] = [];
  for (const one of known) {
    const block = await probeBlock(probe, one.number);
    if (!isBlock(block)) continue;
    if (block.header.hash !== one.hash)
      return branch.bad(
        `block ${one.number} is ${block.header.hash} there, and ${one.hash} by ${one.source}`,
        'It serves another branch, or another network with the same chain id: its blocks would be taken for a reorganisation.',
        'Find out with a block explorer which is right, and leave the other one out.',
      );
    same.push(one);
  }
  if (same.length === 0) return branch.ok('nothing was there to compare with');
  return branch.ok(same.map(({ number, source }) => `block ${number} is that of ${source}`).join('; '));
}
