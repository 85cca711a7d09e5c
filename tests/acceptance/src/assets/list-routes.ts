/** The lists of assets that have pages, each with what its rows are known by, and what must be among them. */
import { z } from 'zod';
import { COMMON_MOOD, type HoldingsScene, moodOf, SHARED_PRINT } from './holdings-scene.ts';
import type { HoldingsStage } from './holdings-stage.ts';
import type { SceneLedger } from './scene-ledger.ts';

/** Bodies of all pages, one after the other. */
type Pages = AsyncGenerator<unknown, void>;

export interface ListRoute {
  /** The provider's name of the operation. */
  readonly name: string;
  open(stage: HoldingsStage, scene: HoldingsScene, limit: number): Pages;
  /** Keys that distinguish the rows of a page. */
  keysOf(body: unknown): readonly string[];
  /** Keys of all rows. */
  truth(scene: HoldingsScene, ledger: SceneLedger): readonly string[];
}

/** What pages of the SDK have in common. */
interface SdkPage {
  readonly result: readonly unknown[];
  toJSON(): unknown;
  hasNext(): boolean;
  next(): Promise<SdkPage>;
}

/** By `hasNext()` and `next()`; each row is read. */
async function* sdkPages(first: Promise<SdkPage>): Pages {
  for (let page = await first; ; page = await page.next()) {
    const body = page.toJSON();
    const rows = z.looseObject({ result: z.array(z.unknown()) }).parse(body).result.length;
    if (page.result.length !== rows) throw new Error(`The SDK reads ${page.result.length} of ${rows} rows`);
    yield body;
    if (!page.hasNext()) return;
  }
}

/** For operations without a call of the SDK. */
async function* httpPages(stage: HoldingsStage, path: string, limit: number, sent?: object): Pages {
  const joined = path.includes('?') ? '&' : '?';
  for (let query: string | null = `limit=${limit}`; query !== null; ) {
    const { status, body } = await stage.ask(`${path}${joined}${query}`, sent);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    yield body;
    const { cursor } = z.looseObject({ cursor: z.string().nullable() }).parse(body);
    query = cursor === null ? null : `cursor=${encodeURIComponent(cursor)}`;
  }
}

function byRow<Row>(row: z.ZodType<Row>, keyOf: (row: Row) => string): ListRoute['keysOf'] {
  const page = z.looseObject({ result: z.array(row) });
  return (body) => page.parse(body).result.map(keyOf);
}

const placed = z.object({ transaction_hash: z.string(), log_index: z.number() });
const byPlace = byRow(placed, (row) => `${row.transaction_hash}:${row.log_index}`);
const byPlaceAndId = byRow(
  placed.extend({ token_address: z.string(), token_id: z.string() }),
  (row) => `${row.transaction_hash}:${row.log_index} ${row.token_address} ${row.token_id}`,
);
const byId = byRow(z.object({ token_id: z.string() }), (row) => row.token_id);
const byTokenAndId = byRow(
  z.object({ token_address: z.string(), token_id: z.string() }),
  (row) => `${row.token_address} ${row.token_id}`,
);
const byOwner = byRow(
  z.object({ token_id: z.string(), owner_of: z.string() }),
  (row) => `${row.token_id} ${row.owner_of}`,
);

type Move = SceneLedger['moves'][number];
const placesOf = (ledger: SceneLedger, isShown: (move: Move) => boolean): string[] =>
  ledger.moves.filter(isShown).map(({ place, contract, id }) => `${place} ${contract} ${id}`);
const ownersOf = (ledger: SceneLedger, contract: Move['contract'], ids: readonly bigint[]): string[] =>
  ids.flatMap((id) => [...ledger.holdersOf(contract, id).keys()].map((owner) => `${id} ${owner}`));

const COIN = `0x${'ee'.repeat(20)}`;
const MINUTE_SECONDS = 60;
/** For intervals that are over when the pages are read. */
const lastMinute = Math.floor(Date.now() / 1_000 / MINUTE_SECONDS) * MINUTE_SECONDS - 10 * MINUTE_SECONDS;

const TOKEN_LISTS: readonly ListRoute[] = [
  {
    name: 'getWalletTokenBalancesPrice',
    open: ({ EvmApi, chain }, { wallet }, limit) =>
      sdkPages(EvmApi.wallets.getWalletTokenBalancesPrice({ address: wallet, chain, limit })),
    keysOf: byRow(z.object({ token_address: z.string() }), (row) => row.token_address),
    truth: ({ tokens, wallet }, ledger) => [
      COIN,
      ...tokens.filter((token) => (ledger.holdersOf(token, 0n).get(wallet) ?? 0n) > 0n),
    ],
  },
  {
    name: 'getWalletTokenTransfers',
    open: ({ EvmApi, chain }, { wallet }, limit) =>
      sdkPages(EvmApi.token.getWalletTokenTransfers({ address: wallet, chain, limit })),
    keysOf: byPlace,
    truth: ({ tokens, wallet }, { moves }) =>
      moves.flatMap(({ contract, from, to, place }) =>
        tokens.includes(contract) && [from, to].includes(wallet) ? [place] : [],
      ),
  },
  {
    name: 'getTokenTransfers',
    open: ({ EvmApi, chain }, { tokens }, limit) =>
      sdkPages(EvmApi.token.getTokenTransfers({ address: tokens[0], chain, limit })),
    keysOf: byPlace,
    truth: ({ tokens: [token] }, { moves }) =>
      moves.flatMap((one) => (one.contract === token ? [one.place] : [])),
  },
  {
    name: 'getTokenOwners',
    open: ({ EvmApi, chain }, { tokens }, limit) =>
      sdkPages(EvmApi.token.getTokenOwners({ tokenAddress: tokens[0], chain, limit })),
    keysOf: byRow(z.object({ owner_address: z.string() }), (row) => row.owner_address),
    truth: ({ tokens: [token] }, ledger) => [...ledger.holdersOf(token, 0n).keys()],
  },
  {
    name: 'getHistoricalTokenHolders',
    open: (stage, scene, limit) => {
      const from = lastMinute - (scene.size - 1) * MINUTE_SECONDS;
      const query = `fromDate=${from}&toDate=${lastMinute}&timeFrame=1min`;
      return httpPages(stage, `erc20/${scene.tokens[0]}/holders/historical?${query}`, limit);
    },
    keysOf: byRow(z.object({ timestamp: z.string() }), (row) => row.timestamp),
    truth: ({ size }) =>
      Array.from({ length: size }, (_, index) =>
        new Date((lastMinute - index * MINUTE_SECONDS) * 1_000).toISOString(),
      ),
  },
  {
    name: 'getWalletApprovals',
    open: (stage, { wallet }, limit) => httpPages(stage, `wallets/${wallet}/approvals`, limit),
    keysOf: byRow(z.object({ spender: z.object({ address: z.string() }) }), ({ spender }) => spender.address),
    truth: (_scene, { spenders }) => [...spenders],
  },
];

