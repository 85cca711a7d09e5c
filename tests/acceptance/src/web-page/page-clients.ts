/** The script of a web page: clients of the API as an application has them, for a test to call by name. */
import { createPublicClient, http, webSocket } from 'viem';

/** What the SDK returns. */
interface Answered {
  readonly toJSON?: () => unknown;
  readonly raw?: unknown;
}

/** Starts the SDK that the page has loaded. */
async function start(apiKey: string, evmApiBaseUrl: string): Promise<void> {
  await methodAt(['start'])({ apiKey, evmApiBaseUrl });
}

/** @param path of a method, such as `EvmApi`, `nft`, `getNFTMetadata` */
function methodAt(path: readonly string[]): (...given: readonly unknown[]) => Promise<Answered | null> {
  let owner: unknown;
  let value: unknown = Reflect.get(globalThis, 'Moralis');
  for (const step of path) {
    owner = value;
    value = Reflect.get(Object(value), step);
  }
  if (typeof value !== 'function') throw new Error(`The SDK has no ${path.join('.')}`);
  const method = value;
  return (...given) => method.apply(owner, given);
}

async function sdk(path: readonly string[], parameters: object, body: object | null): Promise<unknown> {
  const answered = await methodAt(path)(parameters, body ?? undefined);
  return answered?.toJSON?.() ?? answered?.raw ?? null;
}

/** Reads a response with its header, which a page sees only where it is exposed. */
async function read(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  return {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    body: await response.json(),
  };
}

async function blockNumber(kind: 'http' | 'socket', url: string): Promise<unknown> {
  const transport =
    kind === 'http' ? http(url, { retryCount: 0 }) : webSocket(url, { retryCount: 0, reconnect: false });
  return Number(await createPublicClient({ transport }).getBlockNumber());
}

/** Returns the result as JSON, which is how it leaves the page, or the text of the error. */
async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return { result: JSON.parse(JSON.stringify(await work)) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

Object.assign(globalThis, {
  clients: {
    start,
    sdk: (path: readonly string[], parameters: object, body: object | null) =>
      outcome(sdk(path, parameters, body)),
    blockNumber: (kind: 'http' | 'socket', url: string) => outcome(blockNumber(kind, url)),
    read: (url: string, init: RequestInit) => outcome(read(url, init)),
  },
});
