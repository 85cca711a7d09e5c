/** The contracts of a story of assets on a real node, and those who hold something of them. */
import { type Address, parseAddress } from '@chainstead/core';
import { compileAssetContracts, type Devnet, MULTICALL3_ADDRESS, type SeededRandom } from '@chainstead/testkit';
import type { StoryChain } from '../story/story-chain.ts';
import { requireCode, startStoryNode } from '../story/story-node.ts';

/** `rebasing` changes balances without an event, `wrapped` without a transfer; `lying` and `mute` have no holders. */
export const TOKEN_KINDS = ['plain', 'fee', 'old', 'rebasing', 'wrapped', 'lying', 'mute'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** `lazy`: ids have an owner before they have moved; `founders`: minted by one event; `prints`: ERC-1155. */
export const NFT_KINDS = ['cats', 'lazy', 'founders', 'prints'] as const;
export type NftKind = (typeof NFT_KINDS)[number];

export interface AssetsWorld {
  readonly devnet: Devnet;
  readonly chain: StoryChain;
  readonly tokens: Readonly<Record<TokenKind, Address>>;
  readonly nfts: Readonly<Record<NftKind, Address>>;
  /** Send transactions. */
  readonly accounts: readonly Address[];
  /** Receive, too, and never send: they have no code. */
  readonly strangers: readonly Address[];
  /** All possible holders: these, and contracts. No other account ever gets a token, except of `lying` and `mute`. */
  readonly holders: readonly Address[];
  /** Every contract stands after this block: no reorganisation goes below it, as nothing would put them there again. */
  readonly madeIn: number;
  /** The next id of `cats` that was never minted. */
  nextCat: number;
}

const WRAPPED_OF_KNOWN = parseAddress('0x4200000000000000000000000000000000000006');
const BURNED_TO = parseAddress('0x000000000000000000000000000000000000dead');
const ACCOUNTS = 20;
const STRANGERS = 12;
/** Ids of `founders`: 0 to 24. */
export const FOUNDER_IDS = 25;
/** Ids of `lazy`: 0 to 59. */
export const LAZY_IDS = 60;
/** Ids of `prints`: 1 to 12. */
export const PRINT_IDS = 12;
/** Starts the node and deploys everything. From then on it mines on demand. */
export async function startWorld(chain: StoryChain, random: SeededRandom): Promise<AssetsWorld> {
  const contract = await compileAssetContracts();
  const strangers = Array.from({ length: STRANGERS }, () => parseAddress(random.hex(20)));
  const { devnet, made, madeIn } = await startStoryNode(chain, ACCOUNTS, async (node) => {
    const [creator = BURNED_TO, founder = BURNED_TO] = node.accounts;
    // One after the other: the node gives nonces by what is mined.
    const tokens: Record<TokenKind, Address> = {
      plain: await node.deploy(contract('DemoToken'), ['Plain Token', 'PLAIN', 18]),
      fee: await node.deploy(contract('FeeToken'), [strangers[0]]),
      old: await node.deploy(contract('OldToken')),
      rebasing: await node.deploy(contract('RebasingToken')),
      wrapped: await node.deploy(contract('WrappedEther')),
      lying: await node.deploy(contract('LyingToken')),
      mute: await node.deploy(contract('MuteToken')),
    };
    const nfts: Record<NftKind, Address> = {
      cats: await node.deploy(contract('GalleryCats')),
      lazy: await node.deploy(contract('LazyNft'), [creator]),
      founders: await node.deploy(contract('GalleryFounders'), [founder, BigInt(FOUNDER_IDS)]),
      prints: await node.deploy(contract('GalleryPrints')),
    };
    if (chain.isKnown) {
      await copyCode(node, tokens.wrapped, WRAPPED_OF_KNOWN);
      await copyCode(node, await node.deploy(contract('Multicall3')), MULTICALL3_ADDRESS);
      tokens.wrapped = WRAPPED_OF_KNOWN;
    }
    return { tokens, nfts };
  });
  const { accounts } = devnet;
  const { tokens, nfts } = made;
  const holders = [...accounts, ...strangers, tokens.plain, tokens.old, nfts.cats, BURNED_TO];
  return { devnet, chain, tokens, nfts, accounts, strangers, holders, madeIn, nextCat: 1 };
}

/** Copies a contract without state to another address. */
async function copyCode(devnet: Devnet, from: Address, to: Address): Promise<void> {
  const bytecode = await devnet.client.getCode({ address: from });
  if (bytecode === undefined) throw new Error(`There is no code at ${from}`);
  await devnet.client.setCode({ address: to, bytecode });
}

/** @throws Error if a contract is gone */
export function requireContracts({ devnet, tokens, nfts }: AssetsWorld): Promise<void> {
  return requireCode(devnet, { ...tokens, ...nfts });
}

/** Whether a token's balances change without an event that the program reads: it reads deposits of coins that it knows. */
export function drifts({ tokens, chain }: Pick<AssetsWorld, 'tokens' | 'chain'>, token: Address): boolean {
  return token === tokens.rebasing || (token === tokens.wrapped && !chain.isKnown);
}

/** The kind of an address, for people to read. */
export function nameOf({ tokens, nfts }: Pick<AssetsWorld, 'tokens' | 'nfts'>, address: string): string {
  const found = [...Object.entries(tokens), ...Object.entries(nfts)].find(([, known]) => known === address);
  return found === undefined ? address : `${found[0]} (${address})`;
}
