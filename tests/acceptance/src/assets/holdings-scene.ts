/** One wallet on a devnet with lists of some length of everything that can be held, and blocks that change all of them. */
import type { Address } from '@chainstead/core';
import { addressOf, compileAssetContracts, type Devnet } from '@chainstead/testkit';

type Contract = Awaited<ReturnType<typeof compileAssetContracts>>;

export interface HoldingsScene {
  /** Rows of each list, at least. */
  readonly size: number;
  /** One of the node's accounts. */
  readonly wallet: Address;
  /** The wallet has some of each; the first one has many other holders too, and spenders that the wallet allows to move it. */
  readonly tokens: readonly [Address, ...Address[]];
  /** ERC-721: the wallet's. */
  readonly cats: Address;
  /** ERC-1155: many have some of {@link SHARED_PRINT}, the wallet has others. */
  readonly prints: Address;
  /** ERC-721 of another account with traits: as many as `size`, of which {@link RARE_MOODS} have a unique one. */
  readonly gallery: Address;
  /** Blocks in which every list grows, one thing a block; a cat leaves the wallet, another one comes. The last {@link STIRRED_AGAIN} may go. */
  stir(): Promise<void>;
}

export const SHARED_PRINT = 1n;
/** Blocks at the end of a stir that a reorganisation may take away: the next stir does not build on them. */
export const STIRRED_AGAIN = 6;
export const RARE_MOODS = 3;
export const COMMON_MOOD = 'calm';
export const moodOf = (id: number): string => (id <= RARE_MOODS ? `mood ${id}` : COMMON_MOOD);

const UNITS = 1_000n;

/** @param place of the scene on the devnet: its wallet and its other accounts are different ones */
export async function buildScene(devnet: Devnet, place: number, size: number): Promise<HoldingsScene> {
  const contract = await compileAssetContracts();
  const [creator, keeper] = devnet.accounts;
  const wallet = devnet.accounts[2 + place];
  if (creator === undefined || keeper === undefined || wallet === undefined)
    throw new Error('The devnet has too few accounts');
  let strangers = 0x5_000_000 + place * 0x100_000;
  const stranger = (): Address => addressOf(strangers++);
  const send = (
    address: Address,
    name: Parameters<Contract>[0],
    call: readonly [functionName: string, ...args: unknown[]],
    from: Address = creator,
  ) => {
    const [functionName, ...args] = call;
    return devnet.send({ address, abi: contract(name).abi, functionName, args, from });
  };

  const deployToken = (number: number): Promise<Address> =>
    devnet.deploy(contract('DemoToken'), [`Token ${place} ${number}`, `T${place}X${number}`, 6]);
  const first = await deployToken(0);
  const tokens: [Address, ...Address[]] = [first];
  while (tokens.length < size) tokens.push(await deployToken(tokens.length));
  for (const token of tokens) await send(token, 'DemoToken', ['mint', wallet, UNITS]);
  const many = Array.from({ length: size }, stranger);
  await send(first, 'DemoToken', ['mint', creator, 1_000_000n]);
  await send(first, 'DemoToken', ['transferMany', many, UNITS]);
  for (const spender of many) await send(first, 'DemoToken', ['approve', spender, UNITS], wallet);

  const cats = await devnet.deploy(contract('GalleryCats'));
  let nextCat = 1;
  while (nextCat <= size) await send(cats, 'GalleryCats', ['mint', wallet, BigInt(nextCat++)]);
  const gallery = await devnet.deploy(contract('GalleryCats'));
  for (let id = 1; id <= size; id++) {
    await send(gallery, 'GalleryCats', ['mint', creator, BigInt(id)]);
    await send(gallery, 'GalleryCats', ['setMood', BigInt(id), moodOf(id)]);
  }
  const prints = await devnet.deploy(contract('GalleryPrints'));
  let nextPrint = SHARED_PRINT + 1n;
  const ids = Array.from({ length: size }, () => nextPrint++);
  await send(prints, 'GalleryPrints', ['mintBatch', wallet, ids, ids]);
  for (const holder of many) await send(prints, 'GalleryPrints', ['mint', holder, SHARED_PRINT, 5n]);

  const ownerOf = (address: Address, id: bigint) =>
    devnet.client.readContract({
      address,
      abi: contract('GalleryCats').abi,
      functionName: 'ownerOf',
      args: [id],
    });
  let oldestCat = 1;
  return {
    ...{ size, wallet, tokens, cats, prints, gallery },
    async stir() {
      await send(prints, 'GalleryPrints', ['mint', wallet, nextPrint++, 3n]);
      await send(cats, 'GalleryCats', ['mint', wallet, BigInt(nextCat++)]);
      // What follows may be reorganised away.
      await send(first, 'DemoToken', ['approve', stranger(), 7n], wallet);
      await send(cats, 'GalleryCats', ['transferFrom', wallet, stranger(), BigInt(oldestCat++)], wallet);
      await send(prints, 'GalleryPrints', ['mint', stranger(), SHARED_PRINT, 1n]);
      await send(first, 'DemoToken', ['transfer', stranger(), 5n]);
      await send(tokens.at(-1) ?? first, 'DemoToken', ['transfer', stranger(), 1n], wallet);
      const isWithCreator = String(await ownerOf(gallery, 1n)).toLowerCase() === creator;
      const [from, to] = isWithCreator ? [creator, keeper] : [keeper, creator];
      await send(gallery, 'GalleryCats', ['transferFrom', from, to, 1n], from);
    },
  };
}
