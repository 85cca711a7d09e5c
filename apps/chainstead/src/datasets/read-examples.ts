import type { Chain } from '@chainstead/chains';
import { type Database, hexText, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';

/** From first rows, so that a large table takes no search. */
export async function readExamples(database: Database, chains: readonly Chain[]): Promise<DocumentExamples> {
  const [first] = chains;
  if (first === undefined) return {};
  const sample = createSampler(database, chains);
  const token = hexText('token_address');
  const tokenId = sql`token_id::text`;
  const [sender, transfer, approval, named, holding, trade, pair, swap, move] = await Promise.all([
    sample('account_transactions', { account: hexText('account') }, { best: sql`roles = 1` }),
    sample(
      'erc20_transfer_sides',
      {
        ...{ account: hexText('account'), token: hexText('token') },
        ...{ hash: hexText('transaction_hash'), block: sql`block_number::text` },
      },
      { where: isNotZero('account') },
    ),
    sample('erc20_approvals', { owner: hexText('owner') }, { best: sql`value >= power(2::numeric, 255)` }),
    sample('tokens', { symbol: sql`symbol` }, { where: HAS_SYMBOL }),
    sample(
      'nft_transfers',
      { account: hexText('to_address'), token, tokenId },
      { where: isNotZero('to_address') },
    ),
    sample('nft_trades', { token, tokenId, seller: hexText('seller') }, { best: HAS_SALE_PRICE }),
    sample('pools', PAIR, { where: IS_PAIR, best: sql`fee IS NULL AND tick_spacing IS NULL` }),
    sample('swaps', { wallet: hexText('wallet') }, {}),
    sample('erc4626_vaults', { account: hexText('account') }, {}),
  ]);
  const symbol = named?.symbol ?? 'USDC';
  const account = sender ?? transfer;
  const approver = approval === null ? transfer : { account: approval.owner, chain: approval.chain };
  const depositor = move ?? transfer;
  const trader = swap === null ? transfer : { account: swap.wallet, chain: swap.chain };
  return {
    '*': { chain: first.key, chainId: `0x${first.id.toString(16)}`, limit: PAGE_SIZE },
    ...(account !== null && sharedBy(TRANSACTIONS_OF_WALLET, walletOf(account))),
    ...(transfer !== null && { ...examplesOfTransaction(transfer), ...examplesOfTransfer(transfer) }),
    ...(approver !== null && { getWalletApprovals: walletOf(approver) }),
    getTokenPrice: { address: NATIVE, chain: first.key },
    searchTokens: { query: symbol, chains: named?.chain ?? first.key },
    getTokenMetadataBySymbol: { symbols: symbol, chain: named?.chain ?? first.key },
    ...(holding !== null && examplesOfHolding(holding)),
    ...(trade !== null && examplesOfTrade(trade)),
    ...(pair !== null && examplesOfPair(pair)),
    ...(trader !== null && sharedBy(PROFITS_OF_WALLET, walletOf(trader))),
    getOwnContractEvents: (await readContractExample(database, chains)) ?? UNKNOWN_CONTRACT,
    ...(depositor !== null && { getWalletVaults: walletOf(depositor) }),
  };
}

const UNKNOWN_CONTRACT = { name: 'vault', event: 'deposit' };

type Sampled<Column extends string> = Readonly<Record<Column | 'chain', string>> & { readonly chainId: number };

/** Prefers a row for which `best` holds. */
function createSampler(database: Database, chains: readonly Chain[]) {
  return async <Column extends string>(
    table: string,
    columns: Readonly<Record<Column, Sql>>,
    { where = ANY_ROW, best = ANY_ROW }: { readonly where?: Sql; readonly best?: Sql },
  ): Promise<Sampled<Column> | null> => {
    const selected = Object.entries<Sql>(columns).map(([name, value]) => sql`${value} AS ${rawSql(`"${name}"`)}`);
    const [row] = await database.query<Record<Column, string> & { readonly chainId: number }>(
      sql`SELECT ${joinSql(selected)}, chain_id FROM (SELECT * FROM ${rawSql(table)} LIMIT ${rawSql(SAMPLE_ROWS)}) AS sample
       WHERE chain_id = ANY (${chains.map(({ id }) => id)}::bigint[]) AND ${where} ORDER BY (${best}) IS TRUE DESC LIMIT 1`,
    );
    const chain = chains.find(({ id }) => id === row?.chainId);
    return row === undefined || chain === undefined ? null : { ...row, chain: chain.key };
  };
}

async function readContractExample(database: Database, chains: readonly Chain[]) {
  const [row] = await database.query<{ name: string; event: string; chainId: number }>(
    sql`SELECT name, events -> 0 ->> 'event' AS event, chain_id FROM contract_definitions
     WHERE chain_id = ANY (${chains.map(({ id }) => id)}::bigint[]) ORDER BY name, chain_id LIMIT 1`,
  );
  const chain = chains.find(({ id }) => id === row?.chainId);
  return row === undefined || chain === undefined ? null : { name: row.name, event: row.event, chain: chain.key };
}

function sharedBy(operations: readonly string[], example: DocumentExamples[string]): DocumentExamples {
  return Object.fromEntries(operations.map((operation) => [operation, example]));
}

function walletOf({ account, chain }: { readonly account: string; readonly chain: string }) {
  return { address: account, chain };
}

const TRANSACTIONS_OF_WALLET = ['getWalletTransactions', 'getWalletTransactionsVerbose'];

const PROFITS_OF_WALLET = ['getSwapsByWalletAddress', 'getWalletProfitability', 'getWalletProfitabilitySummary'];

const TRANSFERS_OF_WALLET = [
  ...['getWalletTokenTransfers', 'getWalletHistory', 'getWalletStats', 'getWalletTokenBalances'],
  ...['getWalletTokenBalancesPrice', 'getNativeBalance'],
];

const TOKEN_OF_TRANSFER = [
  'runContractFunction',
  'getContractLogs',
  'getContractEvents',
  'getTokenTransfers',
  'getTokenStats',
];

function examplesOfTransfer({ account, token, chain }: Sampled<'account' | 'token'>): DocumentExamples {
  const onChains = { address: account, chains: chain };
  return {
    ...sharedBy(TRANSFERS_OF_WALLET, { address: account, chain }),
    ...sharedBy(['getWalletInsight', 'getWalletActiveChains', 'getWalletNetWorth'], onChains),
    getNativeBalancesForAddresses: { wallet_addresses: account, chain },
    ...sharedBy(TOKEN_OF_TRANSFER, { address: token, chain }),
    getTokenAllowance: { address: token, owner_address: account, spender_address: account, chain },
    getTokenMetadata: { addresses: token, chain },
    getTokenOwners: { token_address: token, chain },
    getTokenHolders: { tokenAddress: token, chain },
    getHistoricalTokenHolders: { tokenAddress: token, chain, ...HISTORY },
  };
}

function examplesOfTransaction({ hash, block, chain, chainId }: Sampled<'hash' | 'block'>): DocumentExamples {
  const transaction = { transaction_hash: hash, chain };
  return {
    ...sharedBy(['getTransaction', 'getTransactionVerbose', 'getInternalTransactions'], transaction),
    ...sharedBy(['getBlock', 'getBlockStats'], { block_number_or_hash: block, chain }),
    GetStreamBlockDataByNumber: { blockNumber: Number(block), chainId: `0x${chainId.toString(16)}` },
  };
}

const OWNERS_OF_COLLECTION = [
  ...['getContractNFTs', 'getNFTOwners', 'getUniqueOwnersByCollection', 'getNFTCollectionStats'],
  'getNFTContractTransfers',
];

function examplesOfHolding({ account, token, tokenId, chain }: Sampled<'account' | 'token' | 'tokenId'>) {
  const ofWallet = { address: account, chain };
  const ofToken = { address: token, token_id: tokenId, chain };
  return {
    ...sharedBy(['getWalletNFTCollections', 'getWalletNFTs', 'getWalletNFTTransfers'], ofWallet),
    ...sharedBy(OWNERS_OF_COLLECTION, { address: token, chain }),
    ...sharedBy(['getNFTTransfers', 'getNFTTokenIdOwners'], ofToken),
  };
}

const TRADED_TOKEN = ['getNFTTradesByToken', 'reSyncMetadata', 'getNFTMetadata', 'getNFTFloorPriceByToken'];

const TRADED_COLLECTION = [
  ...['getNFTContractMetadata', 'getNFTFloorPriceByContract', 'getNFTHistoricalFloorPriceByContract'],
  ...['syncNFTContract', 'resyncNFTRarity', 'getNFTTraitsByCollection', 'getNFTTraitsByCollectionPaginate'],
  'getNFTByContractTraits',
];

function examplesOfTrade({
  token,
  tokenId,
  seller,
  chain,
}: Sampled<'token' | 'tokenId' | 'seller'>): DocumentExamples {
  const ofToken = { address: token, token_id: tokenId, chain };
  const ofCollection = { address: token, chain };
  return {
    getNFTTradesByWallet: { address: seller, chain },
    ...sharedBy(TRADED_TOKEN, ofToken),
    getNFTSalePrices: { ...ofToken, days: DAYS_MAX },
    ...sharedBy(TRADED_COLLECTION, ofCollection),
    getNFTTrades: { ...ofCollection, marketplace: 'all' },
    getNFTContractSalePrices: { ...ofCollection, days: DAYS_MAX },
  };
}

function examplesOfPair({ pool, token0, token1, factory, chain }: Sampled<keyof typeof PAIR>): DocumentExamples {
  const ofTokens = { token0_address: token0, token1_address: token1, chain };
  return {
    ...sharedBy(['getSwapsByPairAddress', 'getPairStats'], { address: pool, chain }),
    getPairCandlesticks: { address: pool, chain, fromDate: HISTORY.fromDate, toDate: HISTORY.toDate },
    ...sharedBy(['getSwapsByTokenAddress', 'getTopProfitableWalletPerToken'], { address: token0, chain }),
    ...sharedBy(['getTokenPairs', 'getAggregatedTokenPairStats'], { token_address: token0, chain }),
    getTokenAnalytics: { tokenAddress: token0, chain },
    getPairReserves: { pair_address: pool, chain },
    getPairAddress: { ...ofTokens, exchange: factory },
    getPairPrice: ofTokens,
  };
}

const HISTORY = { fromDate: '2020-01-01', toDate: '2030-01-01', timeFrame: '1m' };

const ANY_ROW = sql`true`;
const SAMPLE_ROWS = 1_000;
const PAGE_SIZE = 10;
const DAYS_MAX = 365;

function isNotZero(column: string): Sql {
  return sql`${rawSql(column)} <> decode(repeat('00', 20), 'hex')`;
}

const HAS_SYMBOL = sql`symbol IS NOT NULL AND standard = 'erc20' AND strpos(symbol, ',') = 0`;

const PAIR = {
  pool: hexText('pool'),
  token0: hexText('token0'),
  token1: hexText('token1'),
  factory: hexText('factory'),
};
const IS_PAIR = sql`status = 'proven' AND is_counted AND token0 IS NOT NULL AND token1 IS NOT NULL`;

/** Sales of one token for ether. Null arrays mark a single token. */
const HAS_SALE_PRICE = sql`payment_token IS NULL AND price > 0 AND token_ids IS NULL AND collections = 1`;

const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
