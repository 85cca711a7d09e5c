import { createRequire } from 'node:module';

/** The official SDK, `moralis`. */
export type Moralis = typeof import('moralis')['default'];

/** What the SDK's parser makes of a webhook. */
export interface ParsedWebhook {
  readonly logs: readonly unknown[];
  readonly txs: readonly unknown[];
  toJSON(): unknown;
}

export interface OfficialSdk {
  readonly Moralis: Moralis;
  /** @throws {Error} for a body that a receiver with the SDK can't read */
  parseWebhook(body: unknown): ParsedWebhook;
  /** Names of the EVM operations that the SDK has, in its own spelling: `GetNFTTrades`. */
  readonly evmOperations: readonly string[];
}

export interface OfficialSdkOptions {
  readonly apiKey: string;
  /** Of the API: `http://127.0.0.1:8080`. Absent: for what makes no request. */
  readonly address?: string;
  readonly streamsSecret?: string;
}

interface StreamsUtils {
  readonly EvmStreamResult: { create(body: unknown): ParsedWebhook };
}

interface Outgoing {
  url?: string;
  baseURL?: string;
}

interface Axios {
  readonly interceptors: { readonly request: { use(change: (request: Outgoing) => Outgoing): void } };
}

/** Hosts for which the SDK has no setting: requests are sent to ours on their way. */
const FIXED_HOSTS = [
  'https://api.moralis-streams.com',
  'https://aptos-mainnet.aws-prod-api-1.moralis.io',
  'https://aptos-testnet.aws-prod-api-1.moralis.io',
];

// The SDK's ES modules do not load under plain Node; its documentation requires it too.
const requireHere = createRequire(import.meta.url);

/** The SDK with settings of its own: it keeps them for a whole process, so each call loads its modules anew. */
export async function startOfficialSdk(options: OfficialSdkOptions): Promise<OfficialSdk> {
  const { address, ...settings } = options;
  // Found here, not at the top: what else the testkit holds works without development dependencies.
  const requireOfSdk = createRequire(requireHere.resolve('moralis'));
  const requireOfCore = createRequire(requireOfSdk.resolve('@moralisweb3/common-core'));
  forgetModules();
  const { default: Moralis }: { default: Moralis } = requireHere('moralis');
  const { EvmStreamResult }: StreamsUtils = requireOfSdk('@moralisweb3/common-streams-utils');
  if (address !== undefined) redirect(requireOfCore('axios'), address);
  await Moralis.start({ ...settings, ...(address !== undefined && { evmApiBaseUrl: `${address}/api/v2.2` }) });
  const evmUtils: object = requireOfSdk('@moralisweb3/common-evm-utils');
  return {
    Moralis,
    parseWebhook: (body) => EvmStreamResult.create(body),
    evmOperations: Object.keys(evmUtils).flatMap((key) => /^(\w+)Operation$/.exec(key)?.[1] ?? []),
  };
}

function redirect(axios: Axios, address: string): void {
  axios.interceptors.request.use((request) => {
    for (const host of FIXED_HOSTS) {
      if (request.url?.startsWith(host)) request.url = address + request.url.slice(host.length);
      if (request.baseURL?.startsWith(host)) request.baseURL = address + request.baseURL.slice(host.length);
    }
    return request;
  });
}

function forgetModules(): void {
  for (const path of Object.keys(requireHere.cache))
    if (/[\\/]node_modules[\\/](?:moralis|@moralisweb3|axios)[\\/]/.test(path)) delete requireHere.cache[path];
}