const NFT_LISTS: readonly ListRoute[] = [
  {
    name: 'getWalletNFTs',
    open: ({ EvmApi, chain }, { wallet }, limit) =>
      sdkPages(EvmApi.nft.getWalletNFTs({ address: wallet, chain, limit })),
    keysOf: byTokenAndId,
    truth: ({ wallet, cats, prints, gallery }, ledger) =>
      [cats, prints, gallery].flatMap((contract) =>
        ledger
          .idsOf(contract)
          .flatMap((id) => (ledger.holdersOf(contract, id).has(wallet) ? [`${contract} ${id}`] : [])),
      ),
  },
  {
    name: 'getContractNFTs',
    open: ({ EvmApi, chain }, { cats }, limit) =>
      sdkPages(EvmApi.nft.getContractNFTs({ address: cats, chain, limit })),
    keysOf: byId,
    truth: ({ cats }, ledger) => ledger.idsOf(cats).map(String),
  },
  {
    name: 'getNFTOwners',
    open: ({ EvmApi, chain }, { cats }, limit) =>
      sdkPages(EvmApi.nft.getNFTOwners({ address: cats, chain, limit })),
    keysOf: byOwner,
    truth: ({ cats }, ledger) => ownersOf(ledger, cats, ledger.idsOf(cats)),
  },
  {
    name: 'getNFTTokenIdOwners',
    open: ({ EvmApi, chain }, { prints }, limit) =>
      sdkPages(EvmApi.nft.getNFTTokenIdOwners({ address: prints, chain, limit, tokenId: String(SHARED_PRINT) })),
    keysOf: byOwner,
    truth: ({ prints }, ledger) => ownersOf(ledger, prints, [SHARED_PRINT]),
  },
  {
    name: 'getUniqueOwnersByCollection',
    open: (stage, { prints }, limit) => httpPages(stage, `nft/${prints}/unique-owners`, limit),
    keysOf: (body) => z.looseObject({ walletAddresses: z.array(z.string()) }).parse(body).walletAddresses,
    truth: ({ prints }, ledger) => [
      ...new Set(ledger.idsOf(prints).flatMap((id) => [...ledger.holdersOf(prints, id).keys()])),
    ],
  },
  {
    name: 'getWalletNFTTransfers',
    open: ({ EvmApi, chain }, { wallet }, limit) =>
      sdkPages(EvmApi.nft.getWalletNFTTransfers({ address: wallet, chain, limit })),
    keysOf: byPlaceAndId,
    truth: ({ wallet, tokens }, ledger) =>
      placesOf(ledger, ({ contract, from, to }) => !tokens.includes(contract) && [from, to].includes(wallet)),
  },
  {
    name: 'getNFTContractTransfers',
    open: ({ EvmApi, chain }, { cats }, limit) =>
      sdkPages(EvmApi.nft.getNFTContractTransfers({ address: cats, chain, limit })),
    keysOf: byPlaceAndId,
    truth: ({ cats }, ledger) => placesOf(ledger, ({ contract }) => contract === cats),
  },
  {
    name: 'getNFTTransfers',
    open: ({ EvmApi, chain }, { prints }, limit) =>
      sdkPages(EvmApi.nft.getNFTTransfers({ address: prints, chain, limit, tokenId: String(SHARED_PRINT) })),
    keysOf: byPlaceAndId,
    truth: ({ prints }, ledger) =>
      placesOf(ledger, ({ contract, id }) => contract === prints && id === SHARED_PRINT),
  },
  {
    name: 'getNFTTraitsByCollectionPaginate',
    open: (stage, { gallery }, limit) => httpPages(stage, `nft/${gallery}/traits/paginate`, limit),
    keysOf: byRow(z.object({ trait_value: z.string() }), (row) => row.trait_value),
    truth: ({ gallery }, ledger) => [...new Set(ledger.idsOf(gallery).map((id) => moodOf(Number(id))))],
  },
  {
    name: 'getNFTByContractTraits',
    open: (stage, { gallery }, limit) =>
      httpPages(stage, `nft/${gallery}/nfts-by-traits`, limit, { traits: { Mood: COMMON_MOOD } }),
    keysOf: byId,
    truth: ({ gallery }, ledger) =>
      ledger.idsOf(gallery).flatMap((id) => (moodOf(Number(id)) === COMMON_MOOD ? [String(id)] : [])),
  },
];

/** All that have pages, but the history of floor prices, which is not served. */
export const LIST_ROUTES: readonly ListRoute[] = [...TOKEN_LISTS, ...NFT_LISTS];
