/** Every method of the official SDK that is served, with parameters that it accepts. */
import { UNSERVED_OPERATIONS } from '@chainstead/http';
import type { OfficialSdk } from '@chainstead/testkit';
import { EVENT } from '../activity/activity-operations.ts';
import type { HoldingsScene } from '../assets/holdings-scene.ts';

export interface SdkRequest {
  /** Such as `EvmApi`, `nft`, `getNFTMetadata`. */
  readonly path: readonly string[];
  readonly parameters: object;
  /** Second argument of operations that post one. */
  readonly body?: object;
}

/** What is on the stage. */
export interface KnownToPage {
  /** Hexadecimal. */
  readonly chain: string;
  readonly scene: HoldingsScene;
  readonly transactionHash: string;
}

export const ERC20_NAME = {
  type: 'function',
  name: 'name',
  stateMutability: 'view',
  inputs: [],
  outputs: [{ name: '', type: 'string' }],
};
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Requests of the data API: each operation of the SDK except those with status 501. */
export function evmRequests({ Moralis, evmOperations }: OfficialSdk, known: KnownToPage): SdkRequest[] {
  const unserved = new Set(UNSERVED_OPERATIONS.map(({ name }) => name.toLowerCase()));
  return [...evmOperations].flatMap(([name, parameters]) => {
    const group = unserved.has(name.toLowerCase()) ? undefined : groupOf(Moralis.EvmApi, name);
    if (group === undefined) return [];
    const given = Object.entries(evmParameters(name, known)).filter(([parameter]) =>
      parameters.includes(parameter),
    );
    const body = BODIES[name]?.(known);
    const request = { path: ['EvmApi', group, name], parameters: Object.fromEntries(given) };
    return [body === undefined ? request : { ...request, body }];
  });
}

/** Which group of the SDK has a method. */
function groupOf(api: object, name: string): string | undefined {
  for (let level: object | null = api; level !== null; level = Object.getPrototypeOf(level))
    for (const key of Object.getOwnPropertyNames(level)) {
      const group: unknown = Reflect.get(api, key);
      if (typeof group === 'object' && group !== null && typeof Reflect.get(group, name) === 'function')
        return key;
    }
  return undefined;
}

/** Names that the SDK shares between operations mean the same in most of them. */
function evmParameters(name: string, { chain, scene, transactionHash }: KnownToPage): object {
  const { wallet, cats, prints, tokens } = scene;
  const isOfToken =
    /Token(Transfers|Stats|Owners|Allowance)$|ContractLogs|ContractEvents|runContractFunction/.test(name);
  const isOfWallet = /Wallet|Native|Internal|resolve/.test(name);
  return {
    chain,
    address: isOfWallet ? wallet : isOfToken ? tokens[0] : cats,
    tokenAddress: tokens[0],
    token0Address: tokens[0],
    token1Address: tokens[1],
    pairAddress: cats,
    exchange: 'uniswapv2',
    addresses: tokens,
    symbols: ['T0X0'],
    walletAddresses: [wallet, prints],
    tokenId: '1',
    ownerAddress: wallet,
    spenderAddress: cats,
    transactionHash,
    blockNumberOrHash: '1',
    date: '2100-01-01',
    topic: TRANSFER_TOPIC,
    topic0: TRANSFER_TOPIC,
    abi: name === 'runContractFunction' ? [ERC20_NAME] : EVENT,
    functionName: 'name',
    domain: 'vitalik.eth',
    tokens: [{ tokenAddress: cats, tokenId: '1' }],
  };
}

/** Bodies of requests, which the SDK takes apart from the parameters. */
const BODIES: Readonly<Record<string, (known: KnownToPage) => object>> = {
  reviewContracts: reportOf,
  getMultipleTokenPrices: ({ scene }) => ({ tokens: scene.tokens.map((tokenAddress) => ({ tokenAddress })) }),
};

function reportOf({ scene }: KnownToPage): object {
  const report = {
    contractAddress: scene.gallery,
    contractType: 'ERC721',
    reportType: 'spam',
    reason: 'a reason',
  };
  return { contracts: [report] };
}

const stream = (name: string, parameters: object = {}): SdkRequest => ({ path: ['Streams', name], parameters });

/** Requests of streams, in an order in which each finds its subject. @param id of a stream */
export function streamRequests(id: string, address: string): SdkRequest[] {
  return [
    stream('getAll', { limit: 10 }),
    stream('getById', { id }),
    stream('update', { id, tag: 'changed' }),
    stream('updateStatus', { id, status: 'paused' }),
    stream('addAddress', { id, address }),
    stream('getAddresses', { id, limit: 10 }),
    stream('deleteAddress', { id, address }),
    stream('getStats'),
    stream('getStatsById', { streamId: id }),
    stream('readSettings'),
    stream('setSettings', { region: 'eu-central-1' }),
    stream('getHistory', { limit: 5 }),
    stream('getLogs', { limit: 5 }),
    stream('delete', { id }),
  ];
}

/** Of Aptos coins. */
export const COIN_REQUESTS: readonly SdkRequest[] = [
  { path: ['AptosApi', 'coins', 'getLatestCoins'], parameters: { limit: 2, network: 'mainnet' } },
  {
    path: ['AptosApi', 'coins', 'getCoinsBySymbolRange'],
    parameters: { limit: 2, fromSymbol: 'A', network: 'mainnet' },
  },
];
