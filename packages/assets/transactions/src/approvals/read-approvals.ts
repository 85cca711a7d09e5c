import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Hex, parseHash } from '@chainstead/core';
import { addressAt, bigIntAt, wordCount } from '@chainstead/events/abi';
import { APPROVAL_FOR_ALL_TOPIC, APPROVAL_TOPIC, decodeApproval } from '@chainstead/events/token-events';

export interface GivenApproval {
  /** `permit2`: the Permit2 contract stores allowances for other tokens. */
  readonly kind: 'token' | 'all' | 'permit2';
  readonly token: Address;
  readonly spender: Address;
  /** Base units; null: all NFTs. */
  readonly value: bigint | null;
  readonly isGranted: boolean;
  /** Unix seconds; null: none. */
  readonly expiration: number | null;
  readonly logIndex: number;
}

export interface ApprovalLog {
  readonly index: number;
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
}

export interface OwnedApproval {
  readonly owner: Address;
  readonly approval: GivenApproval;
}

/** In log order, without approvals of single NFTs: these end with the next transfer. */
export function readApprovals(
  owner: Address,
  logs: readonly ApprovalLog[],
  chain: Pick<Chain, 'erc20Exclusions'>,
): readonly GivenApproval[] {
  return approvalsIn(logs, chain).flatMap((owned) => (owned.owner === owner ? [owned.approval] : []));
}

export function approvalsIn(logs: readonly ApprovalLog[], chain: Pick<Chain, 'erc20Exclusions'>) {
  return logs.flatMap((log) => {
    const isPermit2 = log.topics.length === 4 && PERMIT2.has(log.address);
    const owned = isPermit2 ? readPermit2(log) : readApproval(log);
    const isExcluded = owned?.approval.kind === 'token' && chain.erc20Exclusions.includes(log.address);
    return owned === null || isExcluded ? [] : [owned];
  });
}

function readApproval(log: ApprovalLog): OwnedApproval | null {
  const approval = decodeApproval(log);
  if (approval === null || approval.type === 'nftApproval') return null;
  const common = { token: log.address, expiration: null, logIndex: log.index };
  if (approval.type === 'approvalForAll') {
    const { account: owner, operator: spender, approved: isGranted } = approval;
    return { owner, approval: { ...common, kind: 'all', spender, value: null, isGranted } };
  }
  const { owner, spender } = approval;
  const value = BigInt(approval.value);
  return { owner, approval: { ...common, kind: 'token', spender, value, isGranted: value > 0n } };
}

/** Includes chains with another CREATE2 scheme. Other contracts only look like Permit2. */
const PERMIT2 = new Set<string>([
  '0x000000000022d473030f116ddee9f6b43ac78ba3',
  '0x0000000000225e31d15943971f47ad3022f714fa',
]);
/** keccak256 of `Permit(address,address,address,uint160,uint48,uint48)`. */
const PERMIT = {
  topic0: parseHash('0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec'),
  words: 3,
};
/** keccak256 of `Approval(address,address,address,uint160,uint48)`. */
const ALLOWED = {
  topic0: parseHash('0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b'),
  words: 2,
};

export const APPROVED_OTHERWISE: readonly Hash[] = [APPROVAL_FOR_ALL_TOPIC, PERMIT.topic0, ALLOWED.topic0];
export const APPROVAL_EVENTS: readonly Hash[] = [APPROVAL_TOPIC, ...APPROVED_OTHERWISE];

function readPermit2({ index, topics, data }: ApprovalLog): OwnedApproval | null {
  const event = [PERMIT, ALLOWED].find(({ topic0 }) => topic0 === topics[0]);
  const [owner, token, spender] = [addressAt(topics[1]), addressAt(topics[2]), addressAt(topics[3])];
  if (event === undefined || wordCount(data) !== event.words) return null;
  if (owner === null || token === null || spender === null) return null;
  const [value, until] = [bigIntAt(data, 0), bigIntAt(data, 1)];
  const expiration = until > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(until);
  const approval = { token, spender, value, isGranted: value > 0n, expiration, logIndex: index };
  return { owner, approval: { kind: 'permit2', ...approval } };
}
