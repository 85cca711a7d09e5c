import type { Chain } from '@chainstead/chains';
import { type Database, hexText, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';
import { readManifestExamples } from './manifest/read-manifest-examples.ts';
import { manifests } from './registry.ts';

/**
 * Parameters of the datasets' routes that have rows here, for the API's documentation. They come from one of the first rows of each
 * table, so that a large table takes no search. Without a row, the first chain alone.
 */
export async function readExamples(database: Database, chains: readonly Chain[]): Promise<DocumentExamples> {
  const [first] = chains;
  if (first === undefined) return {};
  const sample = async <Row extends { readonly chain_id: number }>(
    table: string,
    columns: Sql,
    { where = ANY_ROW, best = ANY_ROW }: { readonly where?: Sql; readonly best?: Sql },
  ) => {
    const [row] = await database.query<Row>(
      sql`SELECT ${columns}, chain_id FROM (SELECT * FROM ${rawSql(table)} LIMIT ${rawSql(SAMPLE_ROWS)}) AS sample
       WHERE chain_id = ANY (${chains.map(({ id }) => id)}::bigint[]) AND ${where} ORDER BY (${best}) IS TRUE DESC LIMIT 1`,
    );
    const chain = chains.find(({ id }) => id === row?.chain_id);
    return row === undefined || chain === undefined ? null : { ...row, chain: chain.key };
  };
  const [sender, transfer, approval, token, holding, trade, pair, swap] = await Promise.all([
    sample<AccountRow>('account_transactions', hexAs('account'), { best: sql`roles = 1` }),
    sample<SentRow>('erc20_transfer_sides', SENT, { where: IS_ACCOUNT }),
    sample<ApprovalRow>('erc20_approvals', hexAs('owner'), {
      best: sql`value >= power(2::numeric, 255)`,
    }),
    sample<SymbolRow>('tokens', sql`symbol`, { where: HAS_SYMBOL }),
    sample<MovedRow>(
      'nft_transfers',
      sql`${hexText('to_address')} AS account, ${hexText('token_address')} AS token, token_id::text AS token_id`,
      { where: IS_RECIPIENT },
    ),
    sample<TradeRow>(
      'nft_trades',
      sql`${hexText('token_address')} AS token, token_id::text AS token_id, ${hexAs('seller')}`,
      { best: HAS_SALE_PRICE },
    ),
    sample<PairRow>('pools', PAIR, { where: IS_PAIR, best: sql`fee IS NULL AND tick_spacing IS NULL` }),
    sample<{ readonly wallet: string; readonly chain_id: number }>('swaps', hexAs('wallet'), {}),
  ]);
  const ofToken = trade !== null && { address: trade.token, token_id: trade.token_id, chain: trade.chain };
  const ofCollection = trade !== null && { address: trade.token, chain: trade.chain };
  return {
    '*': { chain: first.key, chainId: `0x${first.id.toString(16)}`, limit: PAGE_SIZE },
    ...walletTransactionsExamples(sender ?? transfer),
    ...(transfer !== null && {
      ...transactionExamples(transfer),
      ...examplesOfWallet(transfer),
      ...examplesOfErc20(transfer),
    }),
    ...((approval ?? transfer) !== null && {
      getWalletApprovals: {
        address: approval?.owner ?? transfer?.account ?? '',
        chain: approval?.chain ?? transfer?.chain ?? first.key,
      },
    }),
    getTokenPrice: { address: NATIVE, chain: first.key },
    searchTokens: { query: token?.symbol ?? 'USDC', chains: token?.chain ?? first.key },
    getTokenMetadataBySymbol: { symbols: token?.symbol ?? 'USDC', chain: token?.chain ?? first.key },
    ...(holding !== null && {
      getWalletNFTCollections: { address: holding.account, chain: holding.chain },
      getWalletNFTs: { address: holding.account, chain: holding.chain },
      getWalletNFTTransfers: { address: holding.account, chain: holding.chain },
      getNFTContractTransfers: { address: holding.token, chain: holding.chain },
      getNFTTransfers: { address: holding.token, token_id: holding.token_id, chain: holding.chain },
      ...ownersExamples(holding),
    }),
    ...(trade !== null && { getNFTTradesByWallet: { address: trade.seller, chain: trade.chain } }),
    ...(ofToken && {
      getNFTTradesByToken: ofToken,
      getNFTSalePrices: { ...ofToken, days: DAYS_MAX },
      reSyncMetadata: ofToken,
      getNFTMetadata: ofToken,
      getNFTFloorPriceByToken: ofToken,
    }),
    ...(ofCollection && examplesOfCollection(ofCollection)),
    ...(pair !== null && examplesOfPair(pair)),
    ...((swap ?? transfer) !== null && {
      ...examplesOfTrader({
        address: swap?.wallet ?? transfer?.account ?? '',
        chain: swap?.chain ?? transfer?.chain ?? first.key,
      }),
    }),
    getOwnContractEvents: (await readContractExample(database, chains)) ?? UNKNOWN_CONTRACT,
    ...(await readManifestExamples(database, chains, manifests, transfer)),
  };
}

const UNKNOWN_CONTRACT = { name: 'vault', event: 'deposit' };

/** The first event of a contract that the operator added. Null: there is none. */
async function readContractExample(database: Database, chains: readonly Chain[]) {
  const [row] = await database.query<{ name: string; event: string; chain_id: number }>(
    sql`SELECT name, events -> 0 ->> 'event' AS event, chain_id FROM contract_definitions
     WHERE chain_id = ANY (${chains.map(({ id }) => id)}::bigint[]) ORDER BY name, chain_id LIMIT 1`,
  );
  const chain = chains.find(({ id }) => id === row?.chain_id);
  return row === undefined || chain === undefined ? null : { name: row.name, event: row.event, chain: chain.key };
}

function examplesOfWallet(transfer: { readonly account: string; readonly chain: string }): DocumentExamples {
  return {
    getWalletTokenTransfers: { address: transfer.account, chain: transfer.chain },
    getWalletHistory: { address: transfer.account, chain: transfer.chain },
    getWalletInsight: { address: transfer.account, chains: transfer.chain },
    getWalletStats: { address: transfer.account, chain: transfer.chain },
    getWalletActiveChains: { address: transfer.account, chains: transfer.chain },
    getWalletTokenBalances: { address: transfer.account, chain: transfer.chain },
    getWalletTokenBalancesPrice: { address: transfer.account, chain: transfer.chain },
    getWalletNetWorth: { address: transfer.account, chains: transfer.chain },
    getNativeBalance: { address: transfer.account, chain: transfer.chain },
    getNativeBalancesForAddresses: { wallet_addresses: transfer.account, chain: transfer.chain },
  };
}

function examplesOfErc20(transfer: {
  readonly account: string;
  readonly token: string;
  readonly chain: string;
}): DocumentExamples {
  return {
    runContractFunction: { address: transfer.token, chain: transfer.chain },
    getTokenAllowance: {
      address: transfer.token,
      owner_address: transfer.account,
      spender_address: transfer.account,
      chain: transfer.chain,
    },
    getTokenMetadata: { addresses: transfer.token, chain: transfer.chain },
    getContractLogs: { address: transfer.token, chain: transfer.chain },
    getContractEvents: { address: transfer.token, chain: transfer.chain },
    getTokenTransfers: { address: transfer.token, chain: transfer.chain },
    getTokenStats: { address: transfer.token, chain: transfer.chain },
    getTokenOwners: { token_address: transfer.token, chain: transfer.chain },
    getTokenHolders: { tokenAddress: transfer.token, chain: transfer.chain },
    getHistoricalTokenHolders: { tokenAddress: transfer.token, chain: transfer.chain, ...HISTORY },
  };
}

function examplesOfTrader(wallet: { readonly address: string; readonly chain: string }): DocumentExamples {
  return {
    getSwapsByWalletAddress: wallet,
    getWalletProfitability: wallet,
    getWalletProfitabilitySummary: wallet,
  };
}

function examplesOfPair({
  pool,
  token0,
  token1,
  factory,
  chain,
}: PairRow & { readonly chain: string }): DocumentExamples {
  return {
    getSwapsByPairAddress: { address: pool, chain },
    getPairCandlesticks: { address: pool, chain, fromDate: HISTORY.fromDate, toDate: HISTORY.toDate },
    getSwapsByTokenAddress: { address: token0, chain },
    getPairStats: { address: pool, chain },
    getTokenPairs: { token_address: token0, chain },
    getAggregatedTokenPairStats: { token_address: token0, chain },
    getTopProfitableWalletPerToken: { address: token0, chain },
    getTokenAnalytics: { tokenAddress: token0, chain },
    getPairReserves: { pair_address: pool, chain },
    getPairAddress: { token0_address: token0, token1_address: token1, exchange: factory, chain },
    getPairPrice: { token0_address: token0, token1_address: token1, chain },
  };
}

function examplesOfCollection(ofCollection: { readonly address: string; readonly chain: string }): DocumentExamples {
  return {
    getNFTTrades: { ...ofCollection, marketplace: 'all' },
    getNFTContractSalePrices: { ...ofCollection, days: DAYS_MAX },
    getNFTContractMetadata: ofCollection,
    getNFTFloorPriceByContract: ofCollection,
    getNFTHistoricalFloorPriceByContract: ofCollection,
    syncNFTContract: ofCollection,
    resyncNFTRarity: ofCollection,
    getNFTTraitsByCollection: ofCollection,
    getNFTTraitsByCollectionPaginate: ofCollection,
    getNFTByContractTraits: ofCollection,
  };
}

/** Who holds the collection of a transfer. */
function ownersExamples({ token, token_id, chain }: MovedRow & { readonly chain: string }): DocumentExamples {
  const collection = { address: token, chain };
  return {
    getContractNFTs: collection,
    getNFTOwners: collection,
    getNFTTokenIdOwners: { ...collection, token_id },
    getUniqueOwnersByCollection: collection,
    getNFTCollectionStats: collection,
  };
}

/** An account with transactions, or with transfers if transactions are not stored. */
function walletTransactionsExamples(of: { readonly account: string; readonly chain: string } | null): DocumentExamples {
  if (of === null) return {};
  const wallet = { address: of.account, chain: of.chain };
  return { getWalletTransactions: wallet, getWalletTransactionsVerbose: wallet };
}

/** A transfer's transaction and block. */
function transactionExamples({ hash, block, chain, chain_id }: SentRow & { readonly chain: string }): DocumentExamples {
  return {
    getTransaction: { transaction_hash: hash, chain },
    getTransactionVerbose: { transaction_hash: hash, chain },
    getInternalTransactions: { transaction_hash: hash, chain },
    getBlock: { block_number_or_hash: String(block), chain },
    getBlockStats: { block_number_or_hash: String(block), chain },
    GetStreamBlockDataByNumber: { blockNumber: block, chainId: `0x${chain_id.toString(16)}` },
  };
}

/** Returns a `bytea` column as API text under its name. */
function hexAs(column: string): Sql {
  return sql`${hexText(column)} AS ${rawSql(column)}`;
}

/** Months of all transfers that there can be. */
const HISTORY = { fromDate: '2020-01-01', toDate: '2030-01-01', timeFrame: '1m' };

const SENT = sql`${hexAs('account')}, ${hexAs('token')}, ${hexText('transaction_hash')} AS hash, block_number AS block`;
const ANY_ROW = sql`true`;
const SAMPLE_ROWS = 1_000;
/** Enough to see what rows look like. */
const PAGE_SIZE = 10;
/** The longest window: old sales are shown as well. */
const DAYS_MAX = 365;
/** Mints come from the zero address, whose list says little. */
const IS_ACCOUNT = sql`account <> decode(repeat('00', 20), 'hex')`;
const HAS_SYMBOL = sql`symbol IS NOT NULL AND standard = 'erc20' AND strpos(symbol, ',') = 0`;
const IS_RECIPIENT = sql`to_address <> decode(repeat('00', 20), 'hex')`;

const PAIR = joinSql(['pool', 'token0', 'token1', 'factory'].map(hexAs));
const IS_PAIR = sql`status = 'proven' AND is_counted AND token0 IS NOT NULL AND token1 IS NOT NULL`;

/** One token for ether, as sale prices need it. Null arrays mark it as one. */
const HAS_SALE_PRICE = sql`payment_token IS NULL AND price > 0 AND token_ids IS NULL AND collections = 1`;

/** The native token. */
const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';

interface TransferRow {
  readonly chain_id: number;
  readonly account: string;
  readonly token: string;
}

interface AccountRow {
  readonly chain_id: number;
  readonly account: string;
}

interface SentRow extends TransferRow {
  readonly hash: string;
  readonly block: number;
}

interface ApprovalRow {
  readonly chain_id: number;
  readonly owner: string;
}

interface MovedRow extends TransferRow {
  readonly token_id: string;
}

interface SymbolRow {
  readonly chain_id: number;
  readonly symbol: string;
}

interface PairRow {
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
  readonly factory: string;
  readonly chain_id: number;
}

interface TradeRow {
  readonly chain_id: number;
  readonly token: string;
  readonly token_id: string;
  readonly seller: string;
}
