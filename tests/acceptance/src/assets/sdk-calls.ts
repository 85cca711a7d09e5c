/** Every call of the official SDK that asks for assets: with the same request as any client makes it, and what the node says to it. */
import { type HoldingsScene, SHARED_PRINT } from './holdings-scene.ts';
import type { HoldingsStage } from './holdings-stage.ts';
import type { SceneLedger } from './scene-ledger.ts';

export interface SdkCall {
  readonly name: string;
  /** With its query, below `/api/v2.2/`. */
  path(scene: HoldingsScene): string;
  /** A body that is posted. */
  sent?(scene: HoldingsScene): object;
  ask(stage: HoldingsStage, scene: HoldingsScene): Promise<SdkAnswer>;
  /** What is to be read, by the node. */
  truth(
    scene: HoldingsScene,
    ledger: SceneLedger,
    stage: HoldingsStage,
  ): Promise<readonly string[]> | readonly string[];
}

interface SdkAnswer {
  /** The body, as the SDK gives it. */
  readonly json: unknown;
  /** What it makes of it, a line for each row. */
  readonly read: readonly string[];
}

const line = (...parts: readonly unknown[]): string => parts.join(' ').toLowerCase();

/** Members of each row, as the SDK shows it. */
function members(rows: readonly { toJSON(): unknown }[], ...names: readonly string[]): string[] {
  return rows.map((row) => {
    const shown: Record<string, unknown> = JSON.parse(JSON.stringify(row.toJSON()));
    return line(...names.map((name) => shown[name]));
  });
}

/** Wei of the native token. */
const coinsOf = ({ devnet }: HoldingsStage, address: HoldingsScene['wallet']): Promise<bigint> =>
  devnet.client.getBalance({ address });

const unitsOf = (ledger: SceneLedger, { tokens, wallet }: HoldingsScene): string[] =>
  tokens.map((token) => line(token, ledger.holdersOf(token, 0n).get(wallet)));

const factsOf = (tokens: readonly string[]): string[] =>
  tokens.map((token, place) => line(token, `t0x${place}`, 6));

const COIN = `0x${'ee'.repeat(20)}`;
const UNKNOWN_CAT = '999999';

