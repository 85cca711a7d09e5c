/** The contracts of a story of assets on a real node, and those who hold something of them. */
import { type Address, parseAddress } from '@chainstead/core';
import {
  compileAssetContracts,
  type Devnet,
  MULTICALL3_ADDRESS,
  type SeededRandom,
  startDevnet,
} from '@chainstead/testkit';
import { askTogether, readHead } from '../story/node.ts';
import type { StoryChain } from '../story/story-chain.ts';

/** `rebasing` changes balances without an event, `wrapped` without a transfer; of `lying` and `mute` nobody holds anything. */
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
  /** Whoever may hold something: these, and contracts. Nobody else ever gets anything but of `lying` and `mute`. */
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
/**
 * After so many blocks the node remembers what contracts said, all in memory. By default it writes most of that to disk from its thousandth block on,
 * and a branch that begins at such a block has lost the code of every contract.
 */
const STATES_KEPT = 1_000;

/** Starts the node and deploys everything. From then on it mines when it is told to. */
export async function startWorld(chain: StoryChain, random: SeededRandom): Promise<AssetsWorld> {
  const devnet = await startDevnet({
    chainId: chain.id,
    args: ['--accounts', String(ACCOUNTS), '--order', 'fifo', '--prune-history', String(STATES_KEPT)],
  });
  try {
    const contract = await compileAssetContracts();
    const { accounts } = devnet;
    const [creator = BURNED_TO, founder = BURNED_TO] = accounts;
    const strangers = Array.from({ length: STRANGERS }, () => parseAddress(random.hex(20)));
    // One after the other: the node gives nonces by what is mined.
    const tokens: Record<TokenKind, Address> = {
      plain: await devnet.deploy(contract('DemoToken'), ['Plain Token', 'PLAIN', 18]),
      fee: await devnet.deploy(contract('FeeToken'), [strangers[0]]),
      old: await devnet.deploy(contract('OldToken')),
      rebasing: await devnet.deploy(contract('RebasingToken')),
      wrapped: await devnet.deploy(contract('WrappedEther')),
      lying: await devnet.deploy(contract('LyingToken')),
      mute: await devnet.deploy(contract('MuteToken')),
    };
    const nfts: Record<NftKind, Address> = {
      cats: await devnet.deploy(contract('GalleryCats')),
      lazy: await devnet.deploy(contract('LazyNft'), [creator]),
      founders: await devnet.deploy(contract('GalleryFounders'), [founder, BigInt(FOUNDER_IDS)]),
      prints: await devnet.deploy(contract('GalleryPrints')),
    };
    if (chain.isKnown) {
      await copyCode(devnet, tokens.wrapped, WRAPPED_OF_KNOWN);
      await copyCode(devnet, await devnet.deploy(contract('Multicall3')), MULTICALL3_ADDRESS);
      tokens.wrapped = WRAPPED_OF_KNOWN;
    }
    await devnet.client.setAutomine(false);
    await devnet.mine();
    const holders = [...accounts, ...strangers, tokens.plain, tokens.old, nfts.cats, BURNED_TO];
    const { number: madeIn } = await readHead(devnet.url);
    return { devnet, chain, tokens, nfts, accounts, strangers, holders, madeIn, nextCat: 1 };
  } catch (error) {
    await devnet.stop();
    throw error;
  }
}

/** Puts a contract that has no state of its own to another address. */
async function copyCode(devnet: Devnet, from: Address, to: Address): Promise<void> {
  const bytecode = await devnet.client.getCode({ address: from });
  if (bytecode === undefined) throw new Error(`There is no code at ${from}`);
  await devnet.client.setCode({ address: to, bytecode });
}

/** @throws Error where a contract is gone: what the node says is no truth to compare with then */
export async function requireContracts({ devnet, tokens, nfts }: Standing): Promise<void> {
  const contracts = [...Object.values(tokens), ...Object.values(nfts)];
  const codes = await askTogether(
    devnet.url,
    contracts.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  );
  const gone = contracts
    .filter((_, place) => codes[place] === '0x')
    .map((address) => nameOf({ tokens, nfts }, address));
  if (gone.length > 0) throw new Error(`The node has lost the code of ${gone.join(', ')}`);
}

type Standing = Pick<AssetsWorld, 'devnet' | 'tokens' | 'nfts'>;

/** Whether a token's balances change without an event that the program reads: it reads deposits of coins that it knows. */
export function drifts({ tokens, chain }: Pick<AssetsWorld, 'tokens' | 'chain'>, token: Address): boolean {
  return token === tokens.rebasing || (token === tokens.wrapped && !chain.isKnown);
}

/** The kind of an address, for people to read. */
export function nameOf({ tokens, nfts }: Pick<AssetsWorld, 'tokens' | 'nfts'>, address: string): string {
  const found = [...Object.entries(tokens), ...Object.entries(nfts)].find(([, known]) => known === address);
  return found === undefined ? address : `${found[0]} (${address})`;
}
