import type { Chain } from '@chainstead/chains';
import { type Clock, type Finding, findingsOf, type Hash, isObject } from '@chainstead/core';
import { lagTolerance } from '../upstream/read-head.ts';
import { isBlock, type NodeProbe, probeBlock, quantityOf } from './node-probe.ts';

export interface KnownBlock {
  readonly number: number;
  readonly hash: Hash;
  /** `what is indexed`, or a node's name. */
  readonly source: string;
}

export type OtherHead = { readonly name: string; readonly head: number };

const head = findingsOf('head');
const finalized = findingsOf('finalized tag');
const branch = findingsOf('same chain');

/** An older head counts as behind if no other node shows the chain's head. */
const AGE_MIN_SECONDS = 60;
const AGE_BLOCK_TIMES = 20;
const FAR_BEHIND_MS = 10 * 60_000;

export async function checkHead(
  chain: Chain,
  probe: NodeProbe,
  others: readonly OtherHead[],
  clock: Clock,
): Promise<{ readonly number: number | null; readonly findings: readonly Finding[] }> {
  const announced = quantityOf(await probe.ask('eth_blockNumber', []));
  const latest = await probeBlock(probe, 'latest');
  if (!isBlock(latest)) {
    const problem = latest === null ? 'there is none' : latest.problem;
    const meaning = 'The chain can’t be followed with it.';
    return {
      number: null,
      findings: [head.bad(`no newest block: ${problem}`, meaning, 'Wait until the node has synced.')],
    };
  }
  const { number, timestamp } = latest.header;
  const findings = [newness(chain, { number, age: clock.now() / 1_000 - timestamp }, others)];
  const syncing = await probe.ask('eth_syncing', []);
  if (syncing.ok && isObject(syncing.result))
    findings.push(
      head.warning(
        'it reports that it is still syncing',
        'Its head lags, and data of old blocks may be missing.',
        'Wait until the node has synced, or use it with another node.',
      ),
    );
  const isFarAbove = announced !== null && announced > number + lagTolerance(chain);
  if (isFarAbove && !isBlock(await probeBlock(probe, announced)))
    findings.push(
      head.warning(
        `it announces block ${announced}, but returns none above ${number}`,
        'Only returned blocks count, so calls are wasted.',
        'If the URL is a load balancer, one node behind it lags: fix that node, or list the other nodes.',
      ),
    );
  return { number, findings };
}

function newness(
  chain: Chain,
  { number, age }: { readonly number: number; readonly age: number },
  others: readonly OtherHead[],
): Finding {
  const shown = `block ${number}, ${ageText(age)} old`;
  const [best] = others.toSorted((a, b) => b.head - a.head);
  if (best === undefined) {
    const tooOld = Math.max(AGE_MIN_SECONDS, (AGE_BLOCK_TIMES * chain.blockTimeMs) / 1_000);
    if (age <= tooOld) return head.ok(shown);
    return head.warning(
      shown,
      'The chain has stopped or the node lags. There was no other node to compare with.',
      'Check that the node has peers and is syncing.',
    );
  }
  const behind = best.head - number;
  if (behind <= lagTolerance(chain)) return head.ok(`${shown}; of others ${best.name} is at ${best.head}`);
  const found = `${shown}: ${behind} blocks behind ${best.name}`;
  const meaning = 'Other nodes are preferred. Without them, indexing would lag.';
  const remedy = 'Check that the node has peers, a fast disk, and is syncing.';
  const report = behind * chain.blockTimeMs > FAR_BEHIND_MS ? head.bad : head.warning;
  return report(found, meaning, remedy);
}

function ageText(seconds: number): string {
  if (seconds < 0) return 'no second';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

export async function checkFinalized(chain: Chain, probe: NodeProbe, headNumber: number): Promise<Finding> {
  if (!chain.finalizedTag) return finalized.ok('has no meaning on this chain and is not requested');
  const block = await probeBlock(probe, 'finalized');
  if (isBlock(block))
    return finalized.ok(`block ${block.header.number}, ${headNumber - block.header.number} below the head`);
  return finalized.warning(
    `not supported${block === null ? '' : `: ${block.problem}`}`,
    `Finality then depends on depth alone (${chain.confirmations} blocks), unless another node supports the tag.`,
    'Use a node with a consensus client, or another provider.',
  );
}

export async function checkBranch(probe: NodeProbe, known: readonly KnownBlock[]): Promise<Finding> {
  const same: KnownBlock[] = [];
  for (const expected of known) {
    const block = await probeBlock(probe, expected.number);
    if (!isBlock(block)) continue;
    if (block.header.hash !== expected.hash)
      return branch.bad(
        `block ${expected.number} is ${block.header.hash} there, and ${expected.hash} by ${expected.source}`,
        'The node serves another branch, or another network with the same chain ID. Its blocks would look like a reorg.',
        'Check with a block explorer which one is right, and remove the other.',
      );
    same.push(expected);
  }
  if (same.length === 0) return branch.ok('nothing was there to compare with');
  return branch.ok(same.map(({ number, source }) => `block ${number} is that of ${source}`).join('; '));
}