const TOKEN_CALLS: readonly SdkCall[] = [
  {
    name: 'token.getWalletTokenBalances',
    path: ({ wallet }) => `${wallet}/erc20?exclude_spam=false`,
    async ask({ EvmApi, chain }, { wallet }) {
      const answer = await EvmApi.token.getWalletTokenBalances({ address: wallet, chain, excludeSpam: false });
      const read = answer.result.map(({ token, amount }) => line(token?.contractAddress.lowercase, amount));
      return { json: answer.toJSON(), read };
    },
    truth: (scene, ledger) => unitsOf(ledger, scene),
  },
  {
    name: 'wallets.getWalletTokenBalancesPrice',
    path: ({ wallet }) => `wallets/${wallet}/tokens`,
    async ask({ EvmApi, chain }, { wallet }) {
      const answer = await EvmApi.wallets.getWalletTokenBalancesPrice({ address: wallet, chain });
      const read = answer.result.map(({ tokenAddress, balance }) => line(tokenAddress?.lowercase, balance.wei));
      return { json: answer.toJSON(), read };
    },
    truth: async (scene, ledger, stage) => [
      line(COIN, await coinsOf(stage, scene.wallet)),
      ...unitsOf(ledger, scene),
    ],
  },
  {
    name: 'token.getTokenMetadata',
    path: ({ tokens }) => `erc20/metadata?addresses=${tokens.join()}`,
    async ask({ EvmApi, chain }, { tokens }) {
      const answer = await EvmApi.token.getTokenMetadata({ addresses: [...tokens], chain });
      const read = answer.result.map(({ token }) =>
        line(token.contractAddress.lowercase, token.symbol, token.decimals),
      );
      return { json: answer.toJSON(), read };
    },
    truth: ({ tokens }) => factsOf(tokens),
  },
  {
    name: 'token.getTokenMetadataBySymbol',
    path: () => 'erc20/metadata/symbols?symbols[]=T0X0&symbols[]=t0x1',
    async ask({ EvmApi, chain }) {
      const answer = await EvmApi.token.getTokenMetadataBySymbol({ symbols: ['T0X0', 't0x1'], chain });
      const read = answer.result.map(({ token }) =>
        line(token.contractAddress.lowercase, token.symbol, token.decimals),
      );
      return { json: answer.toJSON(), read };
    },
    truth: ({ tokens }) => factsOf(tokens.slice(0, 2)),
  },
  {
    name: 'token.getWalletTokenTransfers',
    path: ({ wallet, tokens: [one, other] }) =>
      `${wallet}/erc20/transfers?contract_addresses[]=${one}&contract_addresses[]=${other ?? one}&from_date=0`,
    async ask({ EvmApi, chain }, { wallet, tokens: [one, other] }) {
      const options = { address: wallet, chain, contractAddresses: [one, other ?? one], fromDate: new Date(0) };
      const answer = await EvmApi.token.getWalletTokenTransfers(options);
      return {
        json: answer.toJSON(),
        read: members(answer.result, 'address', 'fromAddress', 'toAddress', 'value'),
      };
    },
    truth: ({ wallet, tokens }, { moves }) =>
      moves.flatMap(({ contract, from, to, amount }) =>
        tokens.slice(0, 2).includes(contract) && [from, to].includes(wallet)
          ? [line(contract, from, to, amount)]
          : [],
      ),
  },
  {
    name: 'token.getTokenTransfers',
    path: ({ tokens: [token] }) => `erc20/${token}/transfers?order=ASC&from_block=1`,
    async ask({ EvmApi, chain }, { tokens: [address] }) {
      const answer = await EvmApi.token.getTokenTransfers({ address, chain, order: 'ASC', fromBlock: 1 });
      return { json: answer.toJSON(), read: members(answer.result, 'fromAddress', 'toAddress', 'value') };
    },
    truth: ({ tokens: [token] }, { moves }) =>
      moves.flatMap(({ contract, from, to, amount }) => (contract === token ? [line(from, to, amount)] : [])),
  },
  {
    name: 'token.getTokenOwners',
    path: ({ tokens: [token] }) => `erc20/${token}/owners`,
    async ask({ EvmApi, chain }, { tokens: [tokenAddress] }) {
      const answer = await EvmApi.token.getTokenOwners({ tokenAddress, chain });
      return { json: answer.toJSON(), read: answer.result.map((row) => line(row.ownerAddress, row.balance)) };
    },
    truth: ({ tokens: [token] }, ledger) => [...ledger.holdersOf(token, 0n)].map((held) => line(...held)),
  },
  {
    name: 'token.getTokenStats',
    path: ({ tokens: [token] }) => `erc20/${token}/stats`,
    async ask({ EvmApi, chain }, { tokens: [address] }) {
      const answer = await EvmApi.token.getTokenStats({ address, chain });
      return { json: answer.toJSON(), read: [line(answer.result.transfers.total)] };
    },
    truth: ({ tokens: [token] }, { moves }) => [line(moves.filter(({ contract }) => contract === token).length)],
  },
  {
    name: 'balance.getNativeBalance',
    path: ({ wallet }) => `${wallet}/balance`,
    async ask({ EvmApi, chain }, { wallet }) {
      const answer = await EvmApi.balance.getNativeBalance({ address: wallet, chain });
      return { json: answer.toJSON(), read: [line(answer.result.balance.wei)] };
    },
    truth: async ({ wallet }, _ledger, stage) => [line(await coinsOf(stage, wallet))],
  },
  {
    name: 'balance.getNativeBalancesForAddresses',
    path: ({ wallet, cats }) => `wallets/balances?wallet_addresses[]=${wallet}&wallet_addresses[]=${cats}`,
    async ask({ EvmApi, chain }, { wallet, cats }) {
      const answer = await EvmApi.balance.getNativeBalancesForAddresses({
        walletAddresses: [wallet, cats],
        chain,
      });
      const wallets = answer.result.flatMap(({ walletBalances }) => walletBalances);
      return {
        json: answer.toJSON(),
        read: wallets.map(({ address, balance }) => line(address.lowercase, balance.wei)),
      };
    },
    truth: async ({ wallet, cats }, _ledger, stage) => [
      line(wallet, await coinsOf(stage, wallet)),
      line(cats, 0),
    ],
  },
];

