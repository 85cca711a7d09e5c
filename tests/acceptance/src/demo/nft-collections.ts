import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { type DeployedContract, type Devnet, type Market, unlessReverted } from '@chainstead/testkit';
import { parseAbi, parseEventLogs } from 'viem';
import { z } from 'zod';
import { type DemoApi, DemoApiError, readAllPages, requestApi } from './demo-api.ts';

const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event ConsecutiveTransfer(uint256 indexed fromTokenId, uint256 toTokenId, address indexed from, address indexed to)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);
const COLLECTION = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function contractURI() view returns (string)',
  'function ownerOf(uint256) view returns (address)',
  'function balanceOf(address, uint256) view returns (uint256)',
]);

/** How many of a token an account holds. */
export interface Holding {
  readonly owner: Address;
  readonly token: Address;
  readonly tokenId: string;
  readonly amount: string;
}

/** Who holds what, by `ownerOf` and `balanceOf` of every token that an event of the market's collections mentions. */
export async function readHoldings(devnet: Devnet, market: Market): Promise<Holding[]> {
  const blockNumber = await devnet.client.getBlockNumber({ cacheTime: 0 });
  const logs = await devnet.client.getLogs({ fromBlock: 0n, toBlock: blockNumber });
  const ids = new Map<Address, Set<bigint>>();
  const accounts = new Set<Address>();
  for (const { address, args } of parseEventLogs({ abi: EVENTS, logs })) {
    const known = ids.get(parseAddress(address)) ?? new Set();
    ids.set(parseAddress(address), known);
    for (const id of mentionedIds(args)) known.add(id);
    accounts.add(parseAddress(args.to));
  }
  accounts.delete(ZERO_ADDRESS);
  const ownerOf = async (token: Address, id: bigint): Promise<Holding[]> => {
    const call = { address: token, abi: COLLECTION, functionName: 'ownerOf', args: [id], blockNumber } as const;
    // A burned token has no owner: the question fails.
    const owner = await unlessReverted(devnet.client.readContract(call));
    return owner === null ? [] : [{ owner: parseAddress(owner), token, tokenId: String(id), amount: '1' }];
  };
  const balanceOf = async (token: Address, owner: Address, id: bigint): Promise<Holding[]> => {
    const call = {
      address: token,
      abi: COLLECTION,
      functionName: 'balanceOf',
      args: [owner, id],
      blockNumber,
    } as const;
    const amount = await devnet.client.readContract(call);
    return amount === 0n ? [] : [{ owner, token, tokenId: String(id), amount: String(amount) }];
  };
  const idsOf = (address: Address): bigint[] => [...(ids.get(address) ?? [])];
  const { cats, founders, prints } = market;
  const questions = [
    ...[cats.address, founders.address].flatMap((token) => idsOf(token).map((id) => ownerOf(token, id))),
    ...idsOf(prints.address).flatMap((id) => [...accounts].map((owner) => balanceOf(prints.address, owner, id))),
  ];
  return (await Promise.all(questions)).flat();
}

type MovementArguments = ReturnType<typeof parseEventLogs<typeof EVENTS>>[number]['args'];

function mentionedIds(args: MovementArguments): readonly bigint[] {
  if ('tokenId' in args) return [args.tokenId];
  if ('id' in args) return [args.id];
  if ('ids' in args) return args.ids;
  const { fromTokenId, toTokenId } = args;
  return Array.from({ length: Number(toTokenId - fromTokenId) + 1 }, (_, index) => fromTokenId + BigInt(index));
}

/** A wallet's collection, as text. */
export type CollectionText = string;

/** The collections of the wallets, with how many different tokens of each they hold, as the node has them. */
export function expectedCollections(
  holdings: readonly Holding[],
  wallets: readonly Address[],
  facts: readonly CollectionFacts[],
): CollectionText[] {
  return wallets.flatMap((wallet) =>
    facts.flatMap((collection) => {
      const { token_address, contract_type, name, symbol } = collection;
      const count = holdings.filter(({ owner, token }) => owner === wallet && token === token_address).length;
      return count === 0 ? [] : [collectionText(wallet, { token_address, contract_type, name, symbol, count })];
    }),
  );
}

