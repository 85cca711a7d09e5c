/** What accounts do with NFTs. */
import type { Address } from '@chainstead/core';
import type { SeededRandom } from '@chainstead/testkit';
import { encodeCall, toAmount, toOwner } from '../story/node.ts';
import { actor, always, type Draft, receiver, send } from './drafts.ts';
import { type AssetsWorld, FOUNDER_IDS, LAZY_IDS, PRINT_IDS } from './world.ts';

/** Contracts don't take NFTs that are sent safely. */
function person({ accounts, strangers }: AssetsWorld, random: SeededRandom): Address {
  return random.pick(random.chance(0.8) ? accounts : strangers);
}

export function mintCat(world: AssetsWorld, random: SeededRandom): Draft {
  const id = BigInt(world.nextCat++);
  return always(
    send(actor(world, random), world.nfts.cats, ['mint(address,uint256)', receiver(world, random), id]),
  );
}

/** By its owner, if the owner can send. */
function ofOwner(
  world: AssetsWorld,
  nft: Address,
  id: bigint,
  make: (owner: Address) => readonly [string, ...unknown[]],
): Draft {
  return {
    reads: [{ to: nft, data: encodeCall('ownerOf(uint256)', [id]) }],
    make: ([said]) => {
      const owner = toOwner(said);
      return owner === null || !world.accounts.includes(owner) ? null : send(owner, nft, make(owner));
    },
  };
}

function move(world: AssetsWorld, random: SeededRandom, nft: Address, id: bigint): Draft {
  return ofOwner(world, nft, id, (owner) => {
    const to = random.chance(0.05) ? owner : receiver(world, random);
    return ['transferFrom(address,address,uint256)', owner, to, id];
  });
}

function someCat({ nextCat }: AssetsWorld, random: SeededRandom): bigint {
  return BigInt(random.integer(1, Math.max(1, nextCat - 1)));
}

export function moveCat(world: AssetsWorld, random: SeededRandom): Draft {
  return move(world, random, world.nfts.cats, someCat(world, random));
}

export function burnCat(world: AssetsWorld, random: SeededRandom): Draft {
  const id = someCat(world, random);
  return ofOwner(world, world.nfts.cats, id, () => ['burn(uint256)', id]);
}

export function moveLazy(world: AssetsWorld, random: SeededRandom): Draft {
  const id = BigInt(random.integer(0, LAZY_IDS - 1));
  if (random.chance(0.1)) return ofOwner(world, world.nfts.lazy, id, () => ['burn(uint256)', id]);
  return move(world, random, world.nfts.lazy, id);
}

export function moveFounder(world: AssetsWorld, random: SeededRandom): Draft {
  return move(world, random, world.nfts.founders, BigInt(random.integer(0, FOUNDER_IDS - 1)));
}

/** Different ones, each once. */
function someIds(random: SeededRandom): bigint[] {
  const ids = Array.from({ length: random.integer(2, 4) }, () => random.integer(1, PRINT_IDS));
  return [...new Set(ids)].map(BigInt);
}

export function mintPrints(world: AssetsWorld, random: SeededRandom): Draft {
  const { prints } = world.nfts;
  const [from, to] = [actor(world, random), person(world, random)];
  const amount = (): bigint => BigInt(random.integer(1, 50));
  if (random.chance(0.6)) {
    const id = BigInt(random.integer(1, PRINT_IDS));
    return always(send(from, prints, ['mint(address,uint256,uint256)', to, id, amount()]));
  }
  const ids = someIds(random);
  return always(send(from, prints, ['mintBatch(address,uint256[],uint256[])', to, ids, ids.map(amount)]));
}

export function movePrints(world: AssetsWorld, random: SeededRandom): Draft {
  const { prints } = world.nfts;
  const [from, to] = [actor(world, random), person(world, random)];
  const ids = random.chance(0.5) ? [BigInt(random.integer(1, PRINT_IDS))] : someIds(random);
  return {
    reads: ids.map((id) => ({ to: prints, data: encodeCall('balanceOf(address,uint256)', [from, id]) })),
    make: (said) => {
      const held = ids.flatMap((id, place) => {
        const balance = toAmount(said[place]);
        return balance === 0n ? [] : [{ id, amount: partOf(balance, random) }];
      });
      const [one] = held;
      if (one === undefined) return null;
      if (held.length === 1)
        return send(from, prints, [
          'safeTransferFrom(address,address,uint256,uint256,bytes)',
          from,
          to,
          one.id,
          one.amount,
          '0x',
        ]);
      const [all, amounts] = [held.map(({ id }) => id), held.map(({ amount }) => amount)];
      return send(from, prints, [
        'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
        from,
        to,
        all,
        amounts,
        '0x',
      ]);
    },
  };
}

export function burnPrints(world: AssetsWorld, random: SeededRandom): Draft {
  const { prints } = world.nfts;
  const from = actor(world, random);
  const id = BigInt(random.integer(1, PRINT_IDS));
  return {
    reads: [{ to: prints, data: encodeCall('balanceOf(address,uint256)', [from, id]) }],
    make: ([said]) => {
      const balance = toAmount(said);
      return balance === 0n ? null : send(from, prints, ['burn(uint256,uint256)', id, partOf(balance, random)]);
    },
  };
}

/** At least one. */
function partOf(balance: bigint, random: SeededRandom): bigint {
  if (random.chance(0.3)) return balance;
  return 1n + (balance * BigInt(random.integer(0, 99))) / 100n;
}
