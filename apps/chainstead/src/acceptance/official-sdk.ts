/** The official SDK against this program: streams have no setting for their address, so requests are sent there on their way. */
import { createRequire } from 'node:module';

export type Moralis = typeof import('moralis')['default'];

/** What the SDK's parser makes of a webhook; it throws for what it can't read. */
export interface ParsedWebhook {
  readonly logs: readonly unknown[];
  readonly txs: readonly unknown[];
  toJSON(): unknown;
}

export interface OfficialSdk {
  readonly Moralis: Moralis;
  parseWebhook(body: unknown): ParsedWebhook;
}

interface StreamsUtils {
  readonly EvmStreamResult: { create(body: unknown): ParsedWebhook };
}

interface RequestInterceptors {
  readonly interceptors: { readonly request: { use(change: (request: { url?: string }) => object): void } };
}

const STREAMS_HOST = 'https://api.moralis-streams.com';

// The SDK's ES modules do not load under plain Node; its documentation requires it too.
const requireHere = createRequire(import.meta.url);
const requireOfSdk = createRequire(requireHere.resolve('moralis'));

/** Once in a process: the SDK keeps its settings for all of it. */
export async function startOfficialSdk(options: {
  readonly address: string;
  readonly apiKey: string;
  readonly streamsSecret: string;
}): Promise<OfficialSdk> {
  const { address, apiKey, streamsSecret } = options;
  const { default: Moralis }: { default: Moralis } = requireHere('moralis');
  const { EvmStreamResult }: StreamsUtils = requireOfSdk('@moralisweb3/common-streams-utils');
  const requireOfCore = createRequire(requireOfSdk.resolve('@moralisweb3/common-core'));
  const axios: RequestInterceptors = requireOfCore('axios');
  axios.interceptors.request.use((request) => {
    if (request.url?.startsWith(STREAMS_HOST)) request.url = address + request.url.slice(STREAMS_HOST.length);
    return request;
  });
  await Moralis.start({ apiKey, streamsSecret, evmApiBaseUrl: `${address}/api/v2.2` });
  return { Moralis, parseWebhook: (body) => EvmStreamResult.create(body) };
}