const servedCollection = z.object({
  token_address: z.string(),
  contract_type: z.string().nullable(),
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  count: z.number(),
});

/** The same as the API serves them. @throws DemoApiError */
export async function readCollections(api: DemoApi, wallets: readonly Address[]): Promise<CollectionText[]> {
  const texts: CollectionText[] = [];
  for (const wallet of wallets) {
    const rows = await readAllPages(api, `${wallet}/nft/collections`, servedCollection, { token_counts: 'true' });
    texts.push(...rows.map((row) => collectionText(wallet, row)));
  }
  return texts;
}

function collectionText(wallet: Address, row: z.output<typeof servedCollection>): CollectionText {
  const { token_address, contract_type, name, symbol, count } = row;
  return `${wallet}: ${JSON.stringify({ token_address, contract_type, name, symbol, count })}`;
}

const collectionFacts = z.object({
  token_address: z.string(),
  contract_type: z.string().nullable(),
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  collection_logo: z.string().nullable(),
  collection_banner_image: z.string().nullable(),
  collection_category: z.string().nullable(),
  project_url: z.string().nullable(),
  wiki_url: z.string().nullable(),
  discord_url: z.string().nullable(),
  telegram_url: z.string().nullable(),
  twitter_username: z.string().nullable(),
  instagram_username: z.string().nullable(),
});

/** Metadata of a collection, in the format of the API. */
export type CollectionFacts = z.output<typeof collectionFacts>;

/** The market's collections in the words of the API, read from the contracts themselves. */
export async function readCollectionFacts(devnet: Devnet, market: Market): Promise<CollectionFacts[]> {
  const { cats, prints, founders } = market;
  const read = async ({ address }: DeployedContract, contractType: string, documented: boolean) => {
    const ask = (functionName: 'name' | 'symbol' | 'contractURI') =>
      devnet.client.readContract({ address, abi: COLLECTION, functionName });
    const document: Record<string, string> = documented ? parseDataDocument(await ask('contractURI')) : {};
    return {
      token_address: address,
      contract_type: contractType,
      name: document.name ?? (await ask('name')),
      symbol: document.symbol ?? (await ask('symbol')),
      collection_logo: document.image ?? null,
      collection_banner_image: document.banner_image ?? null,
      collection_category: document.category ?? null,
      project_url: document.external_link ?? null,
      wiki_url: document.wiki_url ?? null,
      discord_url: document.discord_url ?? null,
      telegram_url: document.telegram_url ?? null,
      twitter_username: document.twitter_username ?? null,
      instagram_username: document.instagram_username ?? null,
    };
  };
  return [
    await read(cats, 'ERC721', true),
    await read(prints, 'ERC1155', true),
    await read(founders, 'ERC721', false),
  ];
}

/** What the API serves of a collection; null until it has been read. @throws DemoApiError */
export async function readMetadata(api: DemoApi, token: string): Promise<CollectionFacts | null> {
  const { status, body } = await requestApi(api, `nft/${token}/metadata`);
  if (status === 404) return null;
  const parsed = collectionFacts.extend({ synced_at: z.string().nullable() }).safeParse(body);
  if (status !== 200 || !parsed.success)
    throw new DemoApiError(`/api/v2.2/nft/${token}/metadata`, `${status} ${JSON.stringify(body)}`);
  return parsed.data.synced_at === null ? null : collectionFacts.parse(parsed.data);
}

function parseDataDocument(uri: string): Record<string, string> {
  const [, encoding = '', body = ''] = /^data:application\/json;(base64|utf8),(.*)$/s.exec(uri) ?? [];
  return JSON.parse(encoding === 'base64' ? Buffer.from(body, 'base64').toString() : body);
}