/** For IDs of a contract: each with an owner and that owner's balance. */
const ownersOf = (
  ledger: SceneLedger,
  contract: HoldingsScene['cats'],
  isShown: (owner: string, id: bigint) => boolean = () => true,
): string[] =>
  ledger
    .idsOf(contract)
    .flatMap((id) =>
      [...ledger.holdersOf(contract, id)].flatMap(([owner, amount]) =>
        isShown(owner, id) ? [line(contract, id, owner, amount)] : [],
      ),
    );
const isFirstCat = (_owner: string, id: bigint): boolean => id === 1n;
const OWNED = ['tokenAddress', 'tokenId', 'ownerOf', 'amount'];

const movesOf = (ledger: SceneLedger, isShown: (move: SceneLedger['moves'][number]) => boolean): string[] =>
  ledger.moves.filter(isShown).map(({ id, from, to, amount }) => line(id, from, to, amount));
const MOVED = ['tokenId', 'fromAddress', 'toAddress', 'amount'];

const NFT_CALLS: readonly SdkCall[] = [
  {
    name: 'nft.getWalletNFTs',
    path: ({ wallet, cats, prints }) =>
      `${wallet}/nft?token_addresses[]=${cats}&token_addresses[]=${prints}&media_items=true`,
    async ask({ EvmApi, chain }, { wallet, cats, prints }) {
      const options = { address: wallet, chain, tokenAddresses: [cats, prints], mediaItems: true };
      const answer = await EvmApi.nft.getWalletNFTs(options);
      return { json: answer.toJSON(), read: members(answer.result, ...OWNED) };
    },
    truth: ({ wallet, cats, prints }, ledger) =>
      [cats, prints].flatMap((one) => ownersOf(ledger, one, (owner) => owner === wallet)),
  },
  {
    name: 'nft.getMultipleNFTs',
    path: () => 'nft/getMultipleNFTs',
    sent: ({ cats, prints }) => ({
      tokens: [
        { token_address: cats, token_id: '1' },
        { token_address: cats, token_id: UNKNOWN_CAT },
        { token_address: prints, token_id: '2' },
      ],
      normalizeMetadata: true,
    }),
    async ask({ EvmApi, chain }, { cats, prints }) {
      const answer = await EvmApi.nft.getMultipleNFTs({
        chain,
        tokens: [
          { tokenAddress: cats, tokenId: '1' },
          { tokenAddress: cats, tokenId: UNKNOWN_CAT },
          { tokenAddress: prints, tokenId: '2' },
        ],
        normalizeMetadata: true,
      });
      return {
        json: answer.toJSON(),
        read: answer.result.flatMap((row) => (row === null ? ['none'] : members([row], ...OWNED))),
      };
    },
    truth: ({ wallet, cats, prints }, ledger) => [
      ...ownersOf(ledger, cats, isFirstCat),
      'none',
      line(prints, 2, wallet, 2),
    ],
  },
  {
    name: 'nft.getWalletNFTTransfers',
    path: ({ wallet, prints }) => `${wallet}/nft/transfers?contract_addresses[]=${prints}&order=ASC`,
    async ask({ EvmApi, chain }, { wallet, prints }) {
      const options = { address: wallet, chain, contractAddresses: [prints] };
      const answer = await EvmApi.nft.getWalletNFTTransfers({ ...options, order: 'ASC' });
      return { json: answer.toJSON(), read: members(answer.result, ...MOVED) };
    },
    truth: ({ wallet, prints }, ledger) =>
      movesOf(ledger, ({ contract, from, to }) => contract === prints && [from, to].includes(wallet)),
  },
  {
    name: 'nft.getContractNFTs',
    path: ({ cats }) => `nft/${cats}?totalRanges=1&range=1&media_items=true`,
    async ask({ EvmApi, chain }, { cats }) {
      const options = { address: cats, chain, totalRanges: 1, range: 1, mediaItems: true };
      const answer = await EvmApi.nft.getContractNFTs(options);
      return { json: answer.toJSON(), read: members(answer.result, ...OWNED) };
    },
    truth: ({ cats }, ledger) => ownersOf(ledger, cats),
  },
  {
    name: 'nft.getNFTOwners',
    path: ({ cats }) => `nft/${cats}/owners?normalizeMetadata=true`,
    async ask({ EvmApi, chain }, { cats }) {
      const answer = await EvmApi.nft.getNFTOwners({ address: cats, chain, normalizeMetadata: true });
      return { json: answer.toJSON(), read: members(answer.result, ...OWNED) };
    },
    truth: ({ cats }, ledger) => ownersOf(ledger, cats),
  },
  {
    name: 'nft.getNFTTokenIdOwners',
    path: ({ prints }) => `nft/${prints}/${SHARED_PRINT}/owners`,
    async ask({ EvmApi, chain }, { prints }) {
      const tokenId = String(SHARED_PRINT);
      const answer = await EvmApi.nft.getNFTTokenIdOwners({ address: prints, chain, tokenId });
      return { json: answer.toJSON(), read: members(answer.result, 'ownerOf', 'amount') };
    },
    truth: ({ prints }, ledger) => [...ledger.holdersOf(prints, SHARED_PRINT)].map((held) => line(...held)),
  },
  {
    name: 'nft.getNFTContractTransfers',
    path: ({ cats }) => `nft/${cats}/transfers?from_block=1`,
    async ask({ EvmApi, chain }, { cats }) {
      const answer = await EvmApi.nft.getNFTContractTransfers({ address: cats, chain, fromBlock: 1 });
      return { json: answer.toJSON(), read: members(answer.result, ...MOVED) };
    },
    truth: ({ cats }, ledger) => movesOf(ledger, ({ contract }) => contract === cats),
  },
  {
    name: 'nft.getNFTTransfers',
    path: ({ prints }) => `nft/${prints}/${SHARED_PRINT}/transfers?order=ASC`,
    async ask({ EvmApi, chain }, { prints }) {
      const tokenId = String(SHARED_PRINT);
      const answer = await EvmApi.nft.getNFTTransfers({ address: prints, chain, tokenId, order: 'ASC' });
      return { json: answer.toJSON(), read: members(answer.result, ...MOVED) };
    },
    truth: ({ prints }, ledger) =>
      movesOf(ledger, ({ contract, id }) => contract === prints && id === SHARED_PRINT),
  },
  {
    name: 'nft.getNFTMetadata',
    path: ({ cats }) => `nft/${cats}/1?media_items=true`,
    async ask({ EvmApi, chain }, { cats }) {
      const answer = await EvmApi.nft.getNFTMetadata({ address: cats, chain, tokenId: '1', mediaItems: true });
      const rows = answer === null ? [] : [answer.result];
      const names = rows.map(({ metadata }) => line(Object(metadata).name));
      return { json: answer?.toJSON(), read: [...members(rows, ...OWNED), ...names] };
    },
    truth: ({ cats }, ledger) => [...ownersOf(ledger, cats, isFirstCat), 'gallery cat #1'],
  },
  {
    name: 'nft.getNFTCollectionStats',
    path: ({ prints }) => `nft/${prints}/stats`,
    async ask({ EvmApi, chain }, { prints }) {
      const answer = await EvmApi.nft.getNFTCollectionStats({ address: prints, chain });
      const { owners, transfers } = answer.result;
      return { json: answer.toJSON(), read: [line(owners.current, transfers.total)] };
    },
    truth: ({ prints }, ledger) => {
      const ids = ledger.idsOf(prints);
      const owners = new Set(ids.flatMap((id) => [...ledger.holdersOf(prints, id).keys()]));
      return [line(owners.size, ledger.moves.filter(({ contract }) => contract === prints).length)];
    },
  },
];

export const SDK_CALLS: readonly SdkCall[] = [...TOKEN_CALLS, ...NFT_CALLS];
