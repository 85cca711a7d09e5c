/** What accounts do with tokens. */
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { SeededRandom } from '@chainstead/testkit';
import { maxUint256 } from 'viem';
import { encodeCall, type NodeCall, toAmount } from '../story/node.ts';
import { actor, always, type Draft, receiver, send } from './drafts.ts';
import type { AssetsWorld, TokenKind } from './world.ts';

/** Tokens that can be moved. */
const HELD: readonly TokenKind[] = ['plain', 'plain', 'plain', 'fee', 'fee', 'old', 'rebasing', 'wrapped'];
const MINTED: readonly TokenKind[] = ['plain', 'plain', 'fee', 'old', 'rebasing'];

const balanceOf = (token: Address, owner: Address): NodeCall => ({
  to: token,
  data: encodeCall('balanceOf(address)', [owner]),
});

/** All of it, nothing, a part, or little. */
function someOf(balance: bigint, random: SeededRandom): bigint {
  if (random.chance(0.12)) return balance;
  if (random.chance(0.06)) return 0n;
  if (random.chance(0.3)) return (balance * BigInt(random.integer(1, 99))) / 100n;
  return BigInt(random.integer(1, 1_000_000));
}

export function mintTokens(world: AssetsWorld, random: SeededRandom): Draft {
  const to = receiver(world, random);
  const value = BigInt(random.integer(1, 1_000_000)) * 10n ** BigInt(random.integer(0, 12));
  return always(
    send(actor(world, random), world.tokens[random.pick(MINTED)], ['mint(address,uint256)', to, value]),
  );
}

export function transferTokens(world: AssetsWorld, random: SeededRandom): Draft {
  const token = world.tokens[random.pick(HELD)];
  const from = actor(world, random);
  const to = random.chance(0.05) ? from : receiver(world, random);
  return {
    reads: [balanceOf(token, from)],
    make: ([held]) => send(from, token, ['transfer(address,uint256)', to, someOf(toAmount(held), random)]),
  };
}

export function transferFrom(world: AssetsWorld, random: SeededRandom): Draft {
  const token = world.tokens[random.pick(HELD)];
  const [owner, spender, to] = [actor(world, random), actor(world, random), receiver(world, random)];
  return {
    reads: [
      balanceOf(token, owner),
      { to: token, data: encodeCall('allowance(address,address)', [owner, spender]) },
    ],
    make: ([held, allowed]) => {
      const allowance = toAmount(allowed);
      const balance = toAmount(held);
      // Nothing to move: it becomes possible for the next time.
      if (allowance === 0n) return send(owner, token, ['approve(address,uint256)', spender, balance]);
      const most = allowance < balance ? allowance : balance;
      const value = random.chance(0.3) ? most : someOf(most, random);
      return send(spender, token, ['transferFrom(address,address,uint256)', owner, to, value]);
    },
  };
}

export function approve(world: AssetsWorld, random: SeededRandom): Draft {
  const token = world.tokens[random.pick(HELD)];
  const owner = actor(world, random);
  const spender = random.chance(0.7) ? actor(world, random) : random.pick(world.holders);
  const way = random.pick(['some', 'some', 'increase', 'revoke', 'unlimited'] as const);
  const amount = BigInt(random.integer(1, 1_000_000_000));
  return {
    reads: [{ to: token, data: encodeCall('allowance(address,address)', [owner, spender]) }],
    make: ([allowed]) => {
      const before = toAmount(allowed);
      const increased = before > maxUint256 - amount ? maxUint256 : before + amount;
      const value = { some: amount, increase: increased, revoke: 0n, unlimited: maxUint256 }[way];
      return send(owner, token, ['approve(address,uint256)', spender, value]);
    },
  };
}

export function burnTokens(world: AssetsWorld, random: SeededRandom): Draft {
  const token = world.tokens[random.pick(['plain', 'fee'] as const)];
  const from = actor(world, random);
  return {
    reads: [balanceOf(token, from)],
    make: ([held]) => send(from, token, ['burn(uint256)', someOf(toAmount(held), random)]),
  };
}

export function airdrop(world: AssetsWorld, random: SeededRandom): Draft {
  const to = Array.from({ length: random.integer(2, 26) }, () => receiver(world, random));
  const value = random.chance(0.1) ? 0n : BigInt(random.integer(1, 1_000));
  return always(send(actor(world, random), world.tokens.plain, ['transferMany(address[],uint256)', to, value]));
}

export function rebase(world: AssetsWorld, random: SeededRandom): Draft {
  const percent = BigInt(random.integer(50, 200));
  return always(send(actor(world, random), world.tokens.rebasing, ['rebase(uint256)', percent]));
}

export function deposit(world: AssetsWorld, random: SeededRandom): Draft {
  const value = BigInt(random.integer(1, 1_000_000_000));
  return always(send(actor(world, random), world.tokens.wrapped, ['deposit()'], value));
}

export function withdraw(world: AssetsWorld, random: SeededRandom): Draft {
  const token = world.tokens.wrapped;
  const from = actor(world, random);
  return {
    reads: [balanceOf(token, from)],
    make: ([held]) => send(from, token, ['withdraw(uint256)', someOf(toAmount(held), random)]),
  };
}

/** Now and then, more than the possible amount. */
export function pretend(world: AssetsWorld, random: SeededRandom): Draft {
  const token = world.tokens[random.pick(['lying', 'lying', 'mute'] as const)];
  const from = random.chance(0.5) ? ZERO_ADDRESS : random.pick(world.holders);
  const to = Array.from({ length: random.integer(1, 30) }, () => random.pick(world.holders));
  const value = random.chance(0.2) ? maxUint256 : BigInt(random.integer(0, 1_000_000));
  return always(send(actor(world, random), token, ['pretend(address,address[],uint256)', from, to, value]));
}

export function pretendApproval(world: AssetsWorld, random: SeededRandom): Draft {
  const [owner, spender] = [actor(world, random), random.pick(world.holders)];
  const value = random.pick([0n, 5n, maxUint256]);
  const call = ['pretendApproval(address,address,uint256)', owner, spender, value] as const;
  return always(send(actor(world, random), world.tokens.lying, call));
}
